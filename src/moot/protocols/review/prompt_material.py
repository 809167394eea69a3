"""An artefact and its context as prompt material."""

from collections.abc import Sequence

from moot.core.room import Room
from moot.evidence.artefacts.checks import gravest
from moot.evidence.artefacts.values import Artefact, ArtefactFault, Challenge
from moot.protocols.review.review_state import ReviewState
from moot.text.excerpts import TextPart, fit_parts, fit_text, show
from moot.text.render import fence_text


def as_document(state: ReviewState, room: Room) -> str:
    """The artefact in a fence; what does not fit is cut at the end, noted here and in the result."""
    shown = show(fit_text(state.artefact.path, state.text, room.allowance()), "the seats", room)
    state.partly_seen = state.partly_seen or bool(shown.missing)
    return fence_text(shown.join(), "markdown")


def as_context(artefact: Artefact, room: Room) -> str:
    if not artefact.context.strip():
        return ""
    shown = show(fit_text("the project", artefact.context, room.allowance()), "the seats", room)
    return f"The project:\n\n{fence_text(shown.join(), 'markdown')}\n\n"


def list_faults(head: str, faults: Sequence[ArtefactFault], room: Room) -> str:
    """Worst first, within an eighth of a prompt's material."""
    parts = [TextPart(f"the fault in line {f.line}", f"- line {f.line}: {f.what}") for f in gravest(faults)]
    lines = show(fit_parts(parts, room.allowance() // 8), "the seats", room).join()
    return f"{head}\n\n{fence_text(lines, 'text')}\n\n" if parts else ""


def list_challenges(challenges: Sequence[Challenge]) -> str:
    lines = []
    for c in challenges:
        lines += [f"{c.id} ({c.severity}, {c.category}): {c.concern}", f"  evidence: {c.evidence}"]
        lines += [f"  recommendation: {c.recommendation}"] if c.recommendation else []
    return fence_text("\n".join(lines), "text")
