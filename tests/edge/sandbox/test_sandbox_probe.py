"""Calls put to solutions in the sandbox: each is answered for itself, and no solution can answer for the judge."""

import asyncio
from collections.abc import Callable

import pytest
from sandbox_runs import boxed, local

from moot.ports import Sandbox
from moot.testing import one_file
from moot.trials.behaviour import alike_and_green, best, clusters, tried
from moot.trials.contrast import contrast
from moot.trials.values import Example, holds
from moot.types import Answer, Probing

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
    assert not any(holds(Example(call="f(2)", expected="4"), answer) for answer in found.answers)
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
        seen[name] = (found, tried(name, [example], found.answers[:1], Probing(answers=found.answers[1:])))
    solutions = [entry for _, entry in seen.values()]
    assert clusters(solutions)[0].names == ("a", "b")
    assert [cluster.names for cluster in best(solutions)] == [("a", "b")]
    assert alike_and_green([seen["a"][1], seen["b"][1]]) and not alike_and_green([seen["e"][1]] * 2)
    apart = contrast([example.call, *more], seen["a"][0].answers, seen["c"][0].answers)
    assert apart.smallest is not None and (apart.smallest.call, apart.smallest.right) == ("f(3)", "9")
    assert apart.differences[-1].cause == "empty_input"
