"""The state of lowering one Python file, and access to its tree."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.engine.bounds import Bounded
from moot.scan.engine.ir import MAX_DEPTH, Expr, Opaque, Parsed, Span

SKIPPED = frozenset({"comment", "line_continuation"})


class PythonReader(Bounded):
    def __init__(self, source: Parsed, lowerings: "dict[str, Lowering]") -> None:
        super().__init__(source.path)
        self.lowerings = lowerings
        self.data = source.data
        self.depth = 0
        self.yields = False

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def word(self, node: Node) -> str:
        """An identifier, normalised as Python does (NFKC): a long s is an s."""
        text = self.text(node)
        return text if text.isascii() else unicodedata.normalize("NFKC", text)

    def expr(self, node: Node | None) -> Expr:
        if node is None:
            return Opaque((0, 0))
        if self.is_full(node):
            return Opaque(span(node), (), node.type)
        self.made += 1
        lower = self.lowerings.get(node.type)
        if lower is None:
            return self.opaque(node)
        if self.depth >= MAX_DEPTH:
            self.gap(node, "nests too deep")
            return Opaque(span(node), (), node.type)
        self.depth += 1
        try:
            return lower(self, node)
        finally:
            self.depth -= 1

    def exprs(self, nodes: list[Node]) -> tuple[Expr, ...]:
        return tuple([self.expr(node) for node in nodes if node.type not in SKIPPED])

    def opaque(self, node: Node) -> Expr:
        if self.depth >= MAX_DEPTH:
            self.gap(node, "nests too deep")
            return Opaque(span(node), (), node.type)
        self.depth += 1
        parts = self.exprs(node.named_children)
        self.depth -= 1
        return Opaque(span(node), parts, node.type)


def span(node: Node) -> Span:
    return (node.start_byte, node.end_byte)


def list_named_nodes(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in SKIPPED]


def first(node: Node) -> Node | None:
    for child in node.named_children:
        if child.type not in SKIPPED:
            return child
    return None


Lowering: TypeAlias = Callable[[PythonReader, Node], Expr]
