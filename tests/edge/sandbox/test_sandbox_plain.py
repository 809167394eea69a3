"""Tests that need no pytest: every form is found without a word of configuration, by a runner of our own."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_runs import SERVICE, boxed, code_of, run, statuses, suite_of

from moot.core.errors import SandboxError
from moot.core.types import SuiteRun, Tests
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.layout import lay_out
from moot.edge.sandbox.python.inside import in_plain
from moot.edge.sandbox.python.pytests import needs_packages, needs_pytest
from moot.testing import one_file


def run_plain(test: str, service: str = SERVICE) -> SuiteRun:
    assert not needs_pytest(lay_out(code_of(service=service), suite_of(test)))
    return run(test, service=service)


def results(suite: SuiteRun) -> dict[str, str]:
    return {outcome.name.removeprefix("test_service.py::"): outcome.status for outcome in suite.outcomes}


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
    assert results(suite) == {
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


def test_bare_assertions_are_tests_of_their_own() -> None:
    suite = run_plain("""
from service import double
assert double(2) == 4
three = 3
assert double(three) == 7, "not seven"
assert double(1) == 2; assert double(0) == 0
for number in range(3):
    assert double(number) == 2 * number
double.nothing
assert double(5) == 10
def helper(value):
    assert value
helper(double(0))
""")
    assert suite.problem == ""
    assert results(suite) == {
        "line 3": "passed",
        "line 5": "failed",
        "line 6": "passed",
        "line 6 #2": "passed",
        "line 7": "passed",
        "line 10": "failed",
        "line 13": "failed",
    }
    assert "not seven\nassert 6 == 7" in suite.outcomes[1].detail
    assert "has no attribute 'nothing'" in suite.outcomes[5].detail


def test_bare_assertions_need_no_import() -> None:
    assert results(run_plain("assert double(2) == 4\nassert double(2) == 5\n")) == {
        "line 1": "passed",
        "line 2": "failed",
    }


CHECK = """
METADATA = {}
def check(candidate):
    assert candidate(2) == 4
    twice = candidate(3)
    assert twice == 7
"""


@pytest.mark.parametrize(
    ("service", "entry", "expected"),
    [
        (SERVICE, "", ["passed", "failed"]),
        ("def helper(n): return n\ndef double(n): return helper(n) * 2\n", "", ["passed", "failed"]),
        ("def other(n): return 0\n" + SERVICE, "double", ["passed", "failed"]),
        ("def other(n): return 0\n" + SERVICE, "", ["failed", "failed"]),
        (SERVICE, "nothing", ["failed", "failed"]),
        ("def double(n): return 7\n", "", ["failed", "passed"]),
    ],
)
def test_a_check_of_a_candidate_finds_the_function(service: str, entry: str, expected: list[str]) -> None:
    tests = suite_of(CHECK).model_copy(update={"entry": entry})
    suite = asyncio.run(boxed().run(code_of(service=service), tests))
    assert (suite.problem, statuses(suite)) == ("", expected)


def test_a_check_that_returns_is_one_test() -> None:
    suite = run_plain("def check(candidate):\n    if candidate(1) == 3: return\n    assert candidate(2) == 4\n")
    assert results(suite) == {"check": "passed"}
    called = run_plain("from service import double\ndef check(f):\n    assert f(2) == 5\ncheck(double)\n")
    assert statuses(called) == ["failed"]


def test_examples_in_documentation_are_tests() -> None:
    test = """
def told():
    '''
    >>> import service
    >>> service.double(2)
    4
    '''
def lied():
    '''
    >>> 1 + 1
    3
    '''
"""
    suite = run_plain(test)
    assert results(suite) == {"lied (doctest)": "failed", "told (doctest)": "passed"}
    assert "Got:" in suite.outcomes[0].detail
    assert sorted(statuses(run("import pytest\n" + test))) == ["failed", "passed"]


def test_classes_of_tests_run_and_what_they_print_is_told() -> None:
    suite = run_plain(
        "class TestA:\n    def test_a(self):\n        print('seen', 'x' * 100_000)\n        assert not 1\n"
    )
    assert results(suite) == {"TestA::test_a": "failed"}
    assert "--- printed ---" in suite.outcomes[0].detail and len(suite.outcomes[0].detail) < 5_000


def test_one_slow_test_does_not_cost_the_others_their_result() -> None:
    slow = """
