"""Functions that write to whatever place of an object a key names, `__proto__` too."""

import re
from collections.abc import Iterator

from moot.scan.flow.rules.javascript_flaws import PROTOTYPE
from moot.scan.rule import Match
from moot.scan.syntax import Scope, Source

MAX_TEXT = 3000
GUARDED = re.compile(
    r"__proto__|['\"`]prototype['\"`]|Object\.create\(null\)|new Map\b|"
    r"(?i:unsafe|forbidden|dangerous|blacklist|polluted|reserved|isSafe|safeKey)"
)
MERGED = re.compile(r"\b(\w+)\(\s*\w+\[(\w+)\]\s*,\s*\w+\[\2\]")
WRITTEN = re.compile(r"\b\w+\[(\w+)\]\s*=(?!=)")
KEY = r"\[[A-Za-z_$][^\[\]'\"]{0,40}(?:\[[^\[\]]{0,40}\])?\]"
STEPPED = re.compile(rf"\b(\w+)\s*=\s*(?:\1{KEY}\s*=\s*)?\1{KEY}")


def pollutes(source: Source) -> Iterator[Match]:
    for scope in source.functions:
        text = source.text(scope.node) if scope.node.end_byte - scope.node.start_byte <= MAX_TEXT else ""
        if "[" in text and not GUARDED.search(text) and (_merges(_name(source, scope), text) or _walks(scope, text)):
            yield Match(PROTOTYPE, scope.node)


def _name(source: Source, scope: Scope) -> str:
    """Also of `const merge = (to, from) => …`."""
    holder = scope.node.parent
    if scope.name or holder is None:
        return scope.name
    target = holder.child_by_field_name("name") or holder.child_by_field_name("left")
    return source.text(target).rpartition(".")[2] if target is not None else ""


def _merges(name: str, text: str) -> bool:
    """`for (k in from) { … merge(to[k], from[k]) … to[k] = from[k] }`"""
    again = MERGED.search(text)
    if again is None or again[1] != name or not re.search(r"\bfor\s*\(|forEach|Object\.keys", text):
        return False
    return any(found[1] == again[2] for found in WRITTEN.finditer(text))


def _walks(scope: Scope, text: str) -> bool:
    """`for (…) at = at[part]; at[last] = value`, where the caller gives the way and the value."""
    step = STEPPED.search(text)
    if step is None or not re.search(r"\b(?:for|while)\s*\(|forEach|reduce", text):
        return False
    end = re.search(rf"\b{re.escape(step[1])}{KEY}\s*=\s*(\w+)\s*[;,\n}})]", text)
    return end is not None and end[1] in scope.parameters
