"""An artefact and what belongs to it, as material for a prompt."""

from collections.abc import Sequence

from moot.artefacts.checks import gravest
from moot.artefacts.values import Artefact, Challenge, Fault
from moot.protocols.talk import Talk
from moot.render import CHARACTERS_PER_TOKEN, fenced
from moot.room import Room

MOST_FAULTS = 8


def as_document(talk: Talk, room: Room) -> str:
    """The artefact in a fence; what does not fit is left out at its end, and that is said here and in the result."""
    most = int(room.allowance() * CHARACTERS_PER_TOKEN)
    if len(talk.text) <= most:
        return fenced(talk.text, "markdown")
    head = talk.text[:most].rsplit("\n", 1)[0]
    lines, kept = talk.text.count("\n") + 1, head.count("\n") + 1
    note = f"{talk.artefact.path}: {kept} of {lines} lines shown, the rest did not fit"
    talk.partly_seen = True
    room.degrade(f"not everything was seen: {note}")
    return f"{fenced(head, 'markdown')}\n[{note}]"


def as_context(artefact: Artefact) -> str:
    return f"The project:\n\n{fenced(artefact.context, 'markdown')}\n\n" if artefact.context.strip() else ""


def listed_faults(head: str, faults: Sequence[Fault]) -> str:
    lines = [f"- line {f.line}: {f.what}" for f in gravest(faults)[:MOST_FAULTS]]
    return f"{head}\n\n{fenced(chr(10).join(lines), 'text')}\n\n" if lines else ""


def listed_challenges(challenges: Sequence[Challenge]) -> str:
    """Challenges as data for a prompt."""
    lines = []
    for c in challenges:
        lines += [f"{c.id} ({c.severity}, {c.category}): {c.concern}", f"  evidence: {c.evidence}"]
        lines += [f"  recommendation: {c.recommendation}"] if c.recommendation else []
    return fenced("\n".join(lines), "text")
