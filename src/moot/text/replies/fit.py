"""Converts the content of a reply to the requested value: tolerant of form, never of missing content."""

import json
import re

from pydantic import BaseModel, JsonValue, ValidationError

from moot.core.errors import ParseError
from moot.text.replies.shape import MANY, Slot, is_blank, label_key, list_required, slot_for, slots

Raw = dict[str, object]
"""Field name -> content: text, a number, a list, an object."""

NOTHING = re.compile(
    r"\W*(none|nothing|n/?a|not applicable|nothing (found|to report)"
    r"|(none|no (\w+ ){0,2}(vulnerabilit(y|ies)|issues?|flaws?|findings?|risks?|problems?|objections?|cases|scenarios))"
    r"( (was|were|is|are|have been))?( (found|identified|detected|remaining|left|known))?)\W*",
    re.IGNORECASE,
)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)")
MOST = 10**18
SHARE = re.compile(
    r"(?<![\w.-])(\d{1,9}(?:\.\d{1,9})?)\s*(?:(?:/|out of)\s*(\d{1,9})(?![\w/]|\.\d)|%|percent\b)", re.IGNORECASE
)
LONGEST_CHOICE = 500
NAME_KEYS = ("id", "name", "vulnerability", "finding", "key")
TEXT_KEYS = ("fix", "patch", "change", "description", "text", "what")


class Unfit:
    def __init__(self, *, salvage: bool) -> None:
        self.salvage = salvage
        self.dropped: list[str] = []


def fit(raw: Raw, shape: type[BaseModel], unfit: Unfit, where: str = "") -> BaseModel:
    """Convert `raw` to a `shape`, or raise a `ParseError` that says what is wrong where."""
    fields: dict[str, object] = {}
    for slot in slots(shape):
        place = f"{where}{slot.name}"
        said = raw.get(slot.name)
        if said is None:
            if slot.required:
                raise ParseError(f"{place} is missing")
            continue
        try:
            if isinstance(said, str) and is_blank(slot, said):
                raise ParseError(f"{place} repeats the form instead of filling it in")
            fields[slot.name] = value_of(slot, said, unfit, place)
        except ParseError as error:
            if slot.required:
                raise
            unfit.dropped.append(str(error))
    return _validate_fields(fields, shape, unfit, where)


def _validate_fields(fields: dict[str, object], shape: type[BaseModel], unfit: Unfit, where: str) -> BaseModel:
    """An optional field that violates its own bounds is dropped and reported."""
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        wrong = {str(e["loc"][0]) if e["loc"] else "": f"{where}{_path(e['loc'])}: {e['msg']}" for e in error.errors()}
    needed = list_required(shape) | {slot.name for slot in slots(shape) if slot.kind == "code"}
    fatal = [why for name, why in wrong.items() if name in needed or name not in fields]
    if fatal:
        raise ParseError(fatal[0])
    unfit.dropped += wrong.values()
    return _validate_fields({name: value for name, value in fields.items() if name not in wrong}, shape, unfit, where)


def _path(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc)


def by_slot(said: dict[str, JsonValue], shape: type[BaseModel]) -> Raw:
    """Match the keys of a JSON object to the shape's fields, whatever their spelling.

    If two keys mean one field, its own name wins ("title" beside "description"); two different lists are an error.
    """
    heard: dict[str, tuple[int, JsonValue]] = {}
    for key, value in said.items():
        slot = slot_for(label_key(key), shape)
        if slot is None or value is None:
            continue
        rank = slot.labels.index(label_key(key))
        other = heard.get(slot.name)
        if other and other[1] != value and slot.kind in MANY:
            raise ParseError(f"{slot.name} stands twice, with different values")
        if other is None or rank < other[0] or other[1] == "":
            heard[slot.name] = (rank, value)
    return {name: value for name, (_, value) in heard.items()}


