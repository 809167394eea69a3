"""What a reply must contain, derived from the protocol's pydantic shape."""

import re
import types
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

Kind = Literal["text", "number", "whole", "yesno", "word", "texts", "items", "item", "mapping", "code"]
MANY: frozenset[Kind] = frozenset({"texts", "items", "item", "mapping", "code"})
"""Kinds with several values: two different versions contradict each other."""
WORDS = re.compile(r"[^\W_]+")
LONGEST_BLANK = 200
BLANK = re.compile(r"<(?:the|an?|how|what|why|from|your|one of|number|yes or no)\b[^<>=]*>", re.IGNORECASE)


@dataclass(frozen=True)
class Aliases:
    """Other labels that models use for this field, best first."""

    labels: tuple[str, ...]

    def __init__(self, *labels: str) -> None:
        object.__setattr__(self, "labels", labels)


@dataclass(frozen=True)
class Title:
    """An item's bare heading ("1. SQL injection") fills this field if nothing else does."""


@dataclass(frozen=True)
class ExampleKeys:
    """Example keys of a mapping for the form: models copy a mere `<id>`."""

    like: tuple[str, ...]

    def __init__(self, *like: str) -> None:
        object.__setattr__(self, "like", like)


@dataclass(frozen=True)
class SlotHeading:
    """A heading that is the field's content, such as `## NO OBJECTIONS`."""

    words: str
    value: tuple[tuple[tuple[str, str], ...], ...] = ()
    """The items it stands for, each as pairs of field and text."""

    @property
    def items(self) -> list[dict[str, str]]:
        return [dict(item) for item in self.value]


@dataclass(frozen=True)
class Synonyms:
    """Words that models use for a word of the closed set; `otherwise` is the word for everything else."""

    words: tuple[tuple[str, str], ...]
    otherwise: str | None = None


class CodeBlock(BaseModel):
    """A fenced block of a reply, with the path that stood above it, if any."""

    path: str
    text: str


FencedBlocks = tuple[CodeBlock, ...]
"""A field of this type is requested and parsed as fenced blocks."""


@dataclass(frozen=True)
class Slot:
    name: str
    kind: Kind
    required: bool
    about: str = ""
    words: tuple[str, ...] = ()
    shape: type[BaseModel] | None = None
    labels: tuple[str, ...] = ()
    """Its own name first; if a reply uses two of them, the earlier one wins."""
    title: bool = False
    synonyms: Synonyms | None = None
    keys: tuple[str, ...] = ("<id>",)
    heading: SlotHeading | None = None

    @cached_property
    def blanks(self) -> frozenset[str]:
        """What a reply repeats that only copies the form."""
        return frozenset((label_key(blank_of(self)), label_key(_about(self))))


@lru_cache(maxsize=256)
def slots(shape: type[BaseModel]) -> tuple[Slot, ...]:
    return tuple(_slot(name, field) for name, field in shape.model_fields.items())


@lru_cache(maxsize=256)
def has_code(shape: type[BaseModel]) -> bool:
    return any(slot.kind == "code" for slot in slots(shape))


@lru_cache(maxsize=256)
def labels(shape: type[BaseModel]) -> frozenset[str]:
    own = {label for slot in slots(shape) for label in slot.labels}
    return frozenset(own.union(*(labels(slot.shape) for slot in slots(shape) if slot.shape)))


@lru_cache(maxsize=256)
def list_required(shape: type[BaseModel]) -> frozenset[str]:
    """The required fields, except code, which is not part of the data."""
    return frozenset(slot.name for slot in slots(shape) if slot.required and slot.kind != "code")


def only_list(shape: type[BaseModel]) -> Slot | None:
    """The list that bare items belong to, if unambiguous."""
    lists = [slot for slot in slots(shape) if slot.kind == "items" and slot.required]
    return lists[0] if len(lists) == 1 else None


def slot_for(key: str, shape: type[BaseModel] | None) -> Slot | None:
    """The slot with this label; a field's own name takes precedence over another's alias."""
    return _by_label(shape).get(key) if shape else None


