"""What a rewrite hands back: the edits and what they did, or why there is no safe one."""

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
    """No safe rewrite here. Never leaves `repair`: its text becomes the reason in `left`."""


Rewrite: TypeAlias = Callable[[Source, Node], Change]
Choices: TypeAlias = Callable[[Source, Node], Iterator[Change]]
"""Several ways to mend one flaw, the best first; the first that holds on a new scan is taken."""


def require_node(node: Node | None, why: str) -> Node:
    if node is None:
        raise RewriteRefused(why)
    return node


def replace_node(node: Node, new: str) -> Edit:
    return Edit(node.start_byte, node.end_byte, new)
