"""Files that are made after the program looked whether they are there."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

from moot.scan.rule import Rule, RuleMatch


class AskedPath(NamedTuple):
    path: str
    start: int
    end: int
    """From where to where a call that makes it counts."""


def find_made(rule: Rule, asked: Iterable[AskedPath], made: Iterable[tuple[str, Node]]) -> Iterator[RuleMatch]:
    """The first call that makes each path; `made` are the calls of the file, by the text of the path."""
    places: dict[str, list[Node]] = defaultdict(list)
    for path, node in made:
        places[path].append(node)
    for nodes in places.values():
        nodes.sort(key=_get_start)
    for path, start, end in asked:
        later = places.get(path, [])
        first = bisect_left(later, start, key=_get_start)
        if first < len(later) and later[first].start_byte < end:
            yield RuleMatch(rule, later[first])


def _get_start(node: Node) -> int:
    return node.start_byte
