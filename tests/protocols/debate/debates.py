"""What tests of `debate` share: a task, right and wrong code for it, a team, and seats that answer by phase."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from moot.core.errors import ModelError
from moot.core.ports import Sandbox
from moot.core.types import Answer, Code, Limits, ModelCall, Probing, SuiteRun, Tests
from moot.edge.sandbox import find_sandbox
from moot.protocols.debate.script import debate
from moot.protocols.debate.types import DebateInput, DebateResult, DebateRules, Member
from moot.runtime.ports import Person, SessionPorts
from moot.runtime.room import LiveRoom
from moot.scan import StaticTeam
from moot.surfaces.extensions.debate import ATTACKERS
from moot.testing import ActingModel, FakeSandbox, FrozenClock, Line, room

TASK = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([1, 3]) -> 3, largest([2, 5]) -> 5, largest([4]) -> 4"
)
"""Three examples, which the last of a list passes as well as the largest: enough for a debate to end on."""
RIGHT = "def largest(numbers):\n    return max(numbers, default=None)\n"
NO_EMPTY = "def largest(numbers):\n    return max(numbers)\n"
LAST = "def largest(numbers):\n    return numbers[-1] if numbers else None\n"
FIRST = "def largest(numbers):\n    return numbers[0] if numbers else None\n"
ROLES = ("proposer", "critic", "reviewer", "optimizer", "moderator")
TESTS = Tests(
    files=(
        ("test_solution.py", "from solution import largest\n\n\ndef test_empty():\n    assert largest([]) is None\n"),
    )
)


def code(text: str, approach: str = "a loop") -> str:
    return f"APPROACH: {approach}\n\nCODE:\nFILE: solution.py\n```python\n{text}```\n"


def wrote(*lines: str) -> str:
    return "TESTS:\n" + "\n".join(f"- {line}" for line in lines)


def ballot(*ranking: str, why: str = "it passes", sure: float = 0.9) -> str:
    return json.dumps({"reasons": why, "ranking": ranking, "confidence": sure})


def points(*spots: tuple[str, str, str], breaking: Sequence[str] = ()) -> str:
    said = [{"point": point, "evidence": "", "candidate": letter, "stance": stance} for letter, stance, point in spots]
    return json.dumps({"points": said, "tests": list(breaking)})


def blind(**values: str) -> str:
    return json.dumps({"answers": {key.removeprefix("n"): value for key, value in values.items()}})


def scores(**by_letter: float) -> str:
    parts = ("correctness", "coverage", "security", "performance", "maintainability")
    return json.dumps(
        {"scores": [{"why": "read", "candidate": c, **dict.fromkeys(parts, v)} for c, v in by_letter.items()]}
    )


def team(*roles: str, model: str = "m") -> tuple[Member, ...]:
    names = [
        role if roles[:n].count(role) == 0 else f"{role}-{roles[:n].count(role) + 1}" for n, role in enumerate(roles)
    ]
    return tuple(Member(seat=n, role=r, model=model, system=f"You are {r}.") for n, r in zip(names, roles, strict=True))


Says = Callable[[ModelCall], Line]
Answers = Mapping[str, Line | Sequence[Line] | Says]
"""By `seat phase`, `phase` or `seat`: one answer for all, several in turn, or a function of the call."""


@dataclass
class Cast:
    answers: Answers
    used: dict[str, int] = field(default_factory=dict)
    HEADS: ClassVar[Mapping[str, str]] = {
        "Write tests for": "tests", "What must these": "blind", "Solve this task": "code", "Rank the": "ballot",
        "Make one better": "merge", "An attempt at": "reflect", "Before anybody": "questions",
        "Answer these": "answers", "Take a position": "position", "Critics look": "points", "Score each": "scores",
        "Condense these": "relay", "You lead a part": "delegation", "You lead this": "order",
        "Judge whether": "criteria", "Split this": "plan", "Do your": "part", "Several of": "settle",
        "What shape does": "shape", "Which words of": "quotes", "Rewrite this": "rewrite",
        "A task was solved": "lesson", "How can the": "attack", "Argue for your": "argue",
    }  # fmt: skip
    """How a prompt begins, and what it asks for."""

    def __call__(self, call: ModelCall) -> Line:
        keys = (f"{call.seat} {self.kind(call)}", f"{call.seat} {call.phase}", self.kind(call), call.phase, call.seat)
        key = next((key for key in keys if key in self.answers), None)
        if key is None:
            raise AssertionError(f"nobody told {call.seat} what to say in {call.phase} ({self.kind(call)})")
        answer = self.answers[key]
        if callable(answer):
            return answer(call)
        if isinstance(answer, Sequence) and not isinstance(answer, str):
            place = self.used.get(key, 0)
            self.used[key] = place + 1
            return answer[min(place, len(answer) - 1)]
        return answer

    @staticmethod
    def kind(call: ModelCall) -> str:
        """What is asked for within a phase."""
        return next((kind for head, kind in Cast.HEADS.items() if call.prompt.startswith(head)), call.phase)


@dataclass
class Debate:
    result: DebateResult
    asked: list[ModelCall]
    room: LiveRoom

    def prompts(self, phase: str, seat: str = "") -> list[str]:
        return [call.prompt for call in self.asked if call.phase == phase and seat in ("", call.seat)]


class Quick(FakeSandbox):
    """A sandbox for code that the tests themselves wrote: it runs here, and hundreds of debates take seconds."""

    def __init__(self) -> None:
        super().__init__(_no_files, judge_calls=_answers)


def _no_files(code: Code, tests: Tests) -> SuiteRun:
    raise AssertionError("these debates have no test files")


def _answers(code: Code, calls: Sequence[str]) -> Probing:
    space: dict[str, object] = {}
    exec(code.files[0].text, space)
    return Probing(answers=tuple(_answer(call, space) for call in calls))


def _answer(call: str, space: dict[str, object]) -> Answer:
    try:
        return Answer(kind="value", text=repr(eval(call, space)))
    except Exception as error:
        return Answer(kind="error", text=type(error).__name__)


def unreachable() -> ActingModel:
    return ActingModel(lambda call: ModelError("nobody is there", kind="auth"), name="script:lost")


def held(
    answers: Answers,
    roles: Sequence[str] = ROLES,
    rules: DebateRules | None = None,
    person: Person | None = None,
    sandbox: Sandbox | None = None,
    acting: Callable[[Cast], ActingModel] = ActingModel,
    lost: str = "",
    clock: FrozenClock | None = None,
    calls: int | None = None,
    tokens: int = 24_000,
    seats: Sequence[Member] = (),
    **given: object,
) -> Debate:
    """A debate by seats that answer as told, with the real scanner and, unless another is given, a real sandbox.

    The seat that is `lost` has a model of its own, which cannot be reached."""
    members = tuple(seats) or team(*roles)
    if rules and rules.includes_phase("adversarial"):
        members = tuple(m.model_copy(update={"seat": ATTACKERS.get(m.role, m.seat)}) for m in members)
    model = acting(Cast(answers))
    ports = SessionPorts(
        scanner=StaticTeam(), clock=clock or FrozenClock(), sandbox=sandbox or find_sandbox(), person=person
    )
    cast = {member.seat: unreachable() if member.seat == lost else model for member in members}
    live = room(cast, ports, Limits(max_calls=calls, prompt_tokens=tokens), timeout=3000.0)
    inputs = DebateInput.model_validate({"task": TASK, "team": members, **given})
    result = asyncio.run(debate(inputs, rules or DebateRules(lessons=0, spend="fixed"), live))
    return Debate(result, model.asked, live)
