"""Code that tries to get into its judge, or out of being judged apart: what it says of itself does not count."""
# ruff: noqa: E501

import asyncio
import inspect

import pytest
from sandbox_runs import boxed, code_of, run, statuses, suite_of

from moot.core.types import SuiteRun
from moot.edge.sandbox.python.inside import in_honest, in_plain
from moot.edge.sandbox.python.inside.in_record import Seal, SignedReport
from moot.edge.sandbox.python.inside.in_worker import WorkerAnswers
from moot.evidence.trials.analysis import of_suite

TAKEOVER = (
    "[setattr(k, '_report_done', lambda self, t, st, d, sp: self._sign({'event': 'done', 'test': t, 'status': 'passed', "
    "'detail': '', **sp})) for k in __import__('gc').get_objects() if isinstance(k, type) and k.__name__ == 'SignedReport']"
)
FIND = "import gc, sys\nme = [o for o in gc.get_objects() if type(o).__name__ == 'WorkerAnswers'][0]\n"
INTO_THE_JUDGE = {
    "text that the judge evaluates": (
        f"TEXT = {TAKEOVER!r}\ndef encode(x): return TEXT\ndecode = eval\n",
        "def test_a(): assert service.decode(service.encode('a')) == 'a'\n",
    ),
    "a method that is eval": (
        f"TEXT = {TAKEOVER!r}\ndef encode(x): return TEXT\nclass Coder:\n    decode = eval\n",
        "def test_a(): assert service.Coder().decode(service.encode('a')) == 'a'\n",
    ),
    "a module of Python as one of its own": (
        FIND + f"import builtins as b\nme._code = me._code | {{'builtins', 'os'}}\ndef text(): return {TAKEOVER!r}\n",
        "def test_a(): assert service.b.eval(service.text()) is None\n",
    ),
    "an error that stops a test in silence": (
        FIND + "import unittest.case\nusual = me._class\n"
        "def told(kind):\n    number = usual(kind)\n"
        "    for each in me._news: each[3] = [] if each[2] in ('_ShouldStop', 'SkipTest') else each[3]\n    return number\n"
        "me._class = told\ndef double(n): raise unittest.case._ShouldStop\n",
        "import unittest\nclass Cases(unittest.TestCase):\n    def test_a(self): self.assertEqual(service.double(2), 4)\n",
    ),
    "methods that say yes": (
        "class L:\n    def __getattr__(self, n):\n        if n.startswith('__'): raise AttributeError(n)\n"
        "        return lambda *a: True\ndef first(n): return L()\n",
        "def test_a(): assert service.first('Bob').startswith('Hello')\n",
    ),
}  # fmt: skip
WANT = "WANT = [1, 2]\n"
LED = {
    "an endless answer": ("def first(n):\n    while True: yield 0\n", WANT + "def test_a(): assert list(service.first(3)) == WANT\n"),
    "a value that does not cross back": (
        "import collections\nP = collections.namedtuple('P', 'a')\ndef encode(x): return P(x)\ndef decode(x): return [1, 2]\n",
        WANT + "def test_a(): assert service.decode(service.encode('a')) == WANT\n",
    ),
    "a constant that is a class": (
        "class ROMAN:\n    get = staticmethod(lambda n: 0)\n",
        "def test_a(): assert service.ROMAN.get('V') == 0\ndef test_b(): assert service.ROMAN.get('V') == 5\n",
    ),
    "a class that fails": (
        "class Stack:\n    def push(self, v): pass\n    def pop(self): return 0\n",
        "def test_a():\n    s = service.Stack(); s.push(7); assert s.pop() == 7\n",
    ),
    "a function that fails with a callback": (
        "def best(items, key): return 0\n",
        "def test_a(): assert service.best([1, 3], key=lambda v: v) == 3\n",
    ),
}  # fmt: skip


def judged(service: str, test: str, **more: str) -> SuiteRun:
    text = "import service\n" + test
    return asyncio.run(boxed(test=2, wall=60).run(code_of(service=service, **more), suite_of(text)))


@pytest.mark.parametrize("name", INTO_THE_JUDGE)
def test_the_code_does_not_get_into_its_judge(name: str) -> None:
    service, test = INTO_THE_JUDGE[name]
    found = judged(service, test + "def test_other(): assert service.__name__ == 'other'\n")
    assert not found.passed, found
    assert not found.passed_apart and "skipped" not in statuses(found), found


@pytest.mark.parametrize("name", LED)
def test_who_leads_a_test_into_its_own_process_proves_nothing(name: str) -> None:
    found = judged(*LED[name])
    assert not of_suite(found).green, found
    assert all(outcome.code_decides for outcome in found.passed_in_process), found


@pytest.mark.parametrize("path", ["statistics/__init__", "src/statistics"])
def test_the_code_brings_no_library_in_a_folder_either(path: str) -> None:
    test = "import statistics\ndef test_a(): assert service.mean([1, 2]) == statistics.mean([1, 2])\n"
    assert statuses(judged("def mean(v): return 0\n", test, **{path: "def mean(v): return 0\n"})) == ["failed"]


HONEST = """
import collections, pathlib
REGISTRY = []
def register(name): REGISTRY.append(name)
class vec:
    def __init__(self, x): self.x = x
    def __mul__(self, n): return vec(self.x * n)
    def __contains__(self, n): return n == self.x
def save(name):
    path = pathlib.Path(name)
    path.write_text("a")
    return path
def fill(queue): queue.append(1)
def Odd(): return type("a-b", (), {"v": 1})()
"""
HONEST_TESTS = """
import service
from collections import deque
from service import REGISTRY
def test_first(): service.register("a"); assert REGISTRY == ["a"]
def test_second(): service.register("b"); assert "b" in REGISTRY
def test_times(): assert (service.vec(3) * 2).x == 6
def test_in(): assert 3 in service.vec(3)
def test_path(): assert service.save("a.txt").read_text() == "a"
def test_queue():
    queue = deque(); service.fill(queue); assert queue == deque([1])
def test_name(): assert service.Odd().v == 1
def test_deep():
    v = []
    for _ in range(300): v = [v]
    service.fill(v)
    assert v[1] == 1
"""


def test_honest_tests_of_these_kinds_pass() -> None:
    found = run(HONEST_TESTS, service=HONEST)
    assert {o.name: o.detail for o in found.outcomes if o.status != "passed"} == {}


def test_the_attacks_name_what_is_there() -> None:
    """They find parts of the runner by name: a part that was renamed would be attacked no more."""
    named = {"Seal": Seal, "SignedReport": SignedReport, "WorkerAnswers": WorkerAnswers}
    assert all(kind.__name__ == name for name, kind in named.items())
    assert callable(Seal.is_broken) and callable(SignedReport._report_done) and callable(WorkerAnswers._class)
    functions = {function.__name__ for function in (in_plain._attempt, in_plain._classify_failure)}
    assert functions == {"_attempt", "_classify_failure"}
    assert "def check_given(" in inspect.getsource(in_honest) and callable(in_honest.insert_guards)
