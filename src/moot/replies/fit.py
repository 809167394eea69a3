"""From what a reply says to the value asked for: tolerant of form, never of missing content."""

import re

from pydantic import BaseModel, JsonValue, ValidationError

from moot.errors import ParseError
from moot.replies.shape import Slot, label_key, slots

Raw = dict[str, object]
"""Field name -> what the reply says there: text, a number, a list, an object."""

NOTHING = re.compile(
    r"\W*(none|nothing|n/?a|not applicable|nothing (found|to report)"
    r"|(none|no (\w+ ){0,2}(vulnerabilit(y|ies)|issues?|flaws?|findings?|risks?|problems?|objections?|cases|scenarios))"
    r"( (was|were|is|are|have been))?( (found|identified|detected|remaining|left|known))?)\W*",
    re.IGNORECASE,
)
BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Unfit:
    """Items that could not be read, kept so that the loss can be said."""

    def __init__(self, *, salvage: bool) -> None:
        self.salvage = salvage
        self.dropped: list[str] = []


def fit(raw: Raw, shape: type[BaseModel], unfit: Unfit, where: str = "") -> BaseModel:
    """`raw` as a `shape`, or `ParseError` that says what is wrong where."""
    fields: dict[str, object] = {}
    for slot in slots(shape):
        place = f"{where}{slot.name}"
        said = raw.get(slot.name)
        if said is None:
            if slot.required:
                raise ParseError(f"{place} is missing")
            continue
        try:
            fields[slot.name] = value_of(slot, said, unfit, place)
        except ParseError:
            if slot.required:
                raise
    try:
        return shape.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(p) for p in first["loc"])
        raise ParseError(f"{where}{path}: {first['msg']}") from None


def by_slot(said: dict[str, JsonValue], shape: type[BaseModel]) -> Raw:
    """A JSON object with its keys matched to the shape's fields, whatever their spelling."""
    raw: Raw = {}
    for key, value in said.items():
        slot = next((s for s in slots(shape) if label_key(key) in s.labels), None)
        if slot is not None and value is not None:
            if slot.name in raw and raw[slot.name] != value:
                raise ParseError(f"{slot.name} stands twice, with different values")
            raw[slot.name] = value
    return raw


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
            return texts_of(said, place)
        case "mapping":
            return mapping_of(said, place)
        case "items":
            return items_of(slot, said, unfit, place)
        case "item":
            return item_of(slot, said, unfit, place)
        case "code":
            return said


def text_of(said: object, place: str) -> str:
    if isinstance(said, str):
        return said.strip()
    if isinstance(said, bool) or said is None:
        raise ParseError(f"{place} is not text")
    if isinstance(said, int | float):
        return str(said)
    if isinstance(said, list) and all(isinstance(line, str) for line in said):
        return "\n".join(said).strip()
    if isinstance(said, dict) and said and all(isinstance(part, str) for part in said.values()):
        return "; ".join(f"{name}: {part}" for name, part in said.items())
    raise ParseError(f"{place} is not text")


def number_of(said: object, place: str) -> float | int:
    if isinstance(said, int | float) and not isinstance(said, bool):
        return said
    if isinstance(said, str):
        text = said.strip().strip("*`\"' ")
        if share := re.match(r"(\d+(?:\.\d+)?)\s*(?:/\s*(\d+)|(%))", text):
            whole = 100.0 if share[3] else float(share[2])
            if whole:
                return float(share[1]) / whole
        numbers = NUMBER.findall(text)
        if len(numbers) == 1:
            return float(numbers[0]) if "." in numbers[0] else int(numbers[0])
    raise ParseError(f"{place}: {_quoted(said)} is not one number")


def yesno_of(said: object, place: str) -> bool:
    if isinstance(said, bool):
        return said
    words = re.findall(r"[a-z]+", said.lower()) if isinstance(said, str) else []
    if words and words[0] in ("true", "yes", "false", "no"):
        return words[0] in ("true", "yes")
    raise ParseError(f"{place}: {_quoted(said)} is neither yes nor no")


