"""Python code that looks for a file first and makes it afterwards."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import SourceCall, calls
from moot.scan.python.rules.flaws import CLAIM
from moot.scan.rule import RuleMatch
from moot.scan.syntax import Source, nth

ASKS = re.compile(r"(?:^|\.)(?:exists|isfile|is_file|lexists)$")
REFUSES = re.compile(r"^(?:raise\b|return\s+(?:False|None)\s*$|return\s*$|abort\()", re.MULTILINE)
MODE = re.compile(r"['\"][wa]b?\+?['\"]")


def find_claims(source: Source) -> Iterator[RuleMatch]:
    """`if os.path.exists(path): return False` and then `open(path, "w")`"""
    for node in source.nodes("if_statement"):
        body, path = node.child_by_field_name("consequence"), _find_asked(source, node)
        first = nth(body, 0) if body is not None else None
        if not path or first is None or not REFUSES.match(source.text(first)):
            continue
        end = source.scope(node).node.end_byte
        for name in ("open", "write_text", "write_bytes", "symlink", "rename"):
            for call in calls(source).get(name, ()):
                if node.end_byte <= call.node.start_byte < end and _makes(source, call, path):
                    yield RuleMatch(CLAIM, call.node)


def find_accesses(source: Source) -> Iterator[RuleMatch]:
    """`if os.access(path, os.W_OK): open(path, "a")`"""
    for node in source.nodes("if_statement") if b"os.access" in source.data else ():
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        asked = ACCESS.search(source.text(condition)) if condition is not None else None
        for call in calls(source).get("open", ()) if asked is not None and body is not None else ():
            inside = body is not None and body.start_byte <= call.node.start_byte < body.end_byte
            if inside and asked is not None and call.args and source.text(call.args[0]) == asked[1].strip():
                yield RuleMatch(CLAIM, call.node)


ACCESS = re.compile(r"\bos\.access\(([^,()]+),")


def _find_asked(source: Source, node: Node) -> str:
    """The path in `os.path.exists(path)` or `path.exists()`."""
    condition = node.child_by_field_name("condition")
    if condition is None or condition.type != "call":
        return ""
    function, given = condition.child_by_field_name("function"), condition.child_by_field_name("arguments")
    if function is None or given is None or not ASKS.search(source.text(function)):
        return ""
    first = nth(given, 0)
    return source.text(first) if first is not None else source.text(function).rpartition(".")[0]


def _makes(source: Source, call: SourceCall, path: str) -> bool:
    """Unless the call fails where the file is there already."""
    text = source.text(call.node)
    if call.method == "open" and call.args and source.text(call.args[0]) == path:
        return MODE.search(text) is not None and call.name in ("open", "io.open", "codecs.open")
    return text.startswith(f"{path}.") and (call.method != "open" or MODE.search(text) is not None)
