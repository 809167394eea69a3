"""Size limits of a file: larger ones are read in part."""

from tree_sitter import Node

from moot.core.types import NotAnalysed


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
