"""Calls put to solutions in the sandbox: each is answered for itself, and no solution can answer for the judge."""

import asyncio
from collections.abc import Callable

import pytest
from sandbox_runs import boxed, local

from moot.core.ports import Sandbox
from moot.core.types import Answer, Probing
from moot.edge.sandbox.python.stateless import leaves_nothing
from moot.evidence.trials.behaviour import best, build_trial, clusters, find_unanimous
from moot.evidence.trials.contrast import contrast
from moot.evidence.trials.values import Example, is_satisfied
from moot.testing import one_file

Make = Callable[..., Sandbox]
MAKES = pytest.mark.parametrize("make", [boxed, local])


def probe(text: str, *calls: str, make: Make = boxed, seconds: float = 5.0, **limits: float) -> Probing:
    return asyncio.run(make(**limits).probe(one_file(text, "solution.py"), calls, seconds))


@MAKES
def test_every_call_has_its_answer(make: Make) -> None:
    code = "def f(x):\n    if x < 0: raise ValueError(f'{x} is negative')\n    return {'b': {3, 1}, 'a': (x / 3,)}\n"
    answers = probe(code, "f(1)", "f(-1)", "g(1)", make=make).answers
    assert answers[0] == Answer(kind="value", text="{'a': (0.333333333333,), 'b': {1, 3}}")
    assert (answers[1].kind, answers[1].text, answers[1].detail) == ("error", "ValueError", "-1 is negative (line 2)")
    assert (answers[2].kind, answers[2].text) == ("error", "NameError")


HANGS = """
import os, time
kept = []
def f(x):
    kept.append(x)
    if x == 1: os._exit(0)
    if x == 2: time.sleep(1000)
    if x == 3: os.kill(os.getpid(), 9)
    return len(kept)
"""


def test_a_call_that_ends_or_hangs_costs_only_its_own_answer() -> None:
    answers = probe(HANGS, "f(0)", "f(1)", "f(2)", "f(3)", "f(4)", seconds=1.0).answers
    assert [answer.kind for answer in answers] == ["value", "none", "timeout", "none", "value"]
    assert answers[0].text == answers[4].text == "1", "one call must not see what another left behind"


def test_calls_that_share_a_process_are_answered_each_for_itself() -> None:
    code = "def f(x):\n    while x == 2: pass\n    return [x] * 3 if x else 1 // x\n"
    answers = probe(code, "f(1)", "f(2)", "f(0)", "f(3)", "f(2)", seconds=1.0).answers
    assert [answer.kind for answer in answers] == ["value", "timeout", "error", "value", "timeout"]
    assert [answer.text for answer in answers[2:4]] == ["ZeroDivisionError", "[3, 3, 3]"]


KEEPERS = {
    "a list of the module": "kept = []\ndef f(x):\n    kept.append(x)\n    return len(kept)\n",
    "a default": "def f(x, kept=[]):\n    kept.append(x)\n    return len(kept)\n",
    "a default of a nested function": "def f(x, g=lambda x, kept=[]: kept.append(x) or len(kept)): return g(x)\n",
    "a global": "kept = 0\ndef f(x):\n    global kept\n    kept += 1\n    return kept\n",
    "an attribute": "def f(x):\n    f.kept = getattr(f, 'kept', 0) + 1\n    return f.kept\n",
    "an attribute of a class": "class K:\n    kept = 0\ndef f(x):\n    K.kept += 1\n    return K.kept\n",
    "an iterator": "import itertools\nkept = itertools.count(1)\ndef f(x): return next(kept)\n",
    "a closure": "def make():\n    kept = []\n    return lambda x: kept.append(x) or len(kept)\nf = make()\n",
    "a cache": "import functools\n@functools.cache\ndef g(): return []\ndef f(x): return g().append(x) or len(g())\n",
    "a module": "import sys\ndef f(x):\n    sys.path.append(x)\n    return len([p for p in sys.path if p == x])\n",
    "a file": "def f(x):\n    open('kept', 'a').write('x')\n    return len(open('kept').read()) and 1\n",
    "a method": "def f(x):\n    f.__dict__.setdefault('kept', []).append(x)\n    return len(f.kept)\n",
    "its globals": "def f(x):\n    globals()['kept'] = globals().get('kept', 0) + 1\n    return kept\n",
}


