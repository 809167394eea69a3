"""Code that wants a pass it has not earned."""

import asyncio

import pytest
from sandbox_runs import boxed, code_of, local, run, suite_of

from moot.core.types import Code, SourceFile, Tests
from moot.edge.sandbox.layout import RUN

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
        "import os\ndef double(number):\n    if os.fork() == 0: return 0\n    os.wait(); os._exit(0)\n"
    ),
    "leaves at exit": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "replaces a builtin": "import builtins\nbuiltins.abs = lambda value: 0\nbuiltins.all = any\n" + WRONG,
    "replaces an operator": "import operator\noperator.eq = lambda a, b: True\n" + WRONG,
    "replaces math": "import math\nmath.isclose = lambda *a, **k: True\n" + WRONG,
    "changes what compares in unittest": (
        "import unittest.case\nunittest.case.TestCase.assertEqual = lambda *a: None\n" + WRONG
    ),
    "changes this runner": (
        "import gc, types\n"
        "for f in gc.get_objects():\n"
        "    if isinstance(f, types.FunctionType) and f.__name__ in ("
        "'_attempt', 'check_given', 'insert_guards', '_classify_failure'):\n"
        "        f.__code__ = (lambda *a: ('passed', '')).__code__\n" + WRONG
    ),
    "silences every assertion": "import builtins\nsetattr(builtins, '@moot_given', lambda v: 4)\n" + WRONG,
    "becomes the expected value by a trace": (
        "import sys\ndef double(number):\n    sys._getframe(1).f_locals.clear(); return 0\n"
    ),
}  # fmt: skip
LIAR = """
class Liar({base}):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = object.__hash__
    __lt__ = __le__ = __gt__ = __ge__ = __eq__
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __truediv__(self, other): return 1.0
    __rtruediv__ = __truediv__
    def __abs__(self): return self
def double(number): return {value}
RESULT = {value}
"""
LIARS = {
    "an object": LIAR.format(base="object", value="Liar()"),
    "a number": LIAR.format(base="int", value="Liar(7)"),
    "a float": LIAR.format(base="float", value="Liar(7.5)"),
    "a text": LIAR.format(base="str", value="Liar('x')"),
    "a list": LIAR.format(base="list", value="Liar([1])"),
    "inside a list": LIAR.format(base="object", value="[Liar()]"),
    "inside a dict": LIAR.format(base="object", value="{'a': (1, Liar())}"),
    "equal to all numbers": (
        "class Liar(int):\n    def __eq__(self, other): return isinstance(other, int)\n"
        "    __hash__ = int.__hash__\ndef double(number): return Liar(9)\nRESULT = double(1)\n"
    ),
    "equal to all texts": (
        "class Liar(str):\n    def __eq__(self, other): return isinstance(other, str)\n"
        "    __hash__ = str.__hash__\ndef double(number): return Liar('9')\nRESULT = double(1)\n"
    ),
    "made without a class statement": (
        "Liar = type('Liar', (), {'__eq__': lambda s, o: True, '__hash__': None})\n"
        "def double(number): return Liar()\nRESULT = Liar()\n"
    ),
    "a partial as the comparison": (
        "import functools\nclass Liar:\n    __eq__ = functools.partial(lambda o: True)\n    __hash__ = None\n"
        "def double(number): return Liar()\nRESULT = Liar()\n"
    ),
    "unittest's ANY": "from unittest.mock import ANY\ndef double(number): return ANY\nRESULT = ANY\n",
}  # fmt: skip
WAYS = {
    "assert": "import service\ndef test_double(): assert service.double(2) == {right}\n",
    "the other way round": "import service\ndef test_double(): assert {right} == service.double(2)\n",
    "by a name": "import service\ndef test_double():\n    got = service.RESULT\n    assert got == {right}\n",
    "by an attribute": "import service\ndef test_double(): assert service.RESULT == {right}\n",
    "in a condition": (
        "import service\ndef test_double():\n    if not service.double(2) == {right}: raise ValueError\n"
    ),
    "unittest": (
        "import unittest, service\nclass Cases(unittest.TestCase):\n"
        "    def test_double(self): self.assertEqual(service.RESULT, {right})\n"
    ),
    "bare": "from service import double\nassert double(2) == {right}\n",
    "check": "def check(candidate):\n    assert candidate(2) == {right}\n",
    "pytest": "import pytest, service\ndef test_double(): assert service.double(2) == {right}\n",
    "pytest by attribute": "import pytest, service\ndef test_double(): assert service.RESULT == {right}\n",
}
RIGHT = {"a text": "'abc'", "equal to all texts": "'abc'", "a list": "[4]", "inside a list": "[4]"}


