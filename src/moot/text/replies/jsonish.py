"""JSON in a reply: bare, fenced, or inside prose; slips are repaired, nothing is invented.

Our own instead of a JSON repair library: those complete a cut-off reply, and half an answer would pass for a whole one.
"""

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, JsonValue

from moot.core.errors import ParseError
from moot.text.replies.fences import Block
from moot.text.replies.fit import Raw, by_slot
from moot.text.replies.mend import mend_json, requote_lines
from moot.text.replies.shape import Slot, label_key, labels, list_required, only_list, slots

KEY = re.compile(r'"([^"\\\n]{1,60})"\s*:')
OPENING = re.compile(r'(?:\[\s*)?\{\s*"([^"\\\n]{1,60})"\s*:')
MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}\[\]]', re.DOTALL)
DEEPEST = 40
DEEPEST_WRAPPER = 3
MOST_PATCHED = 4
"""Consecutive pieces that need more than comma repair; each costs a scan to the end of the reply."""
DECODER = json.JSONDecoder(
    strict=False,  # real newlines inside strings are a slip, not an error
    object_pairs_hook=lambda pairs: _object(pairs),
    parse_constant=lambda word: _refuse(word),
    parse_float=lambda digits: _finite(digits),
)


@dataclass(frozen=True)
class JsonPiece:
    value: JsonValue
    start: int
    end: int
    patched: bool = False


@dataclass(frozen=True)
class JsonPieces:
    found: tuple[JsonPiece, ...] = ()
    ragged: bool = False
    """Unfinished JSON: what precedes it may be incomplete."""


def sole_answer(text: str, shape: type[BaseModel]) -> Raw:
    """A reply that is one JSON object of the shape and nothing else."""
    said = sole_object(text)
    raw = by_slot(said, shape) if said is not None else {}
    return raw if list_required(shape) <= raw.keys() else {}


def objects(said: JsonPieces, shape: type[BaseModel]) -> Raw:
    """The combined content of all objects of the shape."""
    merged: Raw = {}
    for piece in said.found:
        for name, value in _find_object(piece.value, shape, DEEPEST_WRAPPER).items():
            if name in merged and merged[name] != value:
                raise ParseError(f"the reply holds different answers for {name}; give one")
            merged[name] = value
    if merged and said.ragged:
        raise ParseError("the JSON is not complete")
    return merged


def bare_items(said: JsonPieces, shape: type[BaseModel], *, whole: bool) -> Raw:
    """Items without an enclosing object, if only one kind of item can be meant. In a cut-off reply only a list can be
    known to be complete."""
    slot = only_list(shape)
    if slot is None or said.ragged:
        return {}
    found: list[JsonValue] = []
    for piece in said.found:
        entries = piece.value if isinstance(piece.value, list) else [piece.value] if whole else []
        if entries and not _find_object(piece.value, shape, DEEPEST_WRAPPER):
            found += [entry for entry in entries if _is_item(entry, slot)]
    return {slot.name: found} if found else {}


def pieces(text: str, blocks: list[Block], shape: type[BaseModel]) -> JsonPieces:
    """Every JSON object or list in the text, outside of code blocks. A broken one that was meant as an answer is an
    error: its inner parts are never offered alone, because half an answer must not pass for a whole one."""
    known = labels(shape)
    last = max((key.start() for key in KEY.finditer(text) if label_key(key[1]) in known), default=-1)
    prose = without_code(text, blocks) if last >= 0 else ""
    found: list[JsonPiece] = []
    at = 0
    while (opening := OPENING.search(prose, at)) and opening.start() < last:
        end = find_closing(text, opening.start())
        if piece := _sound(text, opening.start(), end) or _patch_json(text, opening, end, shape):
            found.append(piece)
            at = piece.end
            if sum(piece.patched for piece in found[-MOST_PATCHED:]) == MOST_PATCHED:
                raise ParseError("the JSON is not valid in too many places")
        elif end:
            at = end
        else:
            return JsonPieces(tuple(found), ragged=True)
    return JsonPieces(tuple(found))


