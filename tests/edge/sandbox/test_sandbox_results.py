"""What a run says about ordinary tests, the same from each sandbox."""

import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_runs import SERVICE, boxed, code_of, docker, local, podman, run, run_with_pytest, statuses, suite_of

from moot.core.ports import Sandbox
from moot.core.types import Code, SourceFile, Tests
from moot.edge.sandbox import find_sandbox, sandbox_status

Make = Callable[..., Sandbox]
each_sandbox = pytest.mark.parametrize("make", [boxed, local, docker, podman])


@each_sandbox
def test_tests_that_hold_pass(make: Make) -> None:
    suite = run("import service\ndef test_double(): assert service.double(2) == 4\n", make())
    assert (suite.passed, suite.problem, statuses(suite)) == (True, "", ["passed"])
    assert suite.outcomes[0].name == "test_service.py::test_double"
    assert suite.seconds > 0


@each_sandbox
def test_a_failed_assertion_is_a_failure_with_its_reason(make: Make) -> None:
    suite = run("import service\ndef test_double(): assert service.double(2) == 5\ndef test_other(): pass\n", make())
    assert (suite.passed, suite.problem, statuses(suite)) == (False, "", ["failed", "passed"])
    assert "assert 4 == 5" in suite.outcomes[0].detail


@each_sandbox
def test_what_breaks_before_the_test_is_an_error(make: Make) -> None:
    test = "import pytest\n@pytest.fixture\ndef broken(): raise ValueError('no')\ndef test_a(broken): pass\n"
    suite = run_with_pytest(test, make())
    assert (suite.passed, statuses(suite)) == (False, ["error"])
    assert "ValueError" in suite.outcomes[0].detail


@each_sandbox
def test_no_test_is_a_problem(make: Make) -> None:
    suite = run("import service\n", make())
    assert (suite.passed, suite.problem, suite.outcomes) == (False, "no test was found", ())


@each_sandbox
def test_only_skipped_tests_are_a_problem(make: Make) -> None:
    suite = run_with_pytest("import pytest\n@pytest.mark.skip(reason='later')\ndef test_a(): pass\n", make())
    assert (suite.passed, suite.problem, statuses(suite)) == (False, "every test was skipped", ["skipped"])


@each_sandbox
def test_a_skip_or_an_expected_failure_beside_a_pass_is_fine(make: Make) -> None:
    test = """
import pytest
def test_holds(): pass
def test_not_here(): pytest.skip("not here")
@pytest.mark.xfail
def test_known(): assert False
"""
    suite = run_with_pytest(test, make())
    assert (suite.passed, statuses(suite)) == (True, ["passed", "skipped", "skipped"])


@each_sandbox
def test_an_import_that_fails_is_an_error_beside_the_tests_that_ran(make: Make) -> None:
    tests = Tests(files=(("test_a.py", "import nowhere\n"), ("test_b.py", "def test_b(): pass\n")))
    suite = asyncio.run(make().run(code_of(service=SERVICE), tests))
    assert (suite.passed, suite.problem, sorted(statuses(suite))) == (False, "", ["error", "passed"])
    assert "No module named 'nowhere'" in suite.outcomes[0].detail


@each_sandbox
def test_code_that_does_not_compile_is_an_error(make: Make) -> None:
    suite = run("import service\ndef test_a(): pass\n", make(), service="def broken(:\n")
    assert (suite.passed, statuses(suite)) == (False, ["error"])
    assert "SyntaxError" in suite.outcomes[0].detail


@each_sandbox
def test_an_endless_test_times_out(make: Make) -> None:
    suite = run("def test_quick(): pass\ndef test_endless():\n    while True: pass\n", make(wall=8))
    assert (suite.passed, statuses(suite)) == (False, ["passed", "timeout"])
    assert suite.problem == "the tests took longer than the limit of 8 s"


@each_sandbox
def test_processor_time_is_limited(make: Make) -> None:
    suite = run("def test_endless():\n    while True: pass\n", make(cpu=2))
    assert (suite.passed, suite.problem) == (False, "the tests used more processor time than the limit of 2 s")


@each_sandbox
def test_a_flood_of_output_is_cut(make: Make) -> None:
    test = """
import pytest
def test_a(capfd):
    with capfd.disabled():
        for _ in range(200): print("x" * 100_000)
    print("y" * 1_000_000)
    assert False
"""
    suite = run_with_pytest(test, make())
    assert statuses(suite) == ["failed"]
    assert len(suite.outcomes[0].detail) < 5_000


@each_sandbox
def test_unittest_cases_run(make: Make) -> None:
    test = """
import unittest, service
class Cases(unittest.TestCase):
    def test_double(self): self.assertEqual(service.double(1), 2)
"""
    assert run(test, make()).passed


@pytest.mark.parametrize(
    ("code_path", "test_path", "statement"),
    [
        ("service.py", "test_service.py", "import service"),
        ("src/service.py", "tests/test_service.py", "import service"),
        ("/home/someone/project/service.py", "tests/test_service.py", "import service"),
        ("../../project/service.py", "../tests/test_service.py", "import service"),
        ("src/package/service.py", "tests/test_service.py", "from package import service"),
        ("spaced folder/service.py", "tests/tést.py", "import service"),
    ],
)
def test_code_is_found_wherever_it_lies(code_path: str, test_path: str, statement: str) -> None:
    code = Code(files=(SourceFile(path=code_path, language="python", text=SERVICE),))
    tests = suite_of(f"{statement}\ndef test_double(): assert service.double(2) == 4\n", path=test_path)
    suite = asyncio.run(boxed().run(code, tests))
    assert suite.passed, suite


def test_a_module_in_a_package_does_not_hide_pythons_own() -> None:
    files = (("shop/__init__.py", ""), ("shop/queue.py", "LENGTH = 3\n"))
    code = Code(files=tuple(SourceFile(path=path, language="python", text=text) for path, text in files))
    test = "import queue, shop.queue\ndef test_a(): assert queue.Queue and shop.queue.LENGTH == 3\n"
    assert asyncio.run(boxed().run(code, suite_of(test))).passed


def test_two_files_at_one_place_are_a_problem() -> None:
    code = Code(files=tuple(SourceFile(path=path, language="python", text="") for path in ("a.py", "../a.py")))
    suite = asyncio.run(boxed().run(code, suite_of("def test_a(): pass\n")))
    assert suite.problem == "two files would lie at 'a.py'"


def test_a_runs_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    assert run("def test_a(): open('left.txt', 'w').write('x')\n", local()).passed
    assert run("def test_a(): open('left.txt', 'w').write('x')\n", boxed()).passed
    assert list(place.iterdir()) == []


def test_without_bubblewrap_it_refuses_and_says_what_to_install() -> None:
    # A process of its own, because the trial is made once.
    script = "from moot.edge.sandbox import find_sandbox; find_sandbox()"
    refused = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    said = refused.stderr.splitlines()[-1]
    assert said.startswith("moot.core.errors.SandboxError: tests are run only in a sandbox, and bubblewrap is missing")
    assert "apt-get install bubblewrap" in said


def test_the_status_says_how_memory_is_limited() -> None:
    assert "works; memory is" in sandbox_status()
    assert find_sandbox() == boxed()


def test_the_interpreter_is_the_one_that_runs_moot() -> None:
    suite = run(f"import pydantic, sys\ndef test_a(): assert sys.prefix == {sys.prefix!r}\n")
    assert suite.passed, suite