@pytest.mark.parametrize("liar", LIARS)
def test_a_value_that_agrees_with_everything_does_not_pass(liar: str) -> None:
    right = RIGHT.get(liar, "{'a': (1, 4)}" if liar == "inside a dict" else "4")
    tests = {name: text.format(right=right) for name, text in WAYS.items()}
    passed = [name for name, text in tests.items() if run(text, service=LIARS[liar]).passed]
    assert passed == []


@pytest.mark.parametrize("liar", ["an object", "a number", "a float"])
@pytest.mark.parametrize(
    "claim", ["abs(double(2) - 4.5) < 1e-6", "double(2) <= 3 and double(2) >= 9", "1 < double(2) < 2"]
)
def test_a_number_that_is_near_everything_does_not_pass(liar: str, claim: str) -> None:
    assert run(f"from service import double\ndef test_near(): assert {claim}\n", service=LIARS[liar]).passed is False


HONEST = """
import collections, dataclasses, decimal, enum, fractions, functools
@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int
@functools.total_ordering
class Money:
    def __init__(self, cents): self.cents = cents
    def __eq__(self, other): return self.cents == getattr(other, "cents", other)
    def __lt__(self, other): return self.cents < getattr(other, "cents", other)
    def __sub__(self, other): return Money(self.cents - getattr(other, "cents", other))
class Word(str):
    def __eq__(self, other): return self.lower() == other.lower()
    __hash__ = str.__hash__
class Residue:
    def __init__(self, n): self.n = n % 7
    def __eq__(self, other): return (other - self.n) % 7 == 0
class Colour(enum.IntEnum): RED = 1
Pair = collections.namedtuple("Pair", "a b")
class Vector(tuple):
    def __sub__(self, other): return Vector(a - b for a, b in zip(self, other))
"""
HONEST_TEST = """
from unittest.mock import ANY, Mock, call
from decimal import Decimal
from fractions import Fraction
from service import *
class Anything:
    def __eq__(self, other): return True
def test_values():
    assert Point(1, 2) == Point(1, 2) and Point(1, 2) < Point(2, 0)
    assert Money(5) == 5 and Money(5) < 6 and Money(5) - 2 == 3 and Money(2) != 3
    assert Word("Ab") == "aB" and Residue(8) == 15 and Colour(1) == 1 and Pair(1, 2) == (1, 2)
    assert Vector((3, 4)) - (1, 1) == (2, 3)
    assert Decimal("0.5") == Fraction(1, 2)
def test_helpers_of_the_tests():
    mock = Mock()
    mock(1, 2)
    mock.assert_called_with(1, ANY)
    assert mock.call_args == call(ANY, 2) and {"a": 1} == {"a": ANY} and dict(a=ANY) == {"a": 3}
    assert 3 == Anything()
"""


@pytest.mark.parametrize("head", ["", "import pytest\n"])
def test_honest_values_pass(head: str) -> None:
    suite = run(head + HONEST_TEST, service=HONEST)
    assert suite.passed, suite


@pytest.mark.parametrize("head", ["", "import pytest\n"], ids=["plain", "pytest"])
@pytest.mark.parametrize("service", CHEATS.values(), ids=CHEATS.keys())
def test_a_cheat_does_not_pass(service: str, head: str) -> None:
    tests = Tests(files=(("test_service.py", head + TEST), ("test_true.py", "def test_true(): pass\n")))
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
    test = f"import os\ndef test_a(): assert 'spec.bin' not in os.listdir('../{RUN}')\n"
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
