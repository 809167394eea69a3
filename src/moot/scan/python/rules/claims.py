"""Python code that looks for a file first and makes it afterwards."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import calls
from moot.scan.python.rules.flaws import CLAIM
from moot.scan.rule import RuleMatch
from moot.scan.rules.claims import AskedPath, find_made
from moot.scan.syntax import Source, nth

ASKS = re.compile(r"(?:^|\.)(?:exists|isfile|is_file|lexists)$")
REFUSES = re.compile(r"^(?:raise\b|return\s+(?:False|None)\s*$|return\s*$|abort\()", re.MULTILINE)
MODE = re.compile(r"['\"][wa]b?\+?['\"]")


def find_claims(source: Source) -> Iterator[RuleMatch]:
    """`if os.path.exists(path): return False` and then `open(path, "w")`"""
    if asked := list(_list_asked(source)):
        yield from find_made(CLAIM, asked, _list_made(source))


def _list_asked(source: Source) -> Iterator[AskedPath]:
    for node in source.nodes("if_statement"):
        body, path = node.child_by_field_name("consequence"), _find_asked(source, node)
        first = nth(body, 0) if body is not None else None
        if path and first is not None and REFUSES.match(source.text(first)):
            yield AskedPath(path, node.end_byte, source.scope(node).node.end_byte)


def _list_made(source: Source) -> Iterator[tuple[str, Node]]:
    """Unless the call fails where the file is there already."""
    for name in ("open", "write_text", "write_bytes", "symlink", "rename"):
        for call in calls(source).get(name, ()):
            text = source.text(call.node)
            if name == "open" and MODE.search(text) is None:
                continue
            if call.name in ("open", "io.open", "codecs.open") and call.args:
                yield source.text(call.args[0]), call.node
            function = call.node.child_by_field_name("function")
            if function is not None and function.type == "attribute":
                yield source.text(function).rpartition(".")[0], call.node


def find_accesses(source: Source) -> Iterator[RuleMatch]:
    """`if os.access(path, os.W_OK): open(path, "a")`"""
    asked: list[AskedPath] = []
    for node in source.nodes("if_statement") if b"os.access" in source.data else ():
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        found = ACCESS.search(source.text(condition)) if condition is not None else None
        if found is not None and body is not None:
            asked.append(AskedPath(found[1].strip(), body.start_byte, body.end_byte))
    if asked:
        opened = (call for call in calls(source).get("open", ()) if call.args)
        yield from find_made(CLAIM, asked, ((source.text(call.args[0]), call.node) for call in opened))


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
