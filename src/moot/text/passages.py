"""Quotes passages of files with their place, and names what is not quoted."""

from collections.abc import Sequence

from moot.core.types import Code, Passage
from moot.text.excerpts import CaveatSink, Fitted, TextPart, show
from moot.text.render import fence_text

HEAD = "Files it is about. They do not fit whole; these passages have the most words in common with the task:"


def render_passages(passages: Sequence[Passage], code: Code, room: CaveatSink) -> str:
    language = {file.path: file.language for file in code.files}
    parts = [
        TextPart(p.path, f"{p.path}:{p.first}-{p.last}\n{fence_text(p.text, language.get(p.path, 'text'))}")
        for p in passages
    ]
    shown = show(Fitted(tuple(parts), list_missing(passages, code)), "the seats", room)
    return "\n\n".join([HEAD, *(part.text for part in shown.parts)]) + "\n\n"


def list_missing(passages: Sequence[Passage], code: Code) -> tuple[str, ...]:
    missing = []
    for file in code.files:
        own = [passage for passage in passages if passage.path == file.path]
        lines, quoted = file.text.count("\n") + 1, sum(passage.last - passage.first + 1 for passage in own)
        if quoted < lines:
            missing.append(f"{file.path}: {quoted} of {lines} lines shown, those that fit the task")
    return tuple(missing)
