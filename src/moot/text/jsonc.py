"""JSON with comments, edited in place: one member is set or removed, and everything else stays as it is written.

Our own: a JSON library would drop comments, order and spacing of a settings file that belongs to somebody else.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from moot.core.errors import UsageError

SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
SCALAR = re.compile(r"[^\s,\]}/]+")
INDENT = "  "


class JsonMember(NamedTuple):
    key: str
    start: int
    value: int
    end: int


class _Scanner:
    """Where things stand in a text; nothing is built from them."""

    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        found = SKIPPED.match(self.text, at)
        return found.end() if found else at

    def expect(self, at: int, sign: str) -> int:
        if self.text[at : at + 1] != sign:
            line = self.text.count("\n", 0, at) + 1
            raise UsageError(f"not valid JSON at line {line}: expected {sign!r}")
        return at + 1

    def end_of(self, at: int) -> int:
        """Where the value that begins here ends."""
        sign = self.text[at : at + 1]
        if sign == "{":
            return self.members(at)[1]
        if sign == "[":
            at = self.skip(at + 1)
            while self.text[at : at + 1] != "]":
                at = self.skip(self.end_of(at))
                at = self.skip(at + 1) if self.text[at : at + 1] == "," else at
                if at >= len(self.text):
                    self.expect(at, "]")
            return at + 1
        found = (STRING if sign == '"' else SCALAR).match(self.text, at)
        if found is None:
            self.expect(at, "a value")
        return found.end() if found else at

    def members(self, at: int) -> tuple[list[JsonMember], int]:
        """Those of the object that begins here, and where it ends. A comma after the last one is let pass."""
        at, found = self.skip(self.expect(at, "{")), list[JsonMember]()
        while self.text[at : at + 1] != "}":
            name = STRING.match(self.text, at)
            if name is None:
                self.expect(at, '"')
            assert name is not None
            value = self.skip(self.expect(self.skip(name.end()), ":"))
            end = self.end_of(value)
            found.append(JsonMember(json.loads(name.group()), at, value, end))
            at = self.skip(end)
            if self.text[at : at + 1] == ",":
                at = self.skip(at + 1)
            elif self.text[at : at + 1] != "}":
                self.expect(at, "}")
        return found, at + 1


def parse_jsonc(text: str) -> Any:
    """The value of a text; an empty one is an empty object."""
    scanner, parts, at = _Scanner(text), list[str](), 0
    while at < len(text):  # comments go, and so does a comma before a bracket
        after = scanner.skip(at)
        if after > at:
            parts.append(" ")
            at = after
        elif text[at] == '"' and (found := STRING.match(text, at)):
            parts.append(found.group())
            at = found.end()
        elif text[at] == "," and text[scanner.skip(at + 1) : scanner.skip(at + 1) + 1] in ("]", "}"):
            at += 1
        else:
            parts.append(text[at])
            at += 1
    try:
        return json.loads("".join(parts).strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"not valid JSON: {error}") from None


def set_member(text: str, path: Sequence[str], value: object) -> str:
    """The text with this value at this path. Objects on the way that are missing are made."""
    if not text.strip():
        text = "{}\n"
    scanner = _Scanner(text)
    at = scanner.skip(0)
    for depth, key in enumerate(path):
        members, end = scanner.members(at)
        found = next((each for each in members if each.key == key), None)
        if found is None:
            return _insert(text, members, (at, end), key, _nest(path[depth + 1 :], value))
        if depth == len(path) - 1:
            line = text[text.rfind("\n", 0, found.start) + 1 : found.start]
            return text[: found.value] + _dump(value, line if not line.strip() else "") + text[found.end :]
        at = found.value
    raise UsageError("there is no place in an empty path")


def remove_member(text: str, path: Sequence[str]) -> str:
    """The text without the member at this path, and without the objects on the way that it leaves empty."""
    scanner = _Scanner(text)
    at = scanner.skip(0)
    trail: list[tuple[int, int, list[JsonMember], JsonMember]] = []
    for key in path:
        members, end = scanner.members(at)
        found = next((each for each in members if each.key == key), None)
        if found is None:
            return text
        trail.append((at, end, members, found))
        at = found.value
    while len(trail) > 1 and len(trail[-1][2]) == 1:
        trail.pop()
    begin, end, members, gone = trail[-1]
    place = members.index(gone)
    if place + 1 < len(members):  # what follows takes its place
        return text[: gone.start] + text[members[place + 1].start :]
    after = scanner.skip(gone.end)
    trailing = text[after : after + 1] == ","
    if place:
        lead = text[: gone.start]
        cut = lead.rstrip(" \t")
        cut = cut[:-1] if cut.endswith("\n") else lead
        if trailing:
            return cut + text[after + 1 :]
        comma = scanner.skip(members[place - 1].end)
        return text[: members[place - 1].end] + cut[comma + 1 :] + text[gone.end :]
    rest = text[after + 1 if trailing else gone.end : end - 1]
    inside = text[begin + 1 : gone.start] + rest
    return text[: begin + 1] + (inside if inside.strip() else "") + text[end - 1 :]


def _nest(path: Sequence[str], value: object) -> object:
    for key in reversed(path):
        value = {key: value}
    return value


def _dump(value: object, indent: str) -> str:
    return json.dumps(value, indent=INDENT, ensure_ascii=False).replace("\n", f"\n{indent}")


def _insert(text: str, members: Sequence[JsonMember], bounds: tuple[int, int], key: str, value: object) -> str:
    """As the last member of the object within these bounds, indented as its first one is, or one step deeper than its
    own line."""
    begin, end = bounds
    line = text[text.rfind("\n", 0, begin) + 1 :]
    outer = line[: len(line) - len(line.lstrip(" \t"))]
    first = text[text.rfind("\n", 0, members[0].start) + 1 : members[0].start] if members else ""
    indent = first if first and not first.strip() else outer + INDENT
    entry = f"\n{indent}{json.dumps(key)}: {_dump(value, indent)}"
    if members:
        last = members[-1].end
        comma = re.compile(r"\s*,").match(text, last)
        after = comma.end() if comma else last
        comment = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)[ \t]*(?=\n)").match(text, after)
        place = comment.end() if comment else after
        return f"{text[:last]},{text[after:place]}{entry}{',' if comma else ''}{text[place:]}"
    inside = text[begin + 1 : end - 1].rstrip()
    return f"{text[: begin + 1]}{inside}{entry}\n{outer}{text[end - 1 :]}"
