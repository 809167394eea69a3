"""Input, rules and result of vetting, and what both debates share."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from moot.core.errors import CutKind, SessionStopped
from moot.core.protocol import Option
from moot.core.room import Ask, Room
from moot.core.types import Absent, Result, Rules, Value
from moot.protocols.vet.judgement import Clear
from moot.protocols.vet.positions import BlindSpot, Claim, Diagnosis, Objection, Opinion
from moot.protocols.vet.prompts import prompt
from moot.protocols.vet.synthesis import Resolution
from moot.routing.answer import Stakes
from moot.text.excerpts import CHARACTERS_PER_TOKEN, TextPart, fit_parts, fit_text, show
from moot.text.render import fence_text
from moot.text.replies import instructions

T = TypeVar("T", bound=Value)
Outcome = Literal["proceed", "modify", "retry", "pivot", "escalate"] | CutKind
REPLY_TOKENS, SYNTHESIS_TOKENS = 500, 200
HUMAN = "human"


class VetRules(Rules):
    rounds: Annotated[int, Option(help="Exchanges of advocate and critic, 1 to 3; low stakes: one.")] = Field(
        default=1, ge=1, le=3, description="exchanges of advocate and critic; one at low stakes"
    )


class VetInput(Value):
    kind: Annotated[Literal["planning", "failure"], Option(derived=True)] = "planning"
    action: str
    """The action before it runs, or the failed task."""
    stakes: Stakes
    context: Annotated[str, Option(help="A file for both seats to read.")] = ""
    attempts: Annotated[tuple[str, ...], Option(derived=True)] = ()
    errors: Annotated[tuple[str, ...], Option(derived=True)] = ()
    triggers: Annotated[tuple[str, ...], Option(derived=True)] = ()
    """What the router saw in it; the critic is told."""
    answer: Annotated["VetResult | None", Option(derived=True)] = None
    """What was said of it without a debate; then nobody is asked."""


class VetResult(Result):
    outcome: Outcome
    kind: Literal["planning", "failure"]
    debated: bool
    stakes: Stakes
    resolution: Resolution
    rule: str
    """The deciding rule, in words."""
    rationale: str
    modifications: tuple[str, ...] = ()
    next_approach: str = ""
    escalate_to: str = ""
    next_attempt_limit: int | None = None
    risks: tuple[str, ...] = ()
    advocate: Claim | Diagnosis | None = None
    critic: Objection | BlindSpot | None = None
    rounds: int = 0


def verdict(given: VetInput, resolution: Resolution, rule: str, note: str = "", limit: int | None = None) -> VetResult:
    outcomes: dict[Resolution, Outcome] = {
        "PROCEED": "proceed", "MODIFY": "modify", "RETRY": "retry", "PIVOT": "pivot", "ESCALATE": "escalate",
    }  # fmt: skip
    return VetResult(
        outcome=outcomes[resolution],
        kind=given.kind,
        debated=True,
        stakes=given.stakes,
        resolution=resolution,
        rule=rule,
        rationale=brief(f"{rule}; {note}" if note else rule),
        escalate_to=HUMAN if resolution == "ESCALATE" else "",
        next_attempt_limit=limit,
    )


def cut_short(given: VetInput, cut: SessionStopped, room: Room) -> VetResult:
    """Unfinished: a person must look, or the session is resumed."""
    room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    result = verdict(given, "ESCALATE", "the debate was cut short", str(cut))
    return result.model_copy(update={"outcome": cut.kind, "debated": False})


async def is_settled(clear: Clear, question: str, text: str, given: VetInput, room: Room) -> bool:
    """By the rules; if they do not say, by a model; if that does not say, yes."""
    if clear != "unclear":
        return clear == "yes"
    if not room.has_model("judge"):
        return True
    asked = prompt(
        "judge",
        question=question,
        text=fence_text(text),
        action=fence_text(show(fit_text("action", given.action, room.allowance() // 2), "the judge", room).join()),
        form=instructions(Opinion),
    )
    opinion = present(await room.ask(Ask("judge", "synthesis", 1, prompt("asked"), asked, Opinion, SYNTHESIS_TOKENS)))
    return True if opinion is None else opinion.answer


def present(answer: T | Absent) -> T | None:
    return None if isinstance(answer, Absent) else answer


def render_case(given: VetInput, room: Room) -> str:
    """The action, its context, every attempt and every error. If that does not fit, the oldest attempts are left out
    first."""
    what = TextPart("Task" if given.kind == "failure" else "Action", given.action)
    attempts = [TextPart(f"Attempt {number}", text) for number, text in enumerate(given.attempts, 1)]
    errors = [TextPart(f"Error {number}", text) for number, text in enumerate(given.errors, 1)]
    order = [part for part in (what, *attempts, *errors, TextPart("Context", given.context)) if part.text.strip()]
    weighty = [part for part in (what, order[-1], *_newest(attempts, errors)) if part in order]
    fitted = show(fit_parts(list(dict.fromkeys(weighty)), room.allowance()), "the seats", room)
    kept = {part.name: part.text for part in fitted.parts}
    lines = [f"{part.name}:\n{fence_text(kept[part.name])}" for part in order if part.name in kept]
    return "\n\n".join([*lines, *filter(None, [fitted.note]), f"Stakes: {given.stakes}"])


def _newest(attempts: Sequence[TextPart], errors: Sequence[TextPart]) -> list[TextPart]:
    """The last attempt, the last error, those before them, and so on."""
    pairs = zip_longest(reversed(attempts), reversed(errors))
    return [part for pair in pairs for part in pair if part is not None]


def render_notices(given: VetInput) -> str:
    return f"Noticed in it: {', '.join(given.triggers)}\n\n" if given.triggers else ""


def list_texts(texts: Sequence[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def brief(text: str) -> str:
    """One line within the token limit of a synthesis."""
    line, longest = " ".join(text.split()), int(SYNTHESIS_TOKENS * CHARACTERS_PER_TOKEN)
    return line if len(line) <= longest else line[: longest - 1] + "…"
