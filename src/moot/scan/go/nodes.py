"""Small queries on nodes of Go's syntax tree."""

from tree_sitter import Node

SKIPPED = frozenset({"comment", "empty_statement"})


def list_named_nodes(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in SKIPPED]


def first(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type not in SKIPPED), None)


def operator(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return found.type if found is not None else ""
