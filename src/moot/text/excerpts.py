"""The one way to truncate: what is left out is named in the prompt and in the result.

Nothing else shortens the material of a prompt. `fit_text` cuts one text, `fit_parts` several that share the space; both
return what is shown and, in words, what is not. `show` passes the words to the room, which adds them to `degraded`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

CHARACTERS_PER_TOKEN = 3.5
"""A cautious average over code and prose; the allowance is a guard, not an invoice."""
LEAST = 200
"""Characters. A part with less space is left out."""
NOT_SHOWN = "not shown"
MOST_NAMED = 20
"""The result names this many and counts the rest."""


class CaveatSink(Protocol):
    def degrade(self, note: str) -> None: ...


@dataclass(frozen=True)
class TextPart:
    name: str
    """A readable name, such as `candidate B`."""
    text: str


@dataclass(frozen=True)
class Fitted:
    parts: tuple[TextPart, ...]
    """The shown parts in the given order; a truncated text says so at its end."""
    missing: tuple[str, ...] = ()

    @property
    def note(self) -> str:
        """The omitted parts, for the end of the material."""
        absent = [words for words in self.missing if words.endswith(NOT_SHOWN)]
        return f"[{name_some(absent, MOST_NAMED, '; ')}: there was no room]" if absent else ""

    def join(self, between: str = "\n") -> str:
        return between.join([*(part.text for part in self.parts), *filter(None, [self.note])])


def fit_text(name: str, text: str, tokens: int) -> Fitted:
    most = max(int(tokens * CHARACTERS_PER_TOKEN), 1)
    return _cut([TextPart(name, text)], [min(len(text), most)], frozenset())


def fit_parts(parts: Sequence[TextPart], tokens: int) -> Fitted:
    """Short parts whole; long ones share the remaining space equally. If the shares become too small to be useful, the
    last parts are left out."""
    most = max(int(tokens * CHARACTERS_PER_TOKEN), 1)
    kept = len(parts)
    while kept > 1 and not _enough(parts[:kept], _shares(parts[:kept], most)):
        kept -= 1
    given = _shares(parts[:kept], most)
    return _cut(parts, [*given, *(0 for _ in parts[kept:])], frozenset(range(kept, len(parts))))


def show(fitted: Fitted, reader: str, room: CaveatSink) -> Fitted:
    """Note what is missing in the result."""
    if fitted.missing:
        room.degrade(f"{reader} did not see everything: {name_some(fitted.missing, MOST_NAMED, '; ')}")
    return fitted


def name_some(names: Sequence[str], most: int = 5, between: str = ", ") -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _shares(parts: Sequence[TextPart], most: int) -> list[int]:
    sizes, left, given = [len(part.text) for part in parts], most, [0] * len(parts)
    for done, place in enumerate(sorted(range(len(parts)), key=lambda at: sizes[at])):
        given[place] = min(sizes[place], left // (len(parts) - done))
        left -= given[place]
    return given


def _enough(parts: Sequence[TextPart], given: Sequence[int]) -> bool:
    return all(size >= min(len(part.text), LEAST) for part, size in zip(parts, given, strict=True))


def _cut(parts: Sequence[TextPart], given: Sequence[int], absent: frozenset[int]) -> Fitted:
    shown, missing = list[TextPart](), list[str]()
    for place, (part, size) in enumerate(zip(parts, given, strict=True)):
        if place in absent:
            missing.append(f"{part.name}: {NOT_SHOWN}")
        elif size >= len(part.text):
            shown.append(part)
        else:
            more = len(part.text) - size
            missing.append(f"{part.name}: {size} of {len(part.text)} characters shown")
            shown.append(TextPart(part.name, f"{part.text[:size].rstrip()}\n[cut here: {more} more characters]"))
    return Fitted(tuple(shown), tuple(missing))
