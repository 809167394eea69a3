"""The one tolerant reader of replies, and the one writer of what form a reply should have."""

import re
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from pydantic import BaseModel, JsonValue

from moot.errors import ParseError
from moot.replies.fences import code_blocks
from moot.replies.fit import Raw, Unfit, by_slot, fit
from moot.replies.form import instructions, native_schema
from moot.replies.jsonish import values
from moot.replies.labelled import labelled
from moot.replies.shape import Also, CodeBlock, Fenced, Slot, Synonyms, Title, slots

__all__ = [
    "Also", "CodeBlock", "Fenced", "ParseError", "Read", "Synonyms", "Title", "instructions", "native_schema", "read",
]  # fmt: skip

T = TypeVar("T", bound=BaseModel)
THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Read(Generic[T]):
    value: T
    dropped: tuple[str, ...] = ()
    """Items that could not be read, when the reader was told to keep the rest."""


def read(text: str, shape: type[T], *, whole: bool = True, salvage: bool = False) -> Read[T]:
    """The reply as a `shape`: JSON first, labelled text second, `ParseError` third.

    `whole=False` says the provider cut the reply off: then only a complete JSON object counts.
    `salvage=True` keeps the readable items of a list and reports the others.
    """
    text = THINKING.sub("", text)
    if not text.strip():
        raise ParseError("the reply is empty")
    complaints: list[str] = []
    for raw in _readings(text, shape, whole=whole, complaints=complaints):
        unfit = Unfit(salvage=salvage)
        try:
            return Read(cast(T, fit(raw, shape, unfit)), tuple(unfit.dropped))
        except ParseError as error:
            complaints.append(str(error))
    if not whole:
        raise ParseError("the reply was cut off before it was complete; answer more briefly")
    raise ParseError(complaints[0] if complaints else "the reply holds none of the fields asked for")


def _readings(text: str, shape: type[BaseModel], *, whole: bool, complaints: list[str]) -> list[Raw]:
    code = {slot.name: _code(text, slot, whole=whole) for slot in slots(shape) if slot.kind == "code"}
    code = {name: found for name, found in code.items() if found}
    readings: list[Raw] = []
    for value in values(text):
        try:
            raw = _from_json(value, shape)
        except ParseError as error:
            complaints.append(str(error))
            continue
        if raw:
            readings.append({**code, **raw})
    if len({repr(sorted(r.items())) for r in readings}) > 1:
        readings = [_one_answer(readings, shape)]
    if whole and (not readings or code) and (raw := labelled(text, shape)):
        readings.append({**raw, **code})
    return readings


def _one_answer(readings: list[Raw], shape: type[BaseModel]) -> Raw:
    """Several JSON answers: the only full one, or their lists together; which of two is meant is not ours to guess."""
    required = {slot.name for slot in slots(shape) if slot.required}
    full = [raw for raw in readings if required <= raw.keys()]
    if len(full) == 1:
        return full[0]
    lists = {slot.name for slot in slots(shape) if slot.kind in ("items", "texts")}
    if not all(raw.keys() <= lists for raw in full or readings):
        raise ParseError(f"the reply holds {len(readings)} different answers; give one")
    joined: dict[str, list[object]] = {}
    for raw in full or readings:
        for name, said in raw.items():
            joined.setdefault(name, []).extend(said if isinstance(said, list) else [said])
    return dict(joined)


def _from_json(value: JsonValue, shape: type[BaseModel]) -> Raw:
    """An object of the shape, one wrapped in another, a bare list of its items, or a single item."""
    only = [slot for slot in slots(shape) if slot.kind == "items" and slot.required]
    if isinstance(value, list):
        return {only[0].name: value} if len(only) == 1 and value else {}
    if not isinstance(value, dict):
        return {}
    raw = _with_code(by_slot(value, shape), shape)
    if any(slot.name in raw for slot in slots(shape) if slot.required):
        return raw
    if len(only) == 1 and only[0].shape:
        item = by_slot(value, only[0].shape)
        if {slot.name for slot in slots(only[0].shape) if slot.required} <= item.keys():
            return {only[0].name: [value]}
    inner = [inside for inside in value.values() if isinstance(inside, dict)]
    return _from_json(inner[0], shape) if len(inner) == 1 else raw


def _with_code(raw: Raw, shape: type[BaseModel]) -> Raw:
    """Code that a model put into the JSON all the same."""
    for slot in slots(shape):
        if slot.kind == "code" and slot.name in raw:
            said = raw.pop(slot.name)
            if isinstance(said, str) and said.strip():
                raw[slot.name] = code_blocks(said, whole=True) or [CodeBlock(path="", text=said.rstrip("\n") + "\n")]
    return raw


def _code(text: str, slot: Slot, *, whole: bool) -> list[CodeBlock]:
    """The fenced blocks, from the slot's own label on when the reply has it."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        words = re.sub(r"[^a-z]+", "_", line.lower()).strip("_")
        if words in slot.labels and (after := code_blocks("\n".join(lines[number + 1 :]), whole=whole)):
            return after
    return [b for b in code_blocks(text, whole=whole) if not b.text.lstrip().startswith(("{", "["))]
