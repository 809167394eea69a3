"""Which Go values are certainly text."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.strings import STRINGS
from moot.scan.syntax import Source

TEXTUAL = re.compile(
    r"(?:\.EncodeToString|\.UserAgent|\.Referer|fmt\.Sprintf|fmt\.Sprint|\.FormValue|\.PostFormValue|\.PathValue|Header\.Get|\.Getenv|"
    r"Query\(\)\.Get|^string|strings\.(?:ToLower|ToUpper|TrimSpace|Join|Replace\w*|Trim\w*))\(.*\)$",
    re.DOTALL,
)
"""Calls that return a string."""
REQUESTED = re.compile(r"(?:r|req|request)\.(?:URL\.Path|URL\.RawQuery|RemoteAddr|RequestURI|Host|Method)")
"""Fields of a request that are strings."""
QUERIED = re.compile(r"\.URL\.Query\(\)$|\.(?:Post)?Form$|\.Header$")


def is_text(source: Source, node: Node) -> bool:
    """Declared as a string, or made by a call that returns one."""
    if is_declared_string(source, node) or TEXTUAL.search(source.text(node)):
        return True
    if node.type == "selector_expression":
        return REQUESTED.fullmatch(source.text(node)) is not None or _is_text_field(source, node)
    if node.type == "call_expression":
        return _is_queried(source, node)
    found = origins(source, node) if node.type == "identifier" else []
    values = [bound.value for bound in found if bound.kind == "set" and bound.value is not None]
    return bool(values) and len(values) == len(found) and all(TEXTUAL.search(source.text(value)) for value in values)


def is_declared_string(source: Source, node: Node) -> bool:
    """A parameter of type string, or a string literal."""
    if node.type in STRINGS:
        return True
    found = source.scope(node).node.child_by_field_name("parameters") if node.type == "identifier" else None
    for given in found.named_children if found is not None else ():
        kind = given.child_by_field_name("type")
        names = [source.text(name) for name in given.children_by_field_name("name")]
        if source.text(node) in names:
            return kind is not None and source.text(kind) == "string"
    return False


def _is_text_field(source: Source, node: Node) -> bool:
    """Every field of this name in the file is a string."""
    field = node.child_by_field_name("field")
    word = source.text(field) if field is not None else ""
    kinds = [
        each.child_by_field_name("type")
        for each in source.nodes("field_declaration")
        if word in [source.text(name) for name in each.children_by_field_name("name")]
    ]
    return bool(kinds) and all(kind is not None and source.text(kind) == "string" for kind in kinds)


def _is_queried(source: Source, node: Node) -> bool:
    """`q.Get("name")` after `q := r.URL.Query()`."""
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("operand") if callee is not None else None
    if thing is None or thing.type != "identifier" or not source.text(node).startswith(f"{source.text(thing)}.Get("):
        return False
    values = [bound.value for bound in origins(source, thing)]
    return bool(values) and all(value is not None and QUERIED.search(source.text(value)) for value in values)
