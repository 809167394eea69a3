"""The state of lowering one Python file, and access to its tree."""

import unicodedata
from collections.abc import Callable
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.engine.bounds import TreeReader
from moot.scan.engine.ir import Expr, Parsed

SKIPPED = frozenset({"comment", "line_continuation"})


class PythonReader(TreeReader):
    def __init__(self, source: Parsed, lowerings: "dict[str, Lowering]") -> None:
        super().__init__(source.path, source.data, lowerings, SKIPPED)
        self.brief = source.brief

    def word(self, node: Node) -> str:
        """An identifier, normalised as Python does (NFKC): a long s is an s."""
        text = self.text(node)
        return text if text.isascii() else unicodedata.normalize("NFKC", text)


def list_named_nodes(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in SKIPPED]


def first(node: Node) -> Node | None:
    for child in node.named_children:
        if child.type not in SKIPPED:
            return child
    return None


Lowering: TypeAlias = Callable[[PythonReader, Node], Expr]
