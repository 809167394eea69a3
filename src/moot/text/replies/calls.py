"""A tool call in a reply: `TOOL: name` and `ARGUMENTS: {…}`, or one JSON object that says both."""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pydantic import JsonValue

from moot.core.errors import ParseError
from moot.core.tools import ToolCall
from moot.text.replies.fences import Block, blocks
from moot.text.replies.jsonish import decode_json, find_closing
from moot.text.replies.labelled import lines_of
from moot.text.replies.labels import label_of
from moot.text.replies.shape import label_key

TOOL = ("tool", "tool_call", "use_tool")
ARGUMENTS = ("arguments", "args", "parameters", "input")
NO_TOOL = frozenset({"", "none", "no", "no_tool", "n_a", "not_needed"})
AROUND = " \t`*\"'<>()[]:,."
OPENED, CLOSED = "<tool_call>", "</tool_call>"
MOST_FENCES = 8
LONGEST_NAME = 100
LONGEST_LITERAL = 20_000
NOT_READ = "the arguments are not one complete JSON object"


def first_call(text: str) -> tuple[int, ToolCall] | None:
    """The first tool call and its line. Lines in fences are content, never calls."""
    lines = text.split("\n")
    fences = blocks(lines)
    # Only the first of each kind is searched, so a reply full of calls takes no longer.
    firsts = (next(_find_labelled_calls(text, lines, fences), None), next(_objects(text, fences), None))
    return min((found for found in firsts if found), key=lambda place: place[0], default=None)


def _find_labelled_calls(text: str, lines: Sequence[str], fences: list[Block]) -> Iterator[tuple[int, ToolCall]]:
    labels = [None if line.opaque else label_of(line.text) for line in lines_of(text, fences, set())]
    starts = [n for n, label in enumerate(labels) if label and label.key in TOOL]
    for start, end in pairwise((*starts, len(lines))):
        label = labels[start]
        said = label.rest if label else ""
        below = lines[start + 1 : end]
        name = re.split(r"[({]", said or next((line for line in below if line.strip()), ""))[0]
        if label_key(name) not in NO_TOOL:
            yield start, _call(name, said, lines, [f for f in fences if start < f.start < end], (start, end))


def _call(name: str, said: str, lines: Sequence[str], fences: Sequence[Block], span: tuple[int, int]) -> ToolCall:
    """The arguments are the first JSON object after the name; fenced code comes beside them."""
    plain = [fence for fence in fences if not fence.holds_json]
    block = next(("\n".join(fence.lines) + "\n" for fence in plain if fence.closed), "")
    code = {n for fence in plain for n in range(fence.start, fence.end + 1)}
    rest = "\n".join([said, *(lines[n] for n in range(span[0] + 1, span[1]) if n not in code)])
    arguments, problem = _arguments(rest)
    return ToolCall(name=_name(name), arguments=arguments, problem=problem, block=block)


def _arguments(text: str) -> tuple[dict[str, JsonValue], str]:
    begin = text.find("{")
    if begin < 0:
        return {}, ""
    end = find_closing(text, begin)
    value = _decode_json(text[begin:end]) or _python(text[begin:end]) if end else None
    return (value, "") if isinstance(value, dict) else ({}, NOT_READ)


def _objects(text: str, fences: Sequence[Block]) -> Iterator[tuple[int, ToolCall]]:
    """`{"tool": "run_code", "arguments": {…}}`: the whole reply, a fence of its own, or between tags."""
    begin = text.find(OPENED)
    end = text.find(CLOSED, begin) if begin >= 0 else -1
    places = [(0, text)] if begin < 0 or end < 0 else [(text.count("\n", 0, begin), text[begin + len(OPENED) : end])]
    json_fences = [fence for fence in fences if fence.holds_json and fence.closed][:MOST_FENCES]
    places += [(fence.start, "\n".join(fence.lines)) for fence in json_fences]
    for line, piece in sorted(places):
        value = _decode_json(piece)
        if isinstance(value, dict) and (call := _of_object(value)):
            yield line, call


def _of_object(value: dict[str, JsonValue]) -> ToolCall | None:
    said = {label_key(key): inner for key, inner in value.items()}
    given = next((said[key] for key in ARGUMENTS if key in said), None)
    name = next((said[key] for key in TOOL if key in said), said.get("name") if given is not None else None)
    if not isinstance(name, str) or label_key(name) in NO_TOOL:
        return None
    given = _decode_json(given) if isinstance(given, str) and given.strip() else given or {}
    if not isinstance(given, dict):
        return ToolCall(name=_name(name), problem=NOT_READ)
    return ToolCall(name=_name(name), arguments=given)


def _decode_json(text: str) -> JsonValue | None:
    try:
        return decode_json(text)
    except ParseError:
        return None


def _python(text: str) -> JsonValue | None:
    """A dictionary in Python syntax: weak models use its quotes, True and None."""
    try:
        value = ast.literal_eval(text) if len(text) <= LONGEST_LITERAL else None
        decoded: JsonValue = json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return decoded


def _name(text: str) -> str:
    return " ".join(text.split()).strip(AROUND)[:LONGEST_NAME]