def word_of(slot: Slot, said: object, place: str) -> str:
    """The one word of the closed set that is named; two different ones are no answer."""
    text = label_key(said) if isinstance(said, str) else ""
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
    raise ParseError(f"{place}: {_quoted(said)} is not one of {', '.join(slot.words)}")


def texts_of(said: object, place: str) -> list[str]:
    if isinstance(said, list):
        return [t for t in (text_of(entry, place) for entry in said) if t and not NOTHING.fullmatch(t)]
    text = text_of(said, place)
    if not text:
        raise ParseError(f"{place} is empty; write NONE if there is nothing")
    if NOTHING.fullmatch(text) or text == "[]":
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) == 1:
        return _one_line(lines[0])
    if not any(BULLET.match(line) for line in lines):
        return [line.strip() for line in lines]
    entries: list[str] = []
    for line in lines:
        if BULLET.match(line) or not entries:
            entries.append(BULLET.sub("", line).strip())
        else:
            entries[-1] += " " + line.strip()
    return [entry for entry in entries if not NOTHING.fullmatch(entry)]


def _one_line(line: str) -> list[str]:
    """`[a, b]` and `V-1, V-2` are lists; a sentence with a comma in it is one entry."""
    text = BULLET.sub("", line).strip()
    if text.startswith("[") and text.endswith("]"):
        return [piece.strip().strip("\"'`") for piece in text[1:-1].split(",") if piece.strip()]
    pieces = [piece.strip() for piece in re.split(r"[;,]", text)]
    if len(pieces) > 1 and all(piece and " " not in piece for piece in pieces):
        return [piece.strip("\"'`") for piece in pieces]
    return [piece for piece in (p.strip() for p in text.split(";")) if piece]


def mapping_of(said: object, place: str) -> dict[str, str]:
    if isinstance(said, list):  # `[{"id": "V-1", "fix": "…"}]`
        pairs = [list(entry.values()) for entry in said if isinstance(entry, dict)]
        if len(pairs) != len(said) or any(len(pair) < 2 for pair in pairs):
            raise ParseError(f"{place} is not an object of names and texts")
        return {text_of(pair[0], place): text_of(pair[1], place) for pair in pairs}
    if isinstance(said, dict):
        return {str(key): text_of(value, place) for key, value in said.items()}
    text = text_of(said, place)
    if NOTHING.fullmatch(text):
        return {}
    entries: dict[str, str] = {}
    for line in text.splitlines():
        if found := re.match(r"\s*(?:[-*+•]\s+)?[*`\"]*([\w.-]{1,60})[*`\"]*\s*[:=]\s*[*]*\s*(.+)", line):
            entries[found[1]] = found[2].strip()
        elif entries and line.strip():
            last = next(reversed(entries))
            entries[last] += " " + line.strip()
    if not entries:
        raise ParseError(f"{place} holds no `name: text` lines; write NONE if there is nothing")
    return entries


def items_of(slot: Slot, said: object, unfit: Unfit, place: str) -> list[BaseModel]:
    if isinstance(said, str) and (NOTHING.fullmatch(said) or said.strip() == "[]"):
        return []
    if isinstance(said, dict):
        if slot.shape and by_slot(said, slot.shape).keys() >= {s.name for s in slots(slot.shape) if s.required}:
            said = [said]
        else:  # `{"V-1": {…}, "V-2": {…}}`
            said = list(said.values())
            if not said:
                raise ParseError(f"{place} is empty; write [] if there is nothing")
    if not isinstance(said, list):
        raise ParseError(f"{place} is not a list")
    entries = [e for e in said if not (isinstance(e, str) and NOTHING.fullmatch(e))]
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


def item_of(slot: Slot, said: object, unfit: Unfit, where: str) -> BaseModel:
    assert slot.shape is not None
    if not isinstance(said, dict):
        raise ParseError(f"{where.rstrip('.')} is not an object")
    return fit(by_slot(said, slot.shape), slot.shape, unfit, where)


def _quoted(said: object) -> str:
    text = str(said)
    return repr(text if len(text) <= 60 else text[:57] + "…")