import time, unittest
def test_loops():
    while True: pass
def test_swallows():
    try: time.sleep(1000)
    except BaseException: pass
def test_quick(): pass
class Cases(unittest.TestCase):
    def test_sleeps(self): time.sleep(1000)
    def test_quick(self): pass
"""
    for test in (slow, "import pytest\n" + slow):
        suite = run(test, boxed(test=0.5))
        told = results(suite)
        assert (suite.passed, suite.problem) == (False, "")
        assert [told.pop(name) for name in ("test_quick", "Cases::test_quick")] == ["passed", "passed"]
        assert set(told.values()) == {"timeout"} and len(told) == 3
        assert "limit of 0.5 s for one test" in suite.outcomes[0].detail


def test_time_and_memory_of_each_test_are_told() -> None:
    test = "def test_large(): assert len(b'x' * 90_000_000)\ndef test_small(): pass\n"
    for text in (test, "import pytest\n" + test):
        large, small = run(text).outcomes
        assert large.memory is not None and small.memory is not None
        assert large.memory > 90_000_000 > small.memory
        assert large.seconds is not None and 0 < large.seconds < 60


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("def test_a(): pass\n", False),
        ("import pytest\ndef test_a(): pass\n", True),
        ("def test_a(tmp_path): pass\n", True),
        ("def test_a(number=1): pass\n", False),
        ("class TestA:\n    def test_a(self): pass\n", False),
        ("class TestA:\n    def test_a(self, tmp_path): pass\n", True),
        ("class TestA:\n    def setup_method(self): pass\n    def test_a(self): pass\n", True),
        ("def setup_module(): pass\ndef test_a(): pass\n", True),
        ("import unittest\nclass TestA(unittest.TestCase):\n    def setUp(self): pass\n", False),
        ("def broken(:\n", False),
    ],
)
def test_pytest_is_started_only_where_it_is_needed(text: str, needed: bool) -> None:
    assert needs_pytest(lay_out(code_of(), suite_of(text))) is needed


@pytest.mark.parametrize(
    ("text", "needed"),
    [("import json, service\n", False), ("import json, numpy\n", True), ("from pydantic import BaseModel\n", True)],
)
def test_installed_packages_are_looked_for_only_where_they_are_used(text: str, needed: bool) -> None:
    assert needs_packages(lay_out(code_of(service=SERVICE), suite_of(text))) is needed


def test_the_folders_of_a_large_project_are_found_once() -> None:
    """One of 2,000 files and 35 MB took minutes before its tests began."""
    layout = lay_out(code_of(service=SERVICE), suite_of("def test_a(tmp_path): pass\n"))
    assert layout.front is layout.front and layout.back is layout.back
    assert needs_packages(layout), "pytest itself is one"


@pytest.mark.parametrize(("comment", "loaded"), [("", False), ("# schemathesis\n", True)])
def test_a_slow_plugin_is_loaded_only_where_a_file_names_it(comment: str, loaded: bool) -> None:
    asked = "request.config.pluginmanager.hasplugin('schema' + 'thesis')"
    assert run(f"{comment}def test_plugin(request): assert {asked} is {loaded}\n").passed


def test_without_room_for_a_folder_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(SandboxError, match="no folder to run tests in can be made: No such file"):
        asyncio.run(find_sandbox(unsafe_local=True).run(one_file("x = 1\n"), Tests(files=(("test_x.py", ""),))))


class Owner:
    def test_with(self, tmp_path: Path) -> None: ...

    def test_without(self, unused: int = 1) -> None: ...


@pytest.mark.parametrize(
    ("test", "status"),
    [
        (lambda tmp_path: None, "error"),
        (Owner().test_with, "error"),
        (Owner().test_without, "passed"),
        (lambda *given, **named: None, "passed"),
        (lambda given=1: None, "passed"),
        (lambda: 1 / 0, "failed"),
    ],
)
def test_where_pytest_is_missing_a_test_with_fixtures_never_began(test: Callable[..., None], status: str) -> None:
    assert in_plain._attempt(in_plain._wrap_call(test), frozenset())[0] == status
