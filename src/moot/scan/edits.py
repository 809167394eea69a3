"""Text edits: byte spans and their replacements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, order=True)
class Edit:
    start: int
    end: int
    new: str = ""


class EditOverlap(ValueError):
    """Two edits overlap."""


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Applies edits from last to first, so that spans stay valid; insertions at one place keep their order."""
    ordered = in_order(edits)
    for edit in reversed(ordered):
        data = data[: edit.start] + edit.new.encode() + data[edit.end :]
    return data


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    for before, after in pairwise(ordered):
        if after.start < before.end:
            raise EditOverlap(f"{before!r} and {after!r}")
    return ordered


def move_offset(byte: int, edits: Sequence[Edit]) -> int:
    """The new offset of an old byte; inside a replaced span, the start of the replacement."""
    shift = 0
    for edit in in_order(edits):
        if edit.end <= byte:
            shift += len(edit.new.encode()) - (edit.end - edit.start)
        elif edit.start <= byte:
            return edit.start + shift
    return byte + shift
