"""Repairs unambiguous JSON slips, each within its own line; nothing is invented."""

import json
import re

SLIPS = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?P<closing>\s*+[}\]])|(?<!:)//[^\n]*', re.DOTALL)
HEAD = re.compile(r'\s*+(?:[{\[]\s*+)*+"[^"\\]{1,60}"\s*:\s*')
ESCAPES = re.compile(r'\\(?:["\\/bfnrt\'`]|u[0-9a-fA-F]{4})|\\|"')
NEXT = re.compile(r'\s*+(?:"[^"\\]{1,60}"\s*:|\{)')
COMPLETE = ('"', "}", "]", "e", "l", *"0123456789")
"""The last character of a value; the letters end true, false and null."""
QUOTES = "\"'`"
BETWEEN = re.compile(r'"\s*,\s*"')


def mend_json(source: str) -> str:
    """Drop trailing commas and line comments; strings stay unchanged."""

    def mend(piece: re.Match[str]) -> str:
        return piece[0] if piece[0][0] == '"' else piece["closing"] or ""

    return SLIPS.sub(mend, source)


def requote_lines(source: str) -> str:
    """Requote lines with one value each and add missing commas: for code copied without escaping its quotes, and for
    `"a" * 1000`."""
    lines = [_requote_line(line) for line in source.split("\n")]
    following = ""
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].rstrip()
        if NEXT.match(following) and line.endswith(COMPLETE):  # missing comma at the end of the line
            lines[number] = f"{line},"
        following = line or following
    return "\n".join(lines)


def _requote_line(line: str) -> str:
    head = HEAD.match(line)
    before, value = (head[0], line[head.end() :]) if head else ("", line)
    if not head:  # an entry of a list of texts
        value = line.lstrip()
        before = line[: len(line) - len(value)]
        if value[:1] != '"':
            return line
    core = value.rstrip(" \t\r},]")
    if not core or core[0] in "{[" or _is_json(core) or BETWEEN.search(core):
        return line
    inner = _unquote_core(core)
    if inner is None:  # an expression or a bare word; trailing brackets belong to it
        inner = core = value.rstrip(" \t\r,")
    return f'{before}"{ESCAPES.sub(_escape_match, inner)}"{value[len(core) :]}'


def _unquote_core(core: str) -> str | None:
    """The text between the quotes, even wrong ones or with the last one missing; None if unclear."""
    first, rest, last = core[0], core[1:], core[-1]
    if first not in QUOTES or not rest:
        return None
    if last in QUOTES and (first == last == '"' or (first != '"' and (last != first or first not in rest[:-1]))):
        return rest[:-1]
    return rest if first == '"' and '"' not in rest else None


def _escape_match(found: re.Match[str]) -> str:
    if found[0] in ("\\'", "\\`"):  # not a JSON escape, and none is needed
        return found[0][1]
    return found[0] if len(found[0]) > 1 else f"\\{found[0]}"


def _is_json(text: str) -> bool:
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True
