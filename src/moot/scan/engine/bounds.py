"""Reading a syntax tree within limits: files that are larger or nest deeper are read in part."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from tree_sitter import Node

from moot.core.types import NotAnalysed
from moot.scan.engine.ir import MAX_DEPTH, Expr, Opaque, Span


class Bounded:
    """Reads only the beginning of a file that is too large, and reports once where it stopped."""

    most_made, most_statements = 50_000, 40_000

    def __init__(self, path: str) -> None:
        self.path = path
        self.made = 0
        self.statements = 0
        self.gaps: dict[int, NotAnalysed] = {}
        self._full = False

    def gap(self, node: Node, why: str) -> None:
        line = node.start_point[0] + 1  # by index: reading `.row` corrupts memory in tree-sitter 0.26
        if line not in self.gaps:
            self.gaps[line] = NotAnalysed(file=self.path, line=line, why=why)

    def is_full(self, node: Node) -> bool:
        if self.made <= self.most_made and self.statements <= self.most_statements:
            return False
        if not self._full:
            many = (
                f"{self.most_made} expressions" if self.made > self.most_made else f"{self.most_statements} statements"
            )
            why = f"more than {many}: the rest was not analysed"
            self.gaps[0] = NotAnalysed(file=self.path, line=node.start_point[0] + 1, why=why)
        self._full = True
        return True

    def as_many(self, nodes: list[Node]) -> list[Node]:
        """Cuts the items to what the file's limit still allows."""
        kept = nodes[: self.most_made + 1 - self.made]
        self.made += len(kept)
        if len(kept) < len(nodes):
            self.is_full(nodes[len(kept)])
        return kept


class TreeReader(Bounded):
    """The state of lowering one file. `lowerings` is the front end's table of expressions by the grammar's name."""

    def __init__(
        self, path: str, data: bytes, lowerings: Mapping[str, Callable[[Any, Node], Expr]], skipped: Collection[str]
    ) -> None:
        super().__init__(path)
        self.data = data
        self.depth = 0
        self.lowerings = lowerings
        self.skipped = skipped

    def text(self, node: Node | None) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace") if node is not None else ""

    def too_deep(self, node: Node) -> bool:
        if self.depth < MAX_DEPTH:
            return False
        self.gap(node, "nests too deep")
        return True

    def expr(self, node: Node | None) -> Expr:
        if node is None:
            return Opaque((0, 0))
        kind = node.type
        full = self.made > self.most_made or self.statements > self.most_statements
        if full and self.is_full(node):
            return Opaque(span(node), (), kind)
        self.made += 1
        if self.depth >= MAX_DEPTH and self.too_deep(node):
            return Opaque(span(node), (), kind)
        lower = self.lowerings.get(kind)
        self.depth += 1
        try:
            return lower(self, node) if lower is not None else self._parts(node)
        finally:
            self.depth -= 1

    def exprs(self, nodes: list[Node]) -> tuple[Expr, ...]:
        return tuple([self.expr(node) for node in nodes if node.type not in self.skipped])

    def opaque(self, node: Node) -> Expr:
        if self.too_deep(node):
            return Opaque(span(node), (), node.type)
        self.depth += 1
        found = self._parts(node)
        self.depth -= 1
        return found

    def _parts(self, node: Node) -> Expr:
        return Opaque(span(node), self.exprs(node.named_children), node.type)


def span(node: Node) -> Span:
    return (node.start_byte, node.end_byte)