def sole_object(text: str) -> dict[str, JsonValue] | None:
    """The text, if it is exactly one valid JSON object: the common, fast case."""
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}":
        return None
    try:
        value, end = _decode(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and end == len(text) else None


def decode_json(text: str) -> JsonValue | None:
    text = text.strip()
    if text[:1] not in ("{", "["):
        return None
    for source in (text, mend_json(text), mend_json(requote_lines(text))):
        try:
            value, end = _decode(source)
        except ValueError:
            continue
        if not source[end:].strip():
            return value
    return None


def without_code(text: str, blocks: list[Block]) -> str:
    """Blank out code blocks; every other character keeps its position."""
    lines = text.split("\n")
    for block in blocks:
        if not block.holds_json:
            for number in range(block.start, min(block.end + 1, len(lines))):
                lines[number] = " " * len(lines[number])
    return "\n".join(lines)


def _sound(text: str, start: int, end: int | None) -> JsonPiece | None:
    """Valid JSON, except for commas and comments."""
    own = text[start:end] if end else ""
    for source in (own, mend_json(own)) if own else ():
        with suppress(ValueError):
            return JsonPiece(_decode(source)[0], start, start + len(own))
    return None


def _patch_json(text: str, opening: re.Match[str], end: int | None, shape: type[BaseModel]) -> JsonPiece | None:
    """JSON with broken quotes, whose end is known only after repair."""
    if not _is_attempt(text, opening, end, shape):
        return None
    tail = text[opening.start() :]
    source = mend_json(requote_lines(tail))
    try:
        value, stop = _decode(source)
    except ValueError:
        raise ParseError(_complaint(tail[: end - opening.start()] if end else "")) from None
    return JsonPiece(value, opening.start(), opening.start() + _same_place(stop, source, tail), patched=True)


def _complaint(source: str) -> str:
    try:
        _decode(source)
    except ValueError as error:
        return f"the JSON is not valid: {error}" if source else "the JSON is not complete"
    return "the JSON is not valid"


def _decode(text: str) -> tuple[JsonValue, int]:
    try:
        value, end = DECODER.raw_decode(text)
    except RecursionError:
        raise ParseError("the JSON is nested too deeply") from None
    if text.count("{", 0, end) + text.count("[", 0, end) < DEEPEST:  # the usual case: too few to be nested too deeply
        return value, end
    level: list[JsonValue] = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return value, end
    raise ParseError("the JSON is nested too deeply")


def _inside(value: JsonValue) -> list[JsonValue]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _is_attempt(text: str, opening: re.Match[str], end: int | None, shape: type[BaseModel]) -> bool:
    """Whether a broken piece was meant as an answer: it begins a line with one of our labels, or contains a required
    one. Anything else is quoted code or a payload."""
    start = opening.start()
    before = text[text.rfind("\n", 0, start) + 1 : start]
    if label_key(opening[1]) in labels(shape) and not before.strip(" \t>*-`#"):
        return True
    wanted = {label for slot in slots(shape) if slot.required and slot.kind != "code" for label in slot.labels}
    return any(label_key(key[1]) in wanted for key in KEY.finditer(text, start, end or len(text)))


def _same_place(end: int, source: str, original: str) -> int:
    """Map a position in repaired JSON to the original: repair never moves anything to another line."""
    number = source.count("\n", 0, end)
    lines = original.split("\n")
    rest = source[end:].split("\n", 1)[0]
    before = sum(len(line) + 1 for line in lines[:number])
    return before + len(lines[number]) - (len(rest) if lines[number].endswith(rest) else 0)


def find_closing(text: str, start: int) -> int | None:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for mark in MARKS.finditer(text, start):
        if mark[0] in "{[":
            depth += 1
        elif mark[0] in "}]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):  # a second `vulnerabilities: []` must not overwrite the first
        raise ValueError("a key stands twice")
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")


def _find_object(value: JsonValue, shape: type[BaseModel], depth: int) -> Raw:
    """An object of the shape, also inside another object or a list."""
    if isinstance(value, list):
        return _find_object(value[0], shape, depth - 1) if len(value) == 1 and depth else {}
    if not isinstance(value, dict):
        return {}
    raw = by_slot(value, shape)
    if raw.keys() & list_required(shape):
        return raw
    inner = [inside for inside in value.values() if isinstance(inside, dict)]
    return _find_object(inner[0], shape, depth - 1) if len(inner) == 1 and depth else raw


def _is_item(value: JsonValue, slot: Slot) -> bool:
    return isinstance(value, dict) and slot.shape is not None and bool(by_slot(value, slot.shape))
