"""Code that wants a pass it has not earned."""

import asyncio

import pytest
from sandbox_runs import boxed, code_of, local, run, suite_of

from moot.edge.sandbox.layout import RUN
from moot.types import Code, SourceFile, Tests

TEST = "import service\ndef test_double(): assert service.double(2) == 4\ndef test_other(): pass\n"
WRONG = "def double(number):\n    return 0\n"

CHEATS = {
    "ends the process on import": "import os\nos._exit(0)\n",
    "ends the process in the test": "import os\ndef double(number): os._exit(0)\n",
    "raises SystemExit": "def double(number): raise SystemExit(0)\n",
    "kills its own process": "import os, signal\ndef double(number): os.kill(os.getpid(), signal.SIGKILL)\n",
    "interrupts the session": "def double(number): raise KeyboardInterrupt\n",
    "ends pytest": "import pytest\ndef double(number): pytest.exit('fine', returncode=0)\n",
    "prints a report": "print('test_service.py::test_double PASSED\\n1 passed in 0.01s')\n" + WRONG,
    "writes to every file descriptor": (
        "import json, os\n"
        "lines = [{'event': 'found', 'tests': ['t']}, {'event': 'done', 'test': 't', 'status': 'passed'}]\n"
        "for fd in range(3, 64):\n"
        "    for line in [*lines, {'event': 'finished'}]:\n"
        "        try: os.write(fd, b'0' * 64 + b' ' + json.dumps(line).encode() + b'\\n')\n"
        "        except OSError: pass\n"
        "os._exit(0)\n"
    ),
    "skips the test": "import pytest\ndef double(number): pytest.skip('fine')\n",
    "skips the file": "import pytest\npytest.skip('fine', allow_module_level=True)\n",
    "expects the failure": "import pytest\ndef double(number): pytest.xfail('fine')\n",
    "changes what pytest runs": "import _pytest.python as p\np.Function.runtest = lambda self: None\n" + WRONG,
    "changes the code of a runner's function": (
        "import _pytest.python as p\np.Function.runtest.__code__ = (lambda self: None).__code__\n" + WRONG
    ),
    "makes every failure a skip": (
        "import builtins, pytest\nbuiltins.AssertionError = pytest.skip.Exception\n" + WRONG
    ),
    "runs on in a fork": (
        "import os\ndef double(number):\n    if os.fork() == 0: return 4\n    os.wait(); os._exit(0)\n"
    ),
    "leaves at exit": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
}  # fmt: skip


@pytest.mark.parametrize("service", CHEATS.values(), ids=CHEATS.keys())
def test_a_cheat_does_not_pass(service: str) -> None:
    tests = Tests(files=(("test_service.py", TEST), ("test_true.py", "def test_true(): pass\n")))
    assert asyncio.run(boxed().run(code_of(service=service), tests)).passed is False


def test_a_cheat_does_not_pass_without_the_sandbox_either() -> None:
    assert run(TEST, local(), service=CHEATS["ends the process on import"]).passed is False


def test_writing_to_the_report_is_seen() -> None:
    test = """
import contextlib, os
def test_a():
    for fd in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(fd, b"hello\\n")
"""
    assert run(test).problem == "the code under test wrote to the test report"


def test_the_key_is_gone_before_the_code_runs() -> None:
    test = f"import os\ndef test_a(): assert 'spec.json' not in os.listdir('../{RUN}')\n"
    assert run(test).passed


def test_a_file_of_the_code_does_not_stand_in_for_the_runner() -> None:
    fake = "def main(*args, **options): return 0\n"
    code = code_of(service=WRONG, pytest=fake, json=fake, sitecustomize="import os\nos._exit(0)\n", hmac=fake)
    assert asyncio.run(boxed().run(code, suite_of(TEST))).passed is False


def test_the_code_cannot_replace_the_tests() -> None:
    code = Code(
        files=(
            SourceFile(path="service.py", language="python", text=WRONG),
            SourceFile(path="./test_service.py", language="python", text="def test_double(): pass\n"),
            SourceFile(
                path="conftest.py",
                language="python",
                text="def pytest_collection_modifyitems(items): items.clear()\n",
            ),
        )
    )
    suite = asyncio.run(boxed().run(code, suite_of(TEST)))
    assert [outcome.status for outcome in suite.outcomes] == ["failed", "passed"]


def test_a_conftest_that_is_given_with_the_tests_is_used() -> None:
    conftest = "import pytest\n@pytest.fixture\ndef four(): return 4\n"
    test = "import service\ndef test_double(four): assert service.double(2) == four\n"
    tests = Tests(files=(("tests/conftest.py", conftest), ("tests/test_service.py", test)))
    assert asyncio.run(boxed().run(code_of(service="double = lambda n: 2 * n\n"), tests)).passed