def value_of(slot: Slot, said: object, unfit: Unfit, place: str) -> object:
    match slot.kind:
        case "text":
            return text_of(said, place)
        case "number" | "whole":
            return number_of(said, place)
        case "yesno":
            return yesno_of(said, place)
        case "word":
            return word_of(slot, said, place)
        case "texts":
            return texts_of(slot, said, place)
        case "mapping":
            return mapping_of(slot, said, place)
        case "items":
            return items_of(slot, said, unfit, place)
        case "item":
            return item_of(slot, said, unfit, f"{place}.")
        case "code":
            return said


def text_of(said: object, place: str) -> str:
    if isinstance(said, str):
        return said.strip()
    if isinstance(said, list) and said and all(isinstance(line, str) for line in said):
        return "\n".join(said).strip()
    if isinstance(said, int | float | dict) or said:  # `"input": {"name": "x"}`: verbatim
        return json.dumps(said, ensure_ascii=False)
    raise ParseError(f"{place} is not text")


def number_of(said: object, place: str) -> float | int:
    if isinstance(said, int | float) and not isinstance(said, bool) and abs(said) < MOST:
        return said
    text = said if isinstance(said, str) and len(said) <= LONGEST_CHOICE else ""
    shares = SHARE.findall(text)
    rest = NUMBER.findall(SHARE.sub(" ", text))
    if len(shares) == 1 and not rest and float(shares[0][1] or 100):
        return float(shares[0][0]) / float(shares[0][1] or 100)
    if len(rest) == 1 and not shares and abs(float(rest[0])) < MOST:
        return float(rest[0]) if "." in rest[0] else int(rest[0])
    raise ParseError(f"{place}: {_quote_value(said)} is not one number")


def yesno_of(said: object, place: str) -> bool:
    if isinstance(said, bool):
        return said
    words = re.match(r"\W*(true|yes|false|no)\b(?!\W+(?:or|and|true|yes|false|no|idea)\b)", str(said), re.IGNORECASE)
    if isinstance(said, str) and words:
        return words[1].lower() in ("true", "yes")
    raise ParseError(f"{place}: {_quote_value(said)} is neither yes nor no")


def word_of(slot: Slot, said: object, place: str) -> str:
    """The one word of the closed set that is named; two different ones are an error."""
    text = label_key(said) if isinstance(said, str) and len(said) <= LONGEST_CHOICE else ""
    spoken = f"_{text}_"
    named = [word for word in slot.words if f"_{label_key(word)}_" in spoken]
    longest = [w for w in named if not any(w != other and label_key(w) in label_key(other) for other in named)]
    if len(longest) == 1:
        return longest[0]
    if text and not longest and slot.synonyms:
        meant = {word for heard, word in slot.synonyms.words if f"_{label_key(heard)}" in spoken}
        if len(meant) == 1:
            return meant.pop()
        if slot.synonyms.otherwise is not None:
            return slot.synonyms.otherwise
    raise ParseError(f"{place}: {_quote_value(said)} is not one of {', '.join(slot.words)}")


def texts_of(slot: Slot, said: object, place: str) -> list[str]:
    if isinstance(said, list):
        entries = [text_of(entry, place) for entry in said]
    else:
        entries = _entries(text_of(said, place))
        if not entries:
            raise ParseError(f"{place} is empty; write NONE if there is nothing")
    filled = [entry for entry in entries if not is_blank(slot, entry)]
    if entries and not filled:
        raise ParseError(f"{place} repeats the form instead of filling it in")
    return [entry for entry in filled if entry and entry != "[]" and not NOTHING.fullmatch(entry)]


