"""Checks of an address that let other hosts through, in JavaScript and Go: a part of its text, a loose pattern."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.core.types import Language
from moot.scan.calls import SourceCall, calls
from moot.scan.rule import Rule, RuleMatch
from moot.scan.strings import STRINGS, constant_text
from moot.scan.syntax import Source

ENDINGS = "com|org|net|io|dev|app|edu|gov|info|cloud|example|test|local|internal"
HOST = re.compile(rf"(?i)(?P<scheme>[a-z+]+://|//)?(?P<dot>[.@])?(?:[\w-]+\.)+(?:{ENDINGS}|co\.\w\w)(?P<end>[/:].*)?")
ADDRESS = re.compile(
    r"(?i)(?:ur[li]|href|link|origin|host(?:name)?|domain|referr?er|redirect(?:_?to)?|location|address|site|target|src|"
    r"endpoint|callback|return_?to)$"
)
"""Names of values that hold an address. A list of them is looked up as a whole."""
OUR_HOST = re.compile(r"(?i)(?:^|_|allowed|trusted|base|our|own|root|safe|valid)(?:domain|host(?:name)?)$")
LOOSE_DOT = re.compile(rf"(?i)(?<=[\w)])\.(?:{ENDINGS})(?![\w.-]|\\\.)")
"""The dot before the ending of a host matches any character."""
WITH_HOST = re.compile(rf"(?i)https?\??:(?:\\?/){{2}}[\w\\.()?-]*\\?\.(?:{ENDINGS})")
WITHIN, AT_START, AT_END = "within", "at start", "at end"
METHODS = {
    "includes": WITHIN, "indexOf": WITHIN, "startsWith": AT_START, "endsWith": AT_END,
    "strings.Contains": WITHIN, "strings.Index": WITHIN, "strings.HasPrefix": AT_START, "strings.HasSuffix": AT_END,
}  # fmt: skip
PATTERN_MAKERS = ("RegExp", "new:RegExp", "regexp.MustCompile", "regexp.Compile", "regexp.MatchString")
FIX = {
    "javascript": "Parse it with new URL and compare its hostname, or the ending with a dot before it.",
    "go": "Parse it with url.Parse and compare Hostname(), or the ending with a dot before it.",
}


def make_host_rule(language: Language) -> Rule:
    language = "javascript" if language == "typescript" else language
    return Rule(
        f"{language}-host-check", "logic_error", "medium", 20,
        "Incomplete URL check: other hosts match it too",
        "'https://example.com.evil.net/' or 'https://evil.net/?example.com' passes the check.",
        FIX[language], 0.6,
    )  # fmt: skip


def find_weak_host_checks(source: Source) -> Iterator[RuleMatch]:
    rule = make_host_rule(source.language)
    found = calls(source)
    for name, how in METHODS.items():
        for call in found.get(name.rpartition(".")[2], ()):
            parts = _operands(source, call, name)
            if parts is not None and _is_weak(source, how, *parts):
                yield RuleMatch(rule, call.node)
    for node, pattern in _list_patterns(source, found):
        if LOOSE_DOT.search(pattern) or (WITH_HOST.match(pattern) and _is_test(source, node)):
            yield RuleMatch(rule, node)


def _operands(source: Source, call: SourceCall, name: str) -> tuple[str, Node] | None:
    """The last word of the text that is searched, and what is searched for."""
    if source.language == "go":
        if call.name != name or len(call.args) != 2:
            return None
        return _last_word(source, call.args[0]), call.args[1]
    callee = call.node.child_by_field_name("function")
    base = callee.child_by_field_name("object") if callee is not None else None
    return (_last_word(source, base), call.args[0]) if base is not None and len(call.args) == 1 else None


def _last_word(source: Source, node: Node) -> str:
    if node.end_byte - node.start_byte > 200 or node.type in ("array", "string"):
        return ""
    found = re.findall(r"\w+", re.sub(r"\([^()]*\)$", "", source.text(node)))
    word = found[-1] if found else ""
    if word in ("toLowerCase", "trim", "toString", "ToLower", "TrimSpace", "String") and len(found) > 1:
        return str(found[-2])
    return str(word)


def _is_weak(source: Source, how: str, word: str, wanted: Node) -> bool:
    if not ADDRESS.search(word):
        return False
    text = constant_text(source, wanted) if wanted.type in STRINGS else None
    if text is None:
        return how != AT_START and wanted.type == "identifier" and bool(OUR_HOST.search(source.text(wanted)))
    host = HOST.fullmatch(text)
    if host is None:
        return False
    if how == AT_START:
        return host["scheme"] is not None and host["end"] is None
    return how == WITHIN or host["dot"] is None


def _list_patterns(source: Source, found: dict[str, list[SourceCall]]) -> Iterator[tuple[Node, str]]:
    for node in source.nodes("regex"):
        if node.end_byte - node.start_byte < 300:
            yield node, source.text(node).strip("/")
    for name in PATTERN_MAKERS:
        for call in found.get(name.rpartition(".")[2], ()):
            if call.name == name and call.args and call.args[0].type in STRINGS:
                yield call.node, constant_text(source, call.args[0]) or ""


def _is_test(source: Source, node: Node) -> bool:
    """`/https:…/.test(x)`: a check, not a search for links."""
    outer = node.parent
    return outer is not None and source.text(outer).endswith(".test")
