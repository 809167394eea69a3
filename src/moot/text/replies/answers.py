"""From the JSON pieces of a reply to the one answer they give; two answers that differ are none."""

from pydantic import BaseModel, JsonValue

from moot.core.errors import ParseError
from moot.text.replies.fit import Raw, by_slot
from moot.text.replies.jsonish import Pieces, sole_object
from moot.text.replies.shape import Slot, only_list, required

DEEPEST_WRAPPER = 3


def sole_answer(text: str, shape: type[BaseModel]) -> Raw:
    """A reply that is one JSON object of the shape: there is nothing else in it to be read."""
    said = sole_object(text)
    raw = by_slot(said, shape) if said is not None else {}
    return raw if required(shape) <= raw.keys() else {}


def objects(pieces: Pieces, shape: type[BaseModel]) -> Raw:
    """What the objects of the shape among the pieces say together."""
    merged: Raw = {}
    for piece in pieces.found:
        for name, said in _object(piece.value, shape, DEEPEST_WRAPPER).items():
            if name in merged and merged[name] != said:
                raise ParseError(f"the reply holds different answers for {name}; give one")
            merged[name] = said
    if merged and pieces.ragged:
        raise ParseError("the JSON is not complete")
    return merged


def bare_items(pieces: Pieces, shape: type[BaseModel], *, whole: bool) -> Raw:
    """Items without the object around them, where only one kind of item can be meant.
    In a reply that was cut off only a list can be known to be complete."""
    slot = only_list(shape)
    if slot is None or pieces.ragged:
        return {}
    found: list[JsonValue] = []
    for piece in pieces.found:
        entries = piece.value if isinstance(piece.value, list) else [piece.value] if whole else []
        if entries and not _object(piece.value, shape, DEEPEST_WRAPPER):
            found += [entry for entry in entries if _is_item(entry, slot)]
    return {slot.name: found} if found else {}


def _object(value: JsonValue, shape: type[BaseModel], depth: int) -> Raw:
    """An object of the shape, also one wrapped in another or in a list."""
    if isinstance(value, list):
        return _object(value[0], shape, depth - 1) if len(value) == 1 and depth else {}
    if not isinstance(value, dict):
        return {}
    raw = by_slot(value, shape)
    if raw.keys() & required(shape):
        return raw
    inner = [inside for inside in value.values() if isinstance(inside, dict)]
    return _object(inner[0], shape, depth - 1) if len(inner) == 1 and depth else raw


def _is_item(value: JsonValue, slot: Slot) -> bool:
    return isinstance(value, dict) and slot.shape is not None and bool(by_slot(value, slot.shape))
