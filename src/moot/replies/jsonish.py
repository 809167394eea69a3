"""JSON in a reply: bare, fenced, or inside prose; small slips mended, nothing made up."""

import json
import re
from collections.abc import Iterator

from pydantic import JsonValue

from moot.replies.fences import blocks

MOST_CANDIDATES = 12
OPENING = re.compile(r"[{\[]\s*[\"{\[]")
MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
SLIPS = re.compile(r'"(?:[^"\\]|\\.)*"|,(?P<closing>\s*[}\]])|(?<!:)//[^\n]*', re.DOTALL)
DECODER = json.JSONDecoder(
    strict=False,  # real newlines inside strings are a slip, not an error
    object_pairs_hook=lambda pairs: _object(pairs),
    parse_constant=lambda word: _refuse(word),
)


def values(text: str) -> Iterator[JsonValue]:
    """Every JSON object or list in the text, the most deliberate first."""
    seen: set[str] = set()
    for candidate in _candidates(text):
        for source in (candidate, _mended(candidate)):
            if source not in seen:
                seen.add(source)
                try:
                    value, _ = DECODER.raw_decode(source)
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict | list):
                    yield value
                break


def _candidates(text: str) -> Iterator[str]:
    whole = text.strip()
    if whole[:1] in ("{", "["):
        yield whole
    for block in blocks(text.splitlines()):
        inner = "\n".join(block.lines).strip()
        if inner[:1] in ("{", "["):
            yield inner
    yield from _in_prose(text)


def _in_prose(text: str) -> Iterator[str]:
    """Each balanced piece that may be an object or a list. What is inside a broken or cut-off piece is never
    offered by itself: half an answer must not pass for a whole one."""
    at = 0
    for _ in range(MOST_CANDIDATES):
        opening = OPENING.search(text, at)
        end = _closing(text, opening.start()) if opening else None
        if opening is None or end is None:
            return
        yield text[opening.start() : end]
        at = end


def _closing(text: str, start: int) -> int | None:
    depth = 0
    for mark in MARKS.finditer(text, start):
        if mark[0] in "{[":
            depth += 1
        elif mark[0] in "}]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _mended(source: str) -> str:
    """Without trailing commas and line comments; strings stay as they are."""

    def mend(piece: re.Match[str]) -> str:
        return piece[0] if piece[0][0] == '"' else piece["closing"] or ""

    return SLIPS.sub(mend, source)


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    value = dict(pairs)
    if len(value) < len(pairs):  # a second `vulnerabilities: []` must not wipe out the first
        raise ValueError("a key stands twice")
    return value


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is not a number")
