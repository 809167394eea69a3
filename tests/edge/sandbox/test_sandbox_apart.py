# ruff: noqa: E501
"""Python tests and the code they test live in different processes: what that keeps out, and what it leaves alone."""

import asyncio
from collections.abc import Iterable

import pytest
from python_cheats import NAMED, OWN, PYTEST, WAYS
from sandbox_runs import BOTH, boxed, code_of, cold, local, run, statuses, suite_of

from moot.core.ports import Sandbox
from moot.core.types import SourceFile, SuiteRun, Tests

AT_ONCE = 3
LIMITS = {"wall": 60, "test": 10}


def ran(sandbox: Sandbox, pairs: Iterable[tuple[str, str]]) -> list[SuiteRun]:
    """The runs of these services and tests, a few at a time."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(service: str, test: str) -> SuiteRun:
        async with turn:
            return await sandbox.run(code_of(service=service), suite_of(test))

    async def every() -> list[SuiteRun]:
        return await asyncio.gather(*(one(service, test) for service, test in pairs))

    return asyncio.run(every())


@pytest.mark.parametrize("way", WAYS)
def test_no_cheat_passes(way: str) -> None:
    # All of them in all ways were tried once; here the ways that differ most are enough.
    cheats = NAMED | (OWN if way in ("assert", "by attribute", "near", "unittest") else {})
    runs = ran(boxed(**LIMITS), [(text, WAYS[way]) for text in cheats.values()])
    assert [name for name, found in zip(cheats, runs, strict=True) if found.passed] == []


@pytest.mark.parametrize(
    "some", [list(NAMED), ["an object equal to all", "a pytest exit", "the tests rewritten on disk"]]
)
def test_no_cheat_passes_with_pytest(some: list[str]) -> None:
    cheats = NAMED | OWN
    runs = ran(boxed(**LIMITS), [(cheats[name], PYTEST) for name in some])
    assert [name for name, found in zip(some, runs, strict=True) if found.passed] == []


def test_no_cheat_passes_in_a_new_sandbox_or_without_one() -> None:
    some = [*NAMED.values(), OWN["the tests rewritten on disk"], OWN["a report on every handle"]]
    for sandbox in (cold(**LIMITS), local(**LIMITS)):
        assert [found.passed for found in ran(sandbox, [(text, WAYS["assert"]) for text in some])] == [False] * len(
            some
        )


SERVICE = """
import collections, dataclasses, datetime, decimal, enum, fractions, math
class Wrong(ValueError):
    def __init__(self, code): super().__init__(f"code {code}"); self.code = code
class Worse(Wrong): pass
class Colour(enum.Enum): RED = 1; BLUE = 2
class Level(enum.IntEnum): LOW = 1
Pair = collections.namedtuple("Pair", "a b")
@dataclasses.dataclass
class Point:
    x: int
    y: int = 0
    def moved(self, by): return Point(self.x + by, self.y)
class Stack:
    made = 0
    def __init__(self, items=()): self._items = list(items); Stack.made += 1
    def push(self, item): self._items.append(item); return self
    def pop(self): return self._items.pop()
    def __len__(self): return len(self._items)
    def __iter__(self): return iter(self._items)
    def __getitem__(self, at): return self._items[at]
    def __enter__(self): return self
    def __exit__(self, *_): self._items.clear()
    @classmethod
    def of(cls, *items): return cls(items)
    @property
    def top(self): return self._items[-1]
class Money:
    def __init__(self, cents): self.cents = cents
    def __eq__(self, other): return self.cents == getattr(other, "cents", other)
    def __add__(self, other): return Money(self.cents + other.cents)
class Row(list):
    def total(self): return sum(self)
def row(n): return Row([n])
class bag:
    def __init__(self, items): self.items = items
    def __bool__(self): return bool(self.items)
LIMIT = 7
seen = []
def double(n): return 2 * n
def same(value): return value
def fail(code): raise Worse(code)
def sort(items): items.sort(); return items
def fill(table, key): table.setdefault(key, []).append(1)
def count(n):
    for i in range(n): yield i
