"""Letters that are looked for in a value of a request that may be an array: `?file=../x&file=y`."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls
from moot.scan.javascript.rules.flaws import CONFUSION
from moot.scan.rule import RuleMatch
from moot.scan.strings import constant_text, unwrap
from moot.scan.syntax import Source

UNSURE = re.compile(r"(?:await )?(?:req|request|ctx|ctx\.request|c\.req)\.(?:query|body)(?:\.\w+|\[['\"]\w+['\"]\])?$")
"""Parsers of queries and bodies make texts, arrays or objects, as the sender writes them."""
LETTERS = re.compile(r"\.\.|[/\\<>'\"`;|&$]|^(?i:script|select|union)$")
CHECKED = (
    r"typeof\s+{name}\b|Array\.isArray\(\s*{name}\b|\bisString\(\s*{name}\b|\b{name}\s*=\s*(?:String\(|`)"
    r"|[zZ]\.|[jJ]oi\."
)


def find_confused(source: Source) -> Iterator[RuleMatch]:
    if b".query" not in source.data and b".body" not in source.data:
        return
    found = calls(source)
    for call in (*found.get("includes", ()), *found.get("indexOf", ())):
        if _looks_for_letters(source, call):
            yield RuleMatch(CONFUSION, call.node)


def _looks_for_letters(source: Source, call: SourceCall) -> bool:
    callee = call.node.child_by_field_name("function")
    base = callee.child_by_field_name("object") if callee is not None else None
    wanted = constant_text(source, call.args[0]) if len(call.args) == 1 else None
    if base is None or wanted is None or LETTERS.search(wanted) is None or not _is_unsure(source, unwrap(base)):
        return False
    name = re.escape(source.text(unwrap(base)))
    return not re.search(CHECKED.format(name=name), source.text(source.scope(call.node).node))


def _is_unsure(source: Source, base: Node) -> bool:
    if base.type != "identifier":
        return UNSURE.match(source.text(base)) is not None
    values = [bound.value for bound in origins(source, base)]
    return len(values) == 1 and values[0] is not None and UNSURE.match(source.text(unwrap(values[0]))) is not None
