"""Rewrites slow patterns in Python."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.rewrites.regex import make_linear
from moot.scan.strings import contents, quotes, unwrap
from moot.scan.syntax import Source

GROUPS = re.compile(r"\.groups?\(|\.groupdict\(|\bsubn?\(|\bfindall\(|\bre\.split\(|\.expand\(|\.span\(\d")
SPLITS = re.compile(r"\bsplit\(")
KEPT = re.compile(r"(\w+)(?:\s*:[^=]+)?\s*=\s*re\.compile\(")
ASKED = re.compile(r"\bre\.(?:match|search|fullmatch|finditer)\(")


def simplify_pattern(source: Source, node: Node) -> Change:
    literal = _find_literal(source, node)
    opening, _ = quotes(source, literal)
    start, end = contents(source, literal)
    old = source.slice(start, end)
    if "f" in opening.lower() or ("\\" in old and "r" not in opening.lower()):
        raise RewriteRefused("the pattern is not written as a raw string")
    if re.search(r"\bre\.(?:X|VERBOSE|I|IGNORECASE|S|DOTALL|M|MULTILINE)\b", source.text(node)):
        raise RewriteRefused("a flag changes what the pattern means")
    whole = read_call(source, node).method == "fullmatch"
    new = make_linear(old, javascript=False, groups=_reads_groups(source, literal), whole=whole)
    if opening[-1] in new and opening[-1] not in old:
        raise RewriteRefused("the pattern would need other quotes")
    return Change((Edit(start, end, new),), f"the pattern has one way to match: {new}")


def _reads_groups(source: Source, literal: Node) -> bool:
    """Whether what the groups hold is used. The `split` of a text is none of the pattern's, unless the pattern may be
    passed on."""
    text, statement = source.text(source.root), source.statement(literal)
    if GROUPS.search(text):
        return True
    line = source.text(statement) if statement is not None else ""
    kept = KEPT.match(line)
    if kept is None:
        return ASKED.search(line) is None and SPLITS.search(text) is not None
    passed_on = rf"\b{kept[1]}\b(?!\s*[:=]|\.(?:match|search|fullmatch|finditer)\()"
    return re.search(passed_on, text) is not None and SPLITS.search(text) is not None


def _find_literal(source: Source, node: Node) -> Node:
    call = read_call(source, node)
    given = call.arg(0, "pattern") if call.name.startswith("re.") else None
    callee = node.child_by_field_name("function")
    thing = given or (callee.child_by_field_name("object") if callee is not None else None)
    for _ in range(3):
        thing = unwrap(require_node(thing, "the pattern is not here"))
        if thing.type == "string":
            return thing
        if thing.type == "call" and read_call(source, thing).name == "re.compile":
            made = read_call(source, thing)
            if len(made.args) != 1 or made.keywords:
                raise RewriteRefused("a flag changes what the pattern means")
            thing = made.args[0]
        elif thing.type == "identifier" and len(found := origins(source, thing)) == 1:
            thing = found[0].value
        else:
            break
    raise RewriteRefused("the pattern is put together elsewhere")


REWRITES: dict[str, Rewrite] = {"python-slow-regex": simplify_pattern}