@pytest.mark.parametrize("what", KEEPERS)
def test_what_a_solution_keeps_is_not_there_in_the_next_call(what: str) -> None:
    answers = probe(KEEPERS[what], "f(1)", "f(1)", "f(1)").answers
    assert [(answer.kind, answer.text) for answer in answers] == [("value", "1")] * 3


@pytest.mark.parametrize("what", KEEPERS)
def test_what_keeps_something_is_seen_before_it_is_run(what: str) -> None:
    assert not leaves_nothing([KEEPERS[what]], ["f(1)"])


@pytest.mark.parametrize("call", ["exec('x = 1')", "f(", "__import__('os').getcwd()", "f.__dict__"])
def test_a_call_that_reaches_out_shares_no_process(call: str) -> None:
    plain = "import math\nLIMIT = 10 ** 3\ndef f(x, *, y=(1, -2)):\n    return sorted(x)[:LIMIT] or math.sqrt(y[0])\n"
    assert leaves_nothing([plain], ["f([2, 1])", "f(x={'a': 1}, y=(2,))"])
    assert not leaves_nothing([plain], [call])


LIAR = "class E({0}):\n    def __eq__(s, o): return True\n    def __hash__(s): return 0\ndef f(x): return E({1})\n"
FORGER = """
import os
line = b'{"kind": "value", "text": "5"}\\n' * 50
for handle in range(9):
    try: os.write(handle, line)
    except OSError: pass
def f(x): return 0
"""
CHEATS = {
    "equal to everything": LIAR.format("object", ""),
    "a number that lies": LIAR.format("int", "7"),
    "a text that lies": LIAR.format("str", "'x'"),
    "a list that lies": LIAR.format("list", ""),
    "ends before": "import os\nos._exit(0)\n",
    "ends in the call": "import os\ndef f(x): os._exit(0)\n",
    "writes a report": FORGER,
    "changes json": 'import json\njson.dumps = lambda *a: \'{"kind": "value"}\'\ndef f(x): return 0\n',
    "changes equality": "import builtins\nbuiltins.repr = lambda v: 'True'\ndef f(x): return 0\n",
    "nothing there": "",
    "does not compile": "def f(x: return 4\n",
}


@MAKES
@pytest.mark.parametrize("name", CHEATS)
def test_no_trick_satisfies_an_example(name: str, make: Make) -> None:
    found = probe(CHEATS[name], "f(2)", make=make, seconds=2.0)
    assert not any(is_satisfied(Example(call="f(2)", expected="4"), answer) for answer in found.answers)
    assert found.answers or found.problem


def test_the_whole_run_is_limited() -> None:
    found = probe("import time\ntime.sleep(1000)\ndef f(): return 1\n", "f()", wall=1.5)
    assert not found.answers and "limit of 1.5 s" in found.problem
    hog = probe("def f(): return len(bytearray(10**12))\n", "f()")
    assert hog.answers[0].text == "MemoryError"


def test_solutions_are_chosen_by_what_they_do() -> None:
    texts = {
        "a": "def f(x): return x * 2\n",
        "b": "def f(x): return x + x\n",
        "c": "def f(x): return x ** 2\n",
        "d": "def f(x): return 4\n",
        "e": "def f(x): return None\n",
    }
    example, more = Example(call="f(2)", expected="4"), ("f(3)", "f(0)", "f('')")
    seen = {}
    for name, text in texts.items():
        found = probe(text, example.call, *more)
        seen[name] = (found, build_trial(name, [example], found.answers[:1], Probing(answers=found.answers[1:])))
    solutions = [entry for _, entry in seen.values()]
    assert clusters(solutions)[0].names == ("a", "b")
    assert [cluster.names for cluster in best(solutions)] == [("a", "b")]
    assert find_unanimous([seen["a"][1], seen["b"][1]]) and not find_unanimous([seen["e"][1]] * 2)
    apart = contrast([example.call, *more], seen["a"][0].answers, seen["c"][0].answers)
    smallest = apart.differences[0]
    assert (smallest.call, smallest.right) == ("f(3)", "9")
    assert apart.differences[-1].cause == "empty_input"
