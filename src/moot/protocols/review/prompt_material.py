"""An artefact and what belongs to it, as material for a prompt."""

from collections.abc import Sequence

from moot.core.room import Room
from moot.evidence.artefacts.checks import gravest
from moot.evidence.artefacts.values import Artefact, Challenge, Fault
from moot.protocols.review.review_state import Talk
from moot.text.excerpts import Part, fit_parts, fit_text, show
from moot.text.render import fenced


def as_document(talk: Talk, room: Room) -> str:
    """The artefact in a fence; what does not fit is left out at its end, and that is said here and in the result."""
    shown = show(fit_text(talk.artefact.path, talk.text, room.allowance()), "the seats", room)
    talk.partly_seen = talk.partly_seen or bool(shown.missing)
    return fenced(shown.joined(), "markdown")


def as_context(artefact: Artefact, room: Room) -> str:
    if not artefact.context.strip():
        return ""
    shown = show(fit_text("the project", artefact.context, room.allowance()), "the seats", room)
    return f"The project:\n\n{fenced(shown.joined(), 'markdown')}\n\n"


def listed_faults(head: str, faults: Sequence[Fault], room: Room) -> str:
    """The gravest first; all that an eighth of a prompt's material holds."""
    parts = [Part(f"the fault in line {f.line}", f"- line {f.line}: {f.what}") for f in gravest(faults)]
    lines = show(fit_parts(parts, room.allowance() // 8), "the seats", room).joined()
    return f"{head}\n\n{fenced(lines, 'text')}\n\n" if parts else ""


def listed_challenges(challenges: Sequence[Challenge]) -> str:
    """Challenges as data for a prompt."""
    lines = []
    for c in challenges:
        lines += [f"{c.id} ({c.severity}, {c.category}): {c.concern}", f"  evidence: {c.evidence}"]
        lines += [f"  recommendation: {c.recommendation}"] if c.recommendation else []
    return fenced("\n".join(lines), "text")
