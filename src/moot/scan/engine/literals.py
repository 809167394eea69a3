"""Values of Python literals: escapes, numbers, and the holes of `%` and `.format` templates."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from moot.scan.engine.ir import Scalar

ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|[0-7]{1,3}|\r\n|.|\n)", re.DOTALL)
PLAIN = {
    "n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v",
    "'": "'", '"': '"', "\\": "\\", "\n": "", "\r\n": "",
}  # fmt: skip
PERCENT = re.compile(r"%(?:\((?P<key>[^)]*)\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(?P<verb>[a-zA-Z%])")
BRACES = re.compile(r"\{\{|\}\}|\{(?P<key>[^{}:!.\[]*)(?P<rest>[^{}]*)\}")
NUMERIC_VERBS = frozenset("diouxXeEfFgGc")
MAX_DIGITS = 40


class Gap(NamedTuple):
    """A hole in a template: the argument (None: the next one), its spelling, and the text before it."""

    before: str
    key: str | None
    spec: str
    numeric: bool


def unescape_text(text: str) -> str:
    return ESCAPE.sub(lambda found: _meaning(found[1]), text) if "\\" in text else text


def _meaning(code: str) -> str:
    if code in PLAIN:
        return PLAIN[code]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else "\ufffd"
    if code[0] in "01234567":
        return chr(int(code, 8))
    return "\ufffd" if code[0] == "N" and len(code) > 1 else "\\" + code


def number(text: str) -> Scalar:
    """None for a complex or enormous number."""
    if len(text) > MAX_DIGITS:
        return None
    plain = text.replace("_", "").rstrip("lL")
    try:
        return int(plain, 0)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return int(plain, 8) if re.fullmatch("0[0-7]+", plain) else None


def percent_gaps(template: str) -> Iterator[Gap]:
    yield from _gaps(template, PERCENT)


def brace_gaps(template: str) -> Iterator[Gap]:
    yield from _gaps(template, BRACES)


def _gaps(template: str, pattern: re.Pattern[str]) -> Iterator[Gap]:
    start, text = 0, ""
    for found in pattern.finditer(template):
        text += template[start : found.start()]
        start = found.end()
        if found[0] in ("%%", "{{", "}}"):
            text += found[0][0]
            continue
        if pattern is PERCENT:
            yield Gap(text, found["key"], found[0], found["verb"] in NUMERIC_VERBS)
        else:
            yield Gap(text, found["key"] or None, found["rest"], found["rest"][-1:] in NUMERIC_VERBS)
        text = ""
    yield Gap(text + template[start:], "", "end", False)
