"""What nothing bounds, and what is looked at before it is made: requests read whole, files claimed by their name."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import SourceCall, calls
from moot.scan.javascript.rules.flaws import CLAIM, UNLIMITED
from moot.scan.rule import RuleMatch
from moot.scan.rules.claims import AskedPath, find_made
from moot.scan.syntax import Source, nth

REQUEST = re.compile(r"^(?:req|request|ctx\.req|incoming|socket|conn(?:ection)?|this\.req)$")
GROWS = re.compile(r"\+=|\.push\(")
BOUNDS = re.compile(r"(?i)length|size|limit|max|destroy|pause\(|abort")
BOUNDED = re.compile(
    r"(?i)content-length|max_?(?:body|size|bytes|length)|(?:body|size|byte|payload|upload|length)_?limit|[<>]=?\s*[\w.]*limit"
)
EXISTS = ("existsSync", "access", "accessSync", "stat", "statSync")
WRITES = ("writeFileSync", "writeFile", "createWriteStream", "openSync")
REFUSES = re.compile(r"^\{?\s*(?:throw\b|return\s+(?:false|null|new Error|Promise\.reject|callback\(|done\(|cb\()\b)")


def find_unlimited(source: Source) -> Iterator[RuleMatch]:
    """`req.on("data", chunk => { body += chunk })`"""
    grows = [call for call in calls(source).get("on", ()) if _grows_freely(source, call)]
    scopes = {source.scope(call.node).node for call in grows}
    bounded = {scope for scope in scopes if BOUNDED.search(source.text(scope))}
    yield from (RuleMatch(UNLIMITED, call.node) for call in grows if source.scope(call.node).node not in bounded)


def _grows_freely(source: Source, call: SourceCall) -> bool:
    listens = len(call.args) == 2 and source.text(call.args[0]).strip("'\"`") == "data"
    if not listens or not REQUEST.match(call.name.rpartition(".")[0]):
        return False
    listener = source.text(call.args[1])
    return GROWS.search(listener) is not None and BOUNDS.search(listener) is None


def find_claims(source: Source) -> Iterator[RuleMatch]:
    """`if (existsSync(file)) return false; writeFileSync(file, owner)`"""
    if asked := list(_list_asked(source)):
        yield from find_made(CLAIM, asked, _list_made(source))


def _list_asked(source: Source) -> Iterator[AskedPath]:
    for node in source.nodes("if_statement"):
        condition, refused = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        path = _find_asked(source, condition) if condition is not None else ""
        if path and refused is not None and REFUSES.match(source.text(refused)):
            yield AskedPath(path, node.end_byte, source.scope(node).node.end_byte)


def _list_made(source: Source) -> Iterator[tuple[str, Node]]:
    """Unless the call fails where the file is there already."""
    for call in (call for name in WRITES for call in calls(source).get(name, ())):
        given = [source.text(arg) for arg in call.args]
        if given and not any(re.search(r"['\"`]wx\+?['\"`]", arg) for arg in given[1:]):
            yield given[0], call.node


def _find_asked(source: Source, condition: Node) -> str:
    """The path that is asked for, in `(existsSync(path))`."""
    inner = nth(condition, 0) if condition.type == "parenthesized_expression" else condition
    if inner is None or inner.type != "call_expression":
        return ""
    function, given = inner.child_by_field_name("function"), inner.child_by_field_name("arguments")
    first = nth(given, 0) if given is not None else None
    named = function is not None and source.text(function).rpartition(".")[2] in EXISTS
    return source.text(first) if named and first is not None else ""
