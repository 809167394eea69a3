"""Code in a reply: fenced blocks, under their label or elsewhere, and code inside JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from moot.core.errors import ParseError
from moot.text.replies.fences import Block, blocks, code_of
from moot.text.replies.fit import Raw
from moot.text.replies.labelled import Section
from moot.text.replies.shape import CodeBlock, Slot, is_blank, slots


@dataclass(frozen=True)
class FoundCode:
    raw: Raw
    blocks: tuple[Block, ...]
    """The fenced blocks it was taken from; they are not part of the surrounding text."""


def code_in(text: str, fences: Sequence[Block], parts: Sequence[Section], shape: type[BaseModel]) -> FoundCode:
    """The fenced blocks of each code slot; an unclosed block may be half a file."""
    found: Raw = {}
    taken: list[Block] = []
    for slot in slots(shape):
        if slot.kind == "code":
            own = _under_label(slot, fences, parts) or [block for block in fences if not block.holds_json]
            if own and not own[-1].closed:
                raise ParseError(f"the code block of {slot.name} is never closed")
            taken += own
            written = [block for block in _collect_blocks(own, text.split("\n")) if not is_blank(slot, block.text)]
            if written:
                found[slot.name] = written
    return FoundCode(found, tuple(taken))


def with_code(raw: Raw, fenced: Raw, shape: type[BaseModel]) -> Raw:
    """Add the code to the data; code that is also inside the JSON must be identical."""
    together = {**fenced, **raw}
    for slot in slots(shape):
        if slot.kind == "code" and slot.name in raw:
            inside, beside = code_from(raw[slot.name]), fenced.get(slot.name)
            if isinstance(beside, list) and beside and not _same(inside, beside):
                raise ParseError(f"the reply holds different code for {slot.name}; give it once, in a fenced block")
            together[slot.name] = inside or None
    return together


def code_from(said: object) -> list[CodeBlock]:
    """`"…"`, `{"path": "…"}`"""
    if isinstance(said, dict):
        return [CodeBlock(path=str(path), text=_end_line(text)) for path, text in said.items() if isinstance(text, str)]
    if not isinstance(said, str) or not said.strip():
        return []
    lines = said.split("\n")
    return _collect_blocks(blocks(lines), lines) or [CodeBlock(path="", text=_end_line(said))]


def _under_label(slot: Slot, fences: Sequence[Block], parts: Sequence[Section]) -> list[Block]:
    """The blocks under the best label of the slot that has any."""
    own = sorted((part for part in parts if part.slot is slot), key=lambda part: part.rank)
    for rank in dict.fromkeys(part.rank for part in own):
        numbers = {number for part in own if part.rank == rank for number in part.numbers}
        if under := [block for block in fences if block.start in numbers]:
            return under
    return []


def _collect_blocks(fences: Sequence[Block], lines: list[str]) -> list[CodeBlock]:
    return [code_of(block, lines) for block in fences if any(line.strip() for line in block.lines)]


def _same(one: Sequence[CodeBlock], other: Sequence[CodeBlock]) -> bool:
    return {block.text.strip() for block in one} == {block.text.strip() for block in other}


def _end_line(text: str) -> str:
    return text.rstrip("\n") + "\n"
