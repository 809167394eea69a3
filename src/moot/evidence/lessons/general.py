"""Generalises advice: removes the task's own names and figures."""

import re
from collections.abc import Iterable

QUOTED = re.compile(r"`([^`]*)`|'([^'\n]{1,80})'|\"([^\"\n]{1,80})\"")
CALL = re.compile(r"\b[A-Za-z_][\w.]*\([^()\n]*\)")
PATH = re.compile(r"(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]+|\b[\w-]+\.(?:py|js|ts|tsx|go|json|toml|txt|md|c|h|rs|java)\b")
NAME = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|[A-Z]+(?:_[A-Z0-9]+)+)\b")
FIGURE = re.compile(r"(?<![\w.-])-?\d{2,}(?:\.\d+)?\b|\bline \d+\b")
GENERAL = frozenset({"None", "True", "False", "null", "undefined", "utf-8"})
REPEAT = re.compile(r"\b(the|a|an) (?:the|a|an) ")


def generalise_text(text: str, names: Iterable[str] = ()) -> str:
    """Remove what is specific to one task: quoted code, calls, paths, identifiers, `names`, figures."""
    text = QUOTED.sub(_unquote_match, text)
    text = CALL.sub("the function", text)
    text = PATH.sub("the file", text)
    for name in sorted({name for name in names if len(name) > 2}, key=len, reverse=True):
        text = re.sub(rf"\b{re.escape(name)}\b", "the function", text)
    text = NAME.sub("the name", text)
    text = FIGURE.sub("a figure", text)
    text = re.sub(r"\b(function|file|name) (?:the )?\1\b", r"\1", REPEAT.sub(r"\1 ", text))
    return " ".join(text.split())


def _unquote_match(match: "re.Match[str]") -> str:
    inside = next(group for group in match.groups() if group is not None)
    if inside in GENERAL or re.fullmatch(r"[a-z]+(?: [a-z]+)*", inside):
        return inside
    return "the function" if re.fullmatch(r"[\w.]+(?:\(.*\))?", inside) else "the expression"
