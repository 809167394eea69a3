"""The one tolerant parser of replies, and the one writer of format instructions."""

import re
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, cast

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from moot.core.errors import ParseError
from moot.core.tools import ToolCall
from moot.text.replies.calls import first_call
from moot.text.replies.code import code_in, with_code
from moot.text.replies.fences import blocks
from moot.text.replies.fit import Raw, Unfit, fit
from moot.text.replies.form import code_form, instructions
from moot.text.replies.headings import find_denied, with_headings
from moot.text.replies.jsonish import bare_items, objects, pieces, sole_answer
from moot.text.replies.labelled import json_lines, lines_of, read_labelled, sections, without_blocks
from moot.text.replies.shape import (
    Aliases,
    CodeBlock,
    ExampleKeys,
    FencedBlocks,
    SlotHeading,
    Synonyms,
    Title,
    has_code,
    native_schema,
    slots,
)

__all__ = [
    "Aliases",
    "CodeBlock",
    "ExampleKeys",
    "FencedBlocks",
    "ParseError",
    "ParsedReply",
    "SlotHeading",
    "Synonyms",
    "Title",
    "code_form",
    "instructions",
    "native_schema",
    "read",
    "tool_call",
]  # fmt: skip

T = TypeVar("T", bound=BaseModel)
TAG = r"(?:think|thinking|reasoning)>"
THOUGHTS = re.compile(rf"^[ \t]*<{TAG}(?:(?!</?{TAG}).)*+</{TAG}", re.DOTALL | re.MULTILINE | re.IGNORECASE)
BEGUN, ENDED = re.compile(rf"\s*<{TAG}", re.IGNORECASE), re.compile(rf"</{TAG}", re.IGNORECASE)


@dataclass(frozen=True)
class ParsedReply(Generic[T]):
    value: T
    dropped: tuple[str, ...] = ()
    """What could not be parsed: optional fields, and items if the caller asked to keep the rest."""


NO_CONTENT: Raw = {}


class Readings(NamedTuple):
    """The content of a reply, by the form it is in."""

    objects: Raw
    """JSON objects of the shape."""
    labelled: Raw = NO_CONTENT
    bare: Raw = NO_CONTENT
    """JSON items without an enclosing object."""
    code: Raw = NO_CONTENT
    denied: frozenset[str] = frozenset()
    """Lists that a heading declares empty."""


def read(text: str, shape: type[T], *, whole: bool = True, salvage: bool = False) -> ParsedReply[T]:
    """Parse the reply as a `shape`, from its JSON, its labelled text and its fenced code, or raise `ParseError`.

    `whole=False`: the provider cut the reply off, so only complete JSON and closed fences count.
    `salvage=True` keeps the readable items of a list and reports the others.
    """
    said = drop_thinking(text.replace("\r\n", "\n"))
    if not said.strip():
        raise ParseError("the reply is empty")
    try:
        parsed = choose_reading(readings_of(said, shape, whole=whole), shape, whole=whole, salvage=salvage)
        if not said.isascii() or "\\u" in said:
            refuse_half_characters(parsed.value)
        return parsed
    except ParseError:
        if whole:
            raise
        raise ParseError("the reply was cut off before it was complete; answer more briefly") from None


def tool_call(text: str, shape: type[BaseModel], *, whole: bool = True) -> ToolCall | None:
    """The tool that a reply calls instead of answering; whichever comes first counts, call or answer. A cut-off reply
    calls nothing."""
    said = drop_thinking(text.replace("\r\n", "\n"))
    found = first_call(said) if whole else None
    if found is None:
        return None
    line, call = found
    try:
        read("\n".join(said.split("\n")[:line]), shape)
    except ParseError:
        return call
    return None


def drop_thinking(text: str) -> str:
    """Drop a reasoning model's thoughts; an unfinished thought is not an answer."""
    text = THOUGHTS.sub("", text)
    if BEGUN.match(text):
        return ""
    ended = ENDED.search(text)  # some servers drop the opening tag
    return text[ended.end() :] if ended and "```" not in text[: ended.start()] else text


def readings_of(text: str, shape: type[BaseModel], *, whole: bool) -> Readings:
    if sole := sole_answer(text, shape):
        return Readings(objects=sole)
    fences = blocks(text.split("\n"))
    json = pieces(text, fences, shape)
    taken = json_lines(text, json.found)
    lines = lines_of(text, fences, taken)
    parts = sections(lines, shape)
    code = code_in(text, [block for block in fences if block.start not in taken], parts, shape)
    words = without_blocks(parts, code.blocks)
    return Readings(
        objects=objects(json, shape),
        labelled=with_headings(read_labelled(lines, words, shape), lines, shape),
        bare=bare_items(json, shape, whole=whole),
        code=code.raw,
        denied=find_denied(lines, shape),
    )


def choose_reading(readings: Readings, shape: type[T], *, whole: bool, salvage: bool) -> ParsedReply[T]:
    """The reading that fills most of the shape; then the one that names most of what it could not parse; then the
    first. A JSON object takes precedence, right or wrong: the others only add to it."""
    others = (readings.labelled, readings.bare) if whole else (readings.bare,)
    holds_code = has_code(shape)
    complaints: list[str] = []
    fitting: list[ParsedReply[T]] = []
    for raw in (readings.objects, *({**other, **readings.objects} for other in others if other)):
        unfit, found = Unfit(salvage=salvage), with_code(raw, readings.code, shape) if holds_code else raw
        if not found:
            continue  # nothing does not satisfy an all-optional shape: a refusal would look like an answer
        try:
            value = cast(T, fit(found, shape, unfit))
        except ParseError as error:
            complaints += [str(error)] if raw else []
            continue
        if value.model_fields_set:
            fitting.append(ParsedReply(value, tuple(unfit.dropped)))
        else:  # all of it was dropped: what is left of an all-optional shape says nothing
            complaints += unfit.dropped
    if not fitting:
        raise ParseError(complaints[-1] if complaints else "the reply holds none of the fields asked for")
    best = fitting[0]
    if len(fitting) > 1:
        best = max(fitting, key=lambda one: (len(one.value.model_fields_set), len(one.dropped)))
    refuse_denial(best.value, readings, shape)
    return best if whole else ParsedReply(best.value, (*best.dropped, *list_unread(best.value, readings.labelled)))


def list_unread(value: BaseModel, labelled: Raw) -> list[str]:
    """Labelled fields of a cut-off reply: they may be incomplete, so they are dropped."""
    lost = [name for name in labelled if name not in value.model_fields_set]
    return [f"{name} stands in a reply that was cut off" for name in lost]


def refuse_denial(value: BaseModel, readings: Readings, shape: type[BaseModel]) -> None:
    """An empty list contradicts items elsewhere in the reply, and so does a heading that denies them."""
    for slot in slots(shape):
        if slot.kind != "items":
            continue
        others = [raw.get(slot.name) for raw in (readings.objects, readings.labelled, readings.bare)]
        said = any(isinstance(other, list) and other for other in others)
        listed = bool(getattr(value, slot.name))
        if (slot.required and said and not listed) or (slot.name in readings.denied and listed):
            raise ParseError(f"the reply both lists {slot.name} and says there are none")


def refuse_half_characters(value: BaseModel) -> None:
    r"""`"\ud800"` is valid JSON but not text: it can neither be stored nor shown."""
    try:
        value.model_dump_json()
    except PydanticSerializationError:
        raise ParseError("the reply holds half of a character pair (a lone \\ud800 or the like)") from None
