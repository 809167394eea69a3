"""What nothing bounds, and what is looked at before it is made: requests read whole, files claimed by their name."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import SourceCall, calls
from moot.scan.javascript.rules.flaws import CLAIM, UNLIMITED
from moot.scan.rule import RuleMatch
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
    for call in calls(source).get("on", ()):
        listens = len(call.args) == 2 and source.text(call.args[0]).strip("'\"`") == "data"
        if not listens or not REQUEST.match(call.name.rpartition(".")[0]):
            continue
        listener, around = source.text(call.args[1]), source.text(source.scope(call.node).node)
        if GROWS.search(listener) and not BOUNDS.search(listener) and not BOUNDED.search(around):
            yield RuleMatch(UNLIMITED, call.node)


def find_claims(source: Source) -> Iterator[RuleMatch]:
    """`if (existsSync(file)) return false; writeFileSync(file, owner)`"""
    for node in source.nodes("if_statement"):
        condition, refused = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        asked = condition is not None and _find_asked(source, condition)
        if not asked or refused is None or not REFUSES.match(source.text(refused)):
            continue
        end = source.scope(node).node.end_byte
        for name in WRITES:
            for call in calls(source).get(name, ()):
                if node.end_byte <= call.node.start_byte < end and _makes(source, call, asked):
                    yield RuleMatch(CLAIM, call.node)


def _find_asked(source: Source, condition: Node) -> str:
    """The path that is asked for, in `(existsSync(path))`."""
    inner = nth(condition, 0) if condition.type == "parenthesized_expression" else condition
    if inner is None or inner.type != "call_expression":
        return ""
    function, given = inner.child_by_field_name("function"), inner.child_by_field_name("arguments")
    first = nth(given, 0) if given is not None else None
    named = function is not None and source.text(function).rpartition(".")[2] in EXISTS
    return source.text(first) if named and first is not None else ""


def _makes(source: Source, call: SourceCall, path: str) -> bool:
    """Unless the call fails where the file is there already."""
    given = [source.text(arg) for arg in call.args]
    return bool(given) and given[0] == path and not any(re.search(r"['\"`]wx\+?['\"`]", arg) for arg in given[1:])
