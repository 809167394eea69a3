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


def is_text(source: Source, node: Node) -> bool:
    """Declared as a string, or made by a call that returns one."""
    if is_declared_string(source, node) or TEXTUAL.search(source.text(node)):
        return True
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
