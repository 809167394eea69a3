"""Tests that an agent writes: asked for, and judged by rules before they may have a say.

Any protocol can call these: they need nothing but a room.
"""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask, Room
from moot.core.types import Absent, Answer, Code, SuiteRun, Tests, Value
from moot.evidence.trials.suites import SuiteTest, TestSuite, of_reply
from moot.evidence.trials.validity import (
    Came,
    Judged,
    Ran,
    broken_by_itself,
    by_reading,
    by_running,
    called_in,
    stub_of,
)
from moot.evidence.trials.values import holds
from moot.protocols.solve.attempts import Task, code_of
from moot.protocols.solve.prompts import prompt
from moot.text.render import fenced
from moot.text.replies import Also, Fenced, instructions

CLASS = re.compile(r"^\s*class\s+(\w+)", re.MULTILINE)
REPLY_TOKENS = 700
FILE = "test_made.py"
NOTHING, ODD = "None", "NotImplemented"


class TestsReply(Value):
    __test__ = False

    tests: Annotated[Fenced, Also("test_cases", "asserts", "assertions", "code")] = Field(description="the tests")


async def ask_for_tests(task: Task, seat: str, number: int, room: Room, most: int = 8) -> TestSuite | Absent:
    """What the seat wrote, read but not judged; a reply without one readable test is an absence too."""
    text = prompt(
        "tests",
        most=str(most),
        task=fenced(task.words, "text"),
        function=task.names[0] if task.names else "f",
        form=instructions(TestsReply).replace("<path>", FILE),
    )
    said = await room.ask(Ask(seat, "tests", number, prompt("tester"), text, TestsReply, REPLY_TOKENS))
    if isinstance(said, Absent):
        return said
    suite = of_reply("\n".join(block.text for block in said.tests))
    return suite if suite.made else Absent(seat=seat, why="unreadable", detail="no test could be read in the reply")


async def valid_tests(suite: TestSuite, task: Task, room: Room, solutions: Sequence[Code] = ()) -> tuple[Judged, ...]:
    """Each single test with whether it has a say. Solutions, where there are any, show what runs and what wavers."""
    if task.language != "python":
        why = f"single tests can be judged in Python only, not in {task.language}"
        return tuple(Judged(test=test, flaw="does_not_run", detail=why) for test in suite.made)
    names = task.names or tuple(sorted({name for test in suite.made for name in called_in(test)}))
    judged = by_reading(suite.made, task.examples, names)
    left = [one.test for one in judged if one.valid]
    stubs: dict[SuiteTest, Ran] = {}
    for value in (NOTHING, ODD):
        stub = code_of(task, stub_of(names, CLASS.findall(task.text), value))
        stubs |= await _ran(stub, _asking(left, value), names, room)
    on_code = [await _ran(code, left, names, room) for code in solutions]
    return tuple(
        by_running(one, stubs[one.test], [ran[one.test] for ran in on_code]) if one.valid else one for one in judged
    )


def _asking(tests: Sequence[SuiteTest], value: str) -> list[SuiteTest]:
    """A test that asks for None could not fail on a stub that gives it: for those the stub gives something else."""
    return [test for test in tests if _wants_none(test) == (value == ODD)]


def _wants_none(test: SuiteTest) -> bool:
    return test.example is not None and test.example.expected == "None"


async def _ran(code: Code, tests: Sequence[SuiteTest], names: Sequence[str], room: Room) -> dict[SuiteTest, Ran]:
    """Every test on this code, twice."""
    calls = [test for test in tests if test.example]
    asked = [test.example.call for test in calls if test.example]
    first, second = [await room.probe(code, asked) for _ in range(2)] if asked else (None, None)
    found: dict[SuiteTest, Ran] = {}
    if first and second:
        lost = Answer(kind="none", detail=first.problem or second.problem or "no answer")
        for at, test in enumerate(calls):
            one, other = (p.answers[at] if at < len(p.answers) else lost for p in (first, second))
            found[test] = Ran(
                first=_came(test, one, names),
                second=_came(test, other, names),
                same=one.mark == other.mark,
                detail=f"{one.text}: {one.detail}".strip(": "),
            )
    for test in (test for test in tests if not test.example):
        runs = [await room.execute(code, Tests(files=((FILE, test.text),))) for _ in range(2)]
        came = [_fared(run, names) for run in runs]
        found[test] = Ran(first=came[0], second=came[1], detail=_words(runs[0]))
    return found


def _came(test: SuiteTest, answer: Answer, names: Sequence[str]) -> Came:
    if answer.kind in ("none", "timeout"):
        return "broken"
    if answer.kind == "error" and broken_by_itself(f"{answer.text}: {answer.detail}", names):
        return "broken"
    return "passed" if test.example and holds(test.example, answer) else "failed"


def _fared(run: SuiteRun, names: Sequence[str]) -> Came:
    if run.problem or any(outcome.status in ("timeout", "skipped") for outcome in run.outcomes):
        return "broken"
    if any(broken_by_itself(_last(outcome.detail), names) for outcome in run.outcomes):
        return "broken"
    return "passed" if run.passed else "failed"


def _words(run: SuiteRun) -> str:
    return run.problem or next((_last(o.detail) for o in run.outcomes if o.status != "passed"), "")


def _last(detail: str) -> str:
    return next((line for line in reversed(detail.strip().splitlines()) if line.strip()), "")[:300]