def _entries(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        return _one_line(lines[0])
    if not any(BULLET.match(line) for line in lines):
        return [line.strip() for line in lines]
    entries: list[list[str]] = []
    for line in lines:
        if BULLET.match(line) or not entries:
            entries.append([BULLET.sub("", line).strip()])
        else:
            entries[-1].append(line.strip())
    return [" ".join(entry) for entry in entries]


def _one_line(line: str) -> list[str]:
    """`[V-1, V-2]` and `V-1, V-2` are lists; a sentence with a comma is one entry, and so is a bullet."""
    text = BULLET.sub("", line).strip()
    if text != line.strip():
        return [text]
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    pieces = [piece.strip() for piece in re.split(r"[;,]", inner)]
    if len(pieces) > 1 and all(piece and " " not in piece for piece in pieces):
        return [piece.strip("\"'`") for piece in pieces]
    return [text]


def mapping_of(slot: Slot, said: object, place: str) -> dict[str, str]:
    pairs = _pairs(said, place)
    entries: dict[str, str] = {}
    for name, text in pairs:
        if name in entries and entries[name] != text:
            entries[name] += f"\n{text}"
        elif not NOTHING.fullmatch(text):
            entries[name] = text
    filled = {name: text for name, text in entries.items() if not is_blank(slot, text)}
    if entries and not filled:
        raise ParseError(f"{place} repeats the form instead of filling it in")
    return filled


def _pairs(said: object, place: str) -> list[tuple[str, str]]:
    if isinstance(said, str) and (NOTHING.fullmatch(said) or said.strip() in ("{}", "[]")):
        return []
    if isinstance(said, str) and said.strip():
        said = _entries(said)  # `V-1, V-2`: names without content
    if isinstance(said, dict):
        return [(str(key), text_of(value, place)) for key, value in said.items() if value is not None]
    if isinstance(said, list) and all(isinstance(e, dict) and len(e) > 1 for e in said):
        return [_pair(entry, place) for entry in said]
    if isinstance(said, list) and all(isinstance(e, str) and re.fullmatch(r"[\w.-]{1,60}", e) for e in said):
        return [(name, "") for name in said if not NOTHING.fullmatch(name)]
    raise ParseError(f"{place} holds no `name: text` lines; write NONE if there is nothing")


def _pair(entry: dict[str, object], place: str) -> tuple[str, str]:
    """`{"id": "V-1", "fix": "…"}`"""
    keys = {label_key(key): key for key in entry}
    name = next((keys[key] for key in NAME_KEYS if key in keys), next(iter(entry)))
    rest = [key for key in entry if key != name]
    text = next((keys[key] for key in TEXT_KEYS if keys.get(key) in rest), rest[0])
    return text_of(entry[name], place), text_of(entry[text], place)


def items_of(slot: Slot, said: object, unfit: Unfit, place: str) -> list[BaseModel]:
    entries = [e for e in _as_list(slot, said, place) if not (isinstance(e, str) and NOTHING.fullmatch(e))]
    found: list[BaseModel] = []
    for index, entry in enumerate(entries, start=1):
        try:
            found.append(item_of(slot, entry, unfit, f"{place}[{index}]."))
        except ParseError as error:
            if not unfit.salvage:
                raise
            unfit.dropped.append(str(error))
    if entries and not found:
        raise ParseError(unfit.dropped[-1])
    return found


def _as_list(slot: Slot, said: object, place: str) -> list[object]:
    if isinstance(said, str) and (NOTHING.fullmatch(said) or said.strip() == "[]"):
        return []
    if isinstance(said, list):
        return said
    if not isinstance(said, dict) or not said:
        raise ParseError(f"{place} is not a list; write [] or NONE if there is nothing")
    if slot.shape and list_required(slot.shape) <= by_slot(said, slot.shape).keys():
        return [said]
    return list(said.values())  # `{"V-1": {…}, "V-2": {…}}`


def item_of(slot: Slot, said: object, unfit: Unfit, where: str) -> BaseModel:
    assert slot.shape is not None
    if not isinstance(said, dict):
        raise ParseError(f"{where.rstrip('.')} is not an object")
    return fit(by_slot(said, slot.shape), slot.shape, unfit, where)


def _quote_value(said: object) -> str:
    text = str(said)
    return repr(text if len(text) <= 60 else text[:57] + "…")