def adder(n): return lambda m: n + m
def apply(f, *values, **named): return [f(value, **named) for value in values]
def remember(x): seen.append(x); return len(seen)
def shout(text): print(text.upper())
def pair(a, b): return Pair(a, b)
def colour(n): return Colour(n)
def level(): return Level.LOW
def divide(a, b): return a / b
def keep(items): global kept; kept = items
def kept_length(): return len(kept)
async def later(n): return n + 1
"""
HONEST = {
    "numbers": "assert service.double(2) == 4 and service.double(-0.5) == -1.0 and service.double(10**400) == 2 * 10**400",
    "not a number": "v = service.same(float('nan')); assert v != v and service.same(float('inf')) > 10**300",
    "zero with a sign": "import math; assert math.copysign(1, service.same(-0.0)) == -1",
    "texts and bytes": "assert service.same('ä\\ud800\\0') == 'ä\\ud800\\0' and service.same(b'\\xff\\0') == b'\\xff\\0'",
    "nested": "v = {'a': [1, (2, {3}), None], 4: {'b': ...}}; assert service.same(v) == v",
    "kinds are kept": "assert [type(service.same(v)) for v in ((1,), [1], {1}, frozenset(), True, 1, 1.0, 1j, range(2))]"
    " == [tuple, list, set, frozenset, bool, int, float, complex, range]",
    "values of the library": "import datetime, decimal, fractions, uuid\n"
    "for v in (decimal.Decimal('1.50'), fractions.Fraction(1, 3), datetime.date(2024, 2, 29), uuid.UUID(int=5),\n"
    "          datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), datetime.timedelta(1, 2, 3),\n"
    "          datetime.time(3, 4)):\n"
    "    assert service.same(v) == v and type(service.same(v)) is type(v), v",
    "changed in place": "v = [3, 1, 2]; assert service.sort(v) is v and v == [1, 2, 3]",
    "changed inside": "v = {}; service.fill(v, 'a'); service.fill(v, 'a'); assert v == {'a': [1, 1]}",
    "kept and changed later": "v = [1]; service.keep(v); v.append(2); assert service.kept_length() == 2",
    "the same thing comes back": "v = [[1]]; assert service.same(v) is v and service.same(v[0]) is v[0]",
    "a list that holds itself": "v = [1]; v.append(v); assert service.same(v) is v",
    "errors": "try: service.fail(3)\n"
    "except service.Wrong as e: assert e.code == 3 and str(e) == 'code 3' and type(e) is service.Worse and e.args\n"
    "else: assert 0",
    "errors of Python": "for bad in (0, 'a'):\n"
    "    try: service.divide(1, bad)\n    except (ZeroDivisionError, TypeError) as e: assert 'division' in str(e) or 'unsupported' in str(e)\n"
    "    else: assert 0",
    "errors made by a test": "e = service.Wrong(5); assert e.code == 5 and isinstance(e, ValueError)",
    "generators": "g = service.count(3); assert next(g) == 0 and list(g) == [1, 2]",
    "functions that are given back": "assert service.adder(1)(2) == 3 and callable(service.adder(1))",
    "functions of the test": "assert service.apply(lambda v, by=1: v + by, 1, 2, by=3) == [4, 5]",
    "functions of Python": "assert service.apply(str, 1, 2) == ['1', '2'] and service.apply(len, 'abc') == [3]",
    "an error in a function of the test": "def odd(v): raise KeyError(v)\n"
    "try: service.apply(odd, 1)\nexcept KeyError as e: assert e.args == (1,)\nelse: assert 0",
    "state of the module": "n = service.remember('a'); assert service.remember('b') == n + 1 and service.seen[-1] == 'b'",
    "values of the module": "assert service.LIMIT == 7 and 'b' not in service.__doc__ if service.__doc__ else True",
    "tuples with names": "p = service.pair(1, [2]); assert p.a == 1 and p == (1, [2]) and p._fields == ('a', 'b')",
    "members of an enumeration": "assert service.colour(1) is service.Colour.RED and service.colour(2).name == 'BLUE'",
    "members that are numbers": "assert service.level() == 1 and service.level() + 1 == 2",
    "objects": "s = service.Stack(); s.push(1).push([2]); assert len(s) == 2 and s.pop() == [2] and s.top == 1 and s[0] == 1",
    "classes": "s = service.Stack.of(1, 2); assert isinstance(s, service.Stack) and type(s) is service.Stack and list(s) == [1, 2]"
    " and service.Stack.made > 0 and service.Stack.__name__ == 'Stack'",
    "with": "with service.Stack([1]) as s: assert len(s) == 1\nassert len(s) == 0",
    "attributes": "p = service.Point(1); p.y = 5; assert p.x == 1 and p.y == 5 and p.moved(2).x == 3 and repr(p) == 'Point(x=1, y=5)'",
    "what is printed": "import io, contextlib\nheard = io.StringIO()\nwith contextlib.redirect_stdout(heard): service.shout('a')\n"
    "assert heard.getvalue() == 'A\\n'",
    "missing names": "assert not hasattr(service, 'nothing') and hasattr(service, 'double')",
}  # fmt: skip
NEEDING = {
    "own comparison": ("assert service.Money(2) + service.Money(3) == service.Money(5)", "own __eq__", False),
    "own comparison with data": ("assert service.Money(2) + service.Money(3) == 5", "own __eq__", True),
    "a class that extends list": ("v = service.Row([1]); v.append(2); assert v.total() == 3", "values of", False),
    "values of a class that extends list": ("assert service.row(1) == [1] and service.Row", "values of", True),
    "a class by a small name": ("assert not service.bag([]) and service.bag([1])", "own __bool__", True),
    "an object of the test": ("class A: pass\na = A(); assert service.same(a) is a", "an object of its own", False),
    "a patch": ("service.LIMIT = 3; assert service.LIMIT == 3; service.LIMIT = 7", "changes service.LIMIT", False),
    "a class that extends": (
        "class Mine(service.Stack): pass\nassert len(Mine()) == 0",
        "extends one of the code",
        False,
    ),
    "files": ("open('/tmp/a', 'w').close(); assert service.double(1) == 2", "shares files", False),
    "an event loop": ("import asyncio; assert asyncio.run(service.later(1)) == 2", "event loop", False),
    "a mock": (
        "from unittest.mock import patch\nwith patch('service.double', lambda n: 1): assert service.double(2) == 1",
        "patches",
        False,
    ),
    "threads": ("import threading; assert service.double(1) == 2 and threading.active_count()", "threads", False),
}


def as_tests(bodies: Iterable[str]) -> str:
    parts = [
        f"def test_{number}():\n" + "".join(f"    {line}\n" for line in body.splitlines())
        for number, body in enumerate(bodies)
    ]
    return "import service\n" + "".join(parts)


@pytest.mark.parametrize("head", ["", "import pytest\n"], ids=["plain", "pytest"])
def test_honest_tests_pass_apart(head: str) -> None:
    found = run(head + as_tests(HONEST.values()), service=SERVICE)
    named = dict(zip(HONEST, found.outcomes, strict=True))
    assert {name: o.detail for name, o in named.items() if o.status != "passed"} == {}
    assert {name: o.in_process for name, o in named.items() if o.in_process} == {}


@BOTH
def test_what_needs_the_objects_runs_in_process_and_says_so(make: type[Sandbox]) -> None:
    found = run(as_tests(body for body, _, _ in NEEDING.values()), make(), service=SERVICE)
    by_number = {outcome.name.rpartition("_")[2]: outcome for outcome in found.outcomes}
    for number, (name, (_, why, decides)) in enumerate(NEEDING.items()):
        outcome = by_number[str(number)]
        assert (outcome.status, outcome.code_decides) == ("passed", decides), (name, outcome)
        assert why in outcome.in_process, (name, outcome)


def test_the_code_s_word_for_its_own_objects_counts_only_where_a_test_names_them() -> None:
    """`total` gives a `Money` that equals everything; the test expects a number and names no class."""
    service = (
        "class Money:\n    def __eq__(self, other): return True\n    __hash__ = None\ndef total(): return Money()\n"
    )
    found = run("import service\ndef test_a(): assert service.total() == 5\n", service=service)
    assert statuses(found) == ["failed"]
    assert "the code's own __eq__ of 'Money' decides, where data was expected" in found.outcomes[0].detail


def test_a_failing_test_of_plain_data_is_not_tried_in_process() -> None:
    """A file that names a class elsewhere is no excuse for a test that uses none."""
    service = "class Thing: pass\nimport builtins\ndef double(n): return 5\n"
    test = "from service import Thing, double\ndef test_a(): assert double(2) == 4\ndef test_b(): assert Thing()\n"
    found = run(test, service=service)
    assert [(o.status, o.in_process) for o in found.outcomes] == [("failed", ""), ("passed", "")]


def test_code_that_ends_or_hangs_costs_its_own_test_only() -> None:
    service = (
        "import os, time, signal\nn = 0\ndef count():\n    global n\n    n += 1\n    return n\ndef end(): os._exit(3)\n"
        "def hang():\n    signal.alarm(0)\n    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))\n    while True: pass\n"
    )
    test = (
        "import service\ndef test_a(): assert service.count() == 1\n"
        "def test_end():\n    try: service.end()\n    except Exception: pass\n"
        "def test_b(): assert service.count() == 1\n"
        "def test_hang(): service.hang()\ndef test_c(): assert service.count() == 1\n"
    )
    found = run(test, boxed(test=1, wall=60), service=service)
    assert statuses(found) == ["passed", "failed", "passed", "timeout", "passed"]
    assert "ended its process (status 3)" in found.outcomes[1].detail


def test_the_code_sees_neither_the_tests_nor_their_process() -> None:
    service = (
        "import os, glob\ndef files(): return sorted(p for p in glob.glob('/box/**', recursive=True) if 'test' in p)\n"
        "def processes(): return sorted(int(n) for n in os.listdir('/proc') if n.isdigit())\n"
        "def handles(): return sorted(os.readlink(f'/proc/self/fd/{n}').split(':')[0] for n in os.listdir('/proc/self/fd')"
        " if os.path.islink(f'/proc/self/fd/{n}'))\n"
    )
    test = (
        "import service\ndef test_files(): assert service.files() == []\n"
        "def test_processes(): assert service.processes()[0] == 1 and len(service.processes()) < 7\n"
        "def test_handles(): assert service.handles().count('socket') == 1\n"
    )
    for sandbox in (boxed(), cold()):
        found = run(test, sandbox, service=service)
        assert found.passed, found


def test_a_script_whose_statements_need_an_object_runs_in_process_as_a_whole() -> None:
    test = "from service import same\nclass A: pass\na = A()\nassert same(1) == 1\nassert same(a) is a\n"
    found = run(test, service="def same(v): return v\n")
    assert [(o.status, bool(o.in_process)) for o in found.outcomes] == [("passed", False), ("passed", True)]


def test_packages_and_helpers_of_the_tests_work() -> None:
    files = {
        "tests/helpers.py": "from pkg.sub import half\ndef quarter(n): return half(half(n))\n",
        "tests/test_a.py": "import pkg\nfrom pkg import sub\nimport pkg.sub as again\nfrom helpers import quarter\n"
        "def test_a(): assert quarter(8) == 2 and pkg.sub.half(4) == 2 and again is sub and pkg.NAME == 'pkg'\n",
    }
    code = code_of(**{"pkg/__init__": "NAME = 'pkg'\n", "pkg/sub": "def half(n): return n // 2\n"})
    found = asyncio.run(boxed().run(code, Tests(files=tuple(files.items()))))
    assert found.passed and not found.outcomes[0].in_process, found


def test_the_code_brings_no_library_and_no_settings_for_its_judge() -> None:
    test = "import statistics, service\ndef test_a(): assert service.middle([1, 9]) == statistics.mean([1, 9])\n"
    code = code_of(service="def middle(v): return 4\n", statistics="def mean(v): return 4\n")
    settings = SourceFile(path="pytest.ini", language="python", text="[pytest]\npython_functions = nothing\n")
    code = code.model_copy(update={"files": (*code.files, settings)})
    found = [asyncio.run(boxed().run(code, suite_of(head + test))) for head in ("", "import pytest\n")]
    assert [statuses(each) for each in found] == [["failed"], ["failed"]]


def test_the_code_takes_no_name_of_the_test_by_an_import_of_all() -> None:
    service = (
        "__all__ = ['double', 'abs', 'WANTED', 'isclose']\nabs = isclose = lambda *a: 0 or True\nWANTED = 5\n"
        "def double(n): return 5\n"
    )
    test = (
        "from math import isclose\nWANTED = 4\nfrom service import *\n"
        "def test_a(): assert double(2) == WANTED\ndef test_b(): assert abs(double(2) - 4) < 1\n"
        "def test_c(): assert isclose(double(2), 4)\n"
    )
    assert statuses(run(test, service=service)) == ["failed"] * 3
