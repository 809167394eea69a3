"""CHALLENGES and NO OBJECTIONS: the documents of an adversary's turn."""

from collections.abc import Mapping, Sequence

from moot.evidence.artefacts.values import Assessment, Challenge, Convergence
from moot.text.markdown import normalise

ADVICE: dict[Convergence, str] = {
    "continue": "continue debate",
    "converging": "accept with noted risks",
    "deadlock": "escalate to user",
}


def challenges_document(
    challenges: Sequence[Challenge],
    number: int,
    most: int,
    assessments: Sequence[Assessment] = (),
    convergence: Convergence | None = None,
    remaining: int | None = None,
) -> str:
    parts = [f"## CHALLENGES\n\n**Round:** {number}/{most}", *map(_challenge, challenges)]
    if assessments:
        parts.append("### Defense Assessment\n\n" + _table(assessments))
    if convergence is not None:
        count = len(challenges) if remaining is None else remaining
        parts.append(
            f"### Convergence Assessment\n\n**Status:** {convergence}\n**Remaining concerns:** {count}\n"
            f"**Recommendation:** {ADVICE[convergence]}"
        )
    return "\n\n".join(parts) + "\n"


def no_objections_document(number: int, most: int, settled: Mapping[str, str]) -> str:
    """No challenges remain; lists how each earlier one was settled."""
    said = "All challenges from the previous round are settled." if settled else "There is nothing to hold against it."
    lines = "\n".join(f"- [{name}]: {one_line(how)}" for name, how in settled.items()) or "- no challenge was raised"
    return (
        f"## NO OBJECTIONS\n\n**Round:** {number}/{most}\n\n{said}\n\n### Summary\n{lines}\n\n"
        "### Confidence\nThe artefact is sound. Proceeding is appropriate.\n"
    )


def _challenge(c: Challenge) -> str:
    lines = [
        f"### Challenge {c.number}: {one_line(c.category)}",
        f"**Concern:** {one_line(c.concern)}",
        f"**Evidence:** {one_line(c.evidence)}",
        f"**Severity:** {c.severity}",
    ]
    return "\n".join([*lines, *([f"**Recommendation:** {one_line(c.recommendation)}"] if c.recommendation else [])])


def _table(assessments: Sequence[Assessment]) -> str:
    rows = [f"| {_cell(a.challenge)} | {a.status} | {_cell(a.notes)} |" for a in assessments]
    return "\n".join(["| Previous Challenge | Status | Notes |", "|---|---|---|", *rows])


def one_line(text: str) -> str:
    """A text cannot end its own entry and begin another."""
    return " ".join(text.split())


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")


def find_challenges(reference: str, challenges: Sequence[Challenge]) -> list[Challenge]:
    """The challenges meant by `C2`, `Challenge 2`, `2`, `all` or a concern in its own words."""
    words = normalise(reference).split()
    if words in (["all"], ["all", "challenges"], ["every", "challenge"]):
        return list(challenges)
    numbers = {int(w.removeprefix("c")) for w in words if w.removeprefix("c").isdecimal() and len(w) < 6}
    if numbered := [c for c in challenges if c.number in numbers]:
        return numbered
    said = " ".join(words)
    return [c for c in challenges if len(words) > 2 and (said in normalise(c.concern) or normalise(c.concern) in said)]
