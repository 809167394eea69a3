"""Where the interpreter has no pytest, a small runner of our own does."""

import asyncio
from dataclasses import replace

from sandbox_runs import SERVICE, code_of, statuses, suite_of

from moot.edge.sandbox.bubblewrap import boxed
from moot.edge.sandbox.layout import pack
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.process import Job, execute
from moot.edge.sandbox.report import judge
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.suites import plan
from moot.types import SuiteRun

LIMITS = SandboxLimits()


def run_plain(test: str, service: str = SERVICE) -> SuiteRun:
    suite = asyncio.run(plan(code_of(service=service), suite_of(test)))
    assert isinstance(suite, Suite)
    # Without site-packages there is no pytest.
    suite = replace(suite, command=(suite.command[0], "-S", *suite.command[1:]))
    ended = asyncio.run(execute(Job(boxed(suite, LIMITS), pack(suite.files), lambda _: False), LIMITS))
    return judge(suite.read(ended.report), ended, LIMITS)


def test_functions_and_cases_run() -> None:
    suite = run_plain("""
import unittest, service
def test_double(): assert service.double(2) == 4
def test_wrong(): assert service.double(2) == 5
async def test_later(): assert service.double(2) == 5
def helper(): raise ValueError
class Cases(unittest.TestCase):
    def test_double(self): self.assertEqual(service.double(2), 4)
    def test_breaks(self): service.nothing
    @unittest.skip("later")
    def test_skipped(self): pass
    @unittest.expectedFailure
    def test_holds(self): pass
    def test_parts(self):
        for number in range(2):
            with self.subTest(number=number): self.assertEqual(number, 0)
""")
    assert suite.problem == ""
    assert {outcome.name.removeprefix("test_service.py::"): outcome.status for outcome in suite.outcomes} == {
        "test_double": "passed",
        "test_wrong": "failed",
        "test_later": "failed",
        "Cases::test_double": "passed",
        "Cases::test_breaks": "error",
        "Cases::test_skipped": "skipped",
        "Cases::test_holds": "failed",
        "Cases::test_parts": "failed",
    }


def test_what_holds_passes() -> None:
    assert run_plain("import service\ndef test_double(): assert service.double(2) == 4\n").passed


def test_a_broken_file_is_an_error() -> None:
    suite = run_plain("import nowhere\n")
    assert (suite.passed, statuses(suite)) == (False, ["error"])


def test_no_test_is_a_problem() -> None:
    assert run_plain("import service\n").problem == "no test was found"


def test_a_broken_preparation_is_an_error() -> None:
    suite = run_plain("""
import unittest
class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError("no")
    def test_a(self): pass
""")
    assert (suite.passed, statuses(suite)) == (False, ["error"])


def test_cheats_do_not_pass() -> None:
    test = "import service\ndef test_double(): assert service.double(2) == 4\ndef test_other(): pass\n"
    wrong = "\ndef double(number): return 0\n"
    assert not run_plain(test, "import os\nos._exit(0)\n").passed
    assert not run_plain(test, "raise SystemExit(0)\n").passed
    assert not run_plain(test, "import unittest\nunittest.TestCase.run = lambda self, result: None" + wrong).passed
    assert not run_plain(test, "import unittest\ndef double(number): raise unittest.SkipTest('fine')\n").passed
