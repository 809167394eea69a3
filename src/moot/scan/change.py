"""The result of a rewrite: edits and a summary, or why there is no safe rewrite."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.edits import Edit
from moot.scan.syntax import Source


@dataclass(frozen=True)
class Change:
    edits: tuple[Edit, ...]
    did: str


class RewriteRefused(Exception):
    """There is no safe rewrite. Caught by `repair`, which reports the text as the reason."""


Rewrite: TypeAlias = Callable[[Source, Node], Change]
Choices: TypeAlias = Callable[[Source, Node], Iterator[Change]]
"""Alternative fixes of one flaw, best first; the first that passes a new scan is used."""


def require_node(node: Node | None, why: str) -> Node:
    if node is None:
        raise RewriteRefused(why)
    return node


def replace_node(node: Node, new: str) -> Edit:
    return Edit(node.start_byte, node.end_byte, new)
