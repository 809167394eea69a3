"""Headings that are answers: `## NO OBJECTIONS` declares a list empty."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel

from moot.text.replies.fit import Raw
from moot.text.replies.labels import ReplyLine, label_of
from moot.text.replies.shape import Slot, label_key, slots


def with_headings(raw: Raw, lines: Sequence[ReplyLine], shape: type[BaseModel]) -> Raw:
    """Labelled content, completed by headings where there is none."""
    whole = dict(raw)
    for slot in _find_stated(lines, shape):
        assert slot.heading is not None
        if not _has_items(raw.get(slot.name), slot):
            whole[slot.name] = slot.heading.items
    return whole


def find_denied(lines: Sequence[ReplyLine], shape: type[BaseModel]) -> frozenset[str]:
    return frozenset(slot.name for slot in _find_stated(lines, shape) if slot.heading and not slot.heading.items)


def _find_stated(lines: Sequence[ReplyLine], shape: type[BaseModel]) -> Iterator[Slot]:
    marked = [slot for slot in slots(shape) if slot.heading]
    if not marked:
        return
    said = {label.key for line in lines if not line.opaque and (label := label_of(line.text))}
    yield from (slot for slot in marked if slot.heading and label_key(slot.heading.words) in said)


def _has_items(said: object, slot: Slot) -> bool:
    """Whether there are items, complete or not; `- Challenge 1: addressed` in a summary is just a title."""
    titles = {inner.name for inner in slots(slot.shape) if inner.title} if slot.shape else set()
    return isinstance(said, list) and any(isinstance(item, dict) and item.keys() - titles for item in said)