@lru_cache(maxsize=256)
def _by_label(shape: type[BaseModel]) -> dict[str, Slot]:
    ranked = [(rank, label, slot) for slot in slots(shape) for rank, label in enumerate(slot.labels)]
    return {label: slot for _, label, slot in sorted(ranked, key=lambda entry: -entry[0])}


@lru_cache(maxsize=4096)
def label_key(text: str) -> str:
    """`**Edge Cases**`, `EDGE_CASES` and `edge-cases` are one label."""
    return "_".join(WORDS.findall(text.lower()))


@lru_cache(maxsize=64)
def native_schema(shape: type[BaseModel]) -> dict[str, object] | None:
    """The schema for providers that can enforce one; None if the reply contains code. All fields are required, in the
    order of the form: a model that may skip a field does, and chooses without giving reasons."""
    if has_code(shape):
        return None
    schema = shape.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def require_all_fields(schema: JsonDict) -> None:
    """Providers that enforce a schema write required fields first, which would put the choice before its reasons, and
    small models skip optional fields. Our parser does without the minor ones."""
    properties = schema.get("properties")
    schema["required"] = [*properties] if isinstance(properties, dict) else []


def is_blank(slot: Slot, text: str) -> bool:
    """Whether a reply only copies the form: `<what is wrong>`, also of another field, or without its brackets. A tag
    such as `<a href=x>` is content."""
    if len(text) > LONGEST_BLANK:
        return False
    return bool(BLANK.fullmatch(text.strip())) or label_key(text) in slot.blanks


def blank_of(slot: Slot) -> str:
    match slot.kind:
        case "word":
            return f"<one of: {' | '.join(slot.words)}>"
        case "yesno":
            return f"<yes or no: {_about(slot)}>" if slot.about else "<yes or no>"
        case "number" | "whole":
            return f"<number: {_about(slot)}>"
        case _:
            return f"<{_about(slot)}>"


def _about(slot: Slot) -> str:
    return slot.about or slot.name.replace("_", " ")


def _slot(name: str, field: FieldInfo) -> Slot:
    kind, words, shape = _kind(field.annotation)
    also = [label for mark in field.metadata if isinstance(mark, Aliases) for label in mark.labels]
    return Slot(
        name=name,
        kind=kind,
        required=field.is_required(),
        about=field.description or "",
        words=words,
        shape=shape,
        labels=tuple(dict.fromkeys(key for label in (name, *also) for key in _numbers(label_key(label)))),
        title=any(isinstance(mark, Title) for mark in field.metadata),
        synonyms=next((mark for mark in field.metadata if isinstance(mark, Synonyms)), None),
        keys=next((mark.like for mark in field.metadata if isinstance(mark, ExampleKeys)), ("<id>",)),
        heading=next((mark for mark in field.metadata if isinstance(mark, SlotHeading)), None),
    )


def _numbers(key: str) -> tuple[str, ...]:
    """Singular and plural of a label: models use either."""
    if key.endswith("ies"):
        return key, f"{key[:-3]}y"
    if key.endswith(("ches", "shes", "xes")):
        return key, key[:-2]
    return (key, key[:-1]) if key.endswith("s") and len(key) > 3 else (key, f"{key}s")


def _kind(annotation: object) -> tuple[Kind, tuple[str, ...], type[BaseModel] | None]:
    annotation = _bare(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation == FencedBlocks:
        return "code", (), None
    if origin is Literal:
        return "word", tuple(str(a) for a in args), None
    if origin in (list, tuple):
        inner, words, shape = _kind(args[0])
        return ("items", (), shape) if inner == "item" else ("texts", words, None)
    if origin is dict:
        return "mapping", (), None
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel):
            return "item", (), annotation
        plain: dict[type, Kind] = {str: "text", bool: "yesno", float: "number", int: "whole"}
        if annotation in plain:
            return plain[annotation], (), None
    raise TypeError(f"replies cannot be read into {annotation!r}")


def _bare(annotation: object) -> object:
    """`Annotated[X, …]` and `X | None` are X."""
    while True:
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation = args[0]
        elif origin in (Union, types.UnionType):
            (annotation,) = (a for a in args if a is not type(None))
        else:
            return annotation
