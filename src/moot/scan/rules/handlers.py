"""What the handler of an error goes on to do, in Python and JavaScript."""

import re

from tree_sitter import Node

from moot.scan.syntax import FUNCTIONS, Source, inside

HANDLERS = ("except_clause", "catch_clause")
THROWS = ("raise_statement", "throw_statement")
CALLS = ("call", "call_expression")
MOST_LEVELS = 12


LOGGER = re.compile(r"_{0,2}(?:log|warn)(?!_?(?:[iI]n|[oO]ut|[oO]n|[oO]ff)(?:_|[A-Z]|$))(?:_|[A-Z]|$)")


def is_logger(source: Source, attempt: Node) -> bool:
    """In `logError()` nobody is left to tell that a line of the log is lost."""
    return LOGGER.match(source.scope(attempt).name) is not None


def goes_on_failed(source: Source, attempt: Node) -> bool:
    """Whether a `try` stands in the handler of an earlier error that is raised or told behind it, or was told before
    it: an error of the clearing up in between changes nothing of that."""
    node = attempt
    for _ in range(MOST_LEVELS):
        outer = node.parent
        if outer is None or outer.type in FUNCTIONS:
            return False
        if outer.parent is not None and outer.parent.type in HANDLERS:
            name = _name_error(source, outer.parent)
            return any(_tells(source, later, name) for later in _list_later(outer, node)) or any(
                _is_told(source, child, name) for child in outer.named_children if child.end_byte <= node.start_byte
            )
        node = outer
    return False


def _is_told(source: Source, step: Node, name: str) -> bool:
    """`log(error)` as a step of its own."""
    call = step.named_children[0] if step.type == "expression_statement" and step.named_child_count else None
    return call is not None and call.type in CALLS and _tells(source, call, name)


def _list_later(block: Node, node: Node) -> list[Node]:
    return [child for child in block.named_children if child.start_byte >= node.end_byte]


def _name_error(source: Source, handler: Node) -> str:
    named = handler.child_by_field_name("parameter") or handler.child_by_field_name("value")
    if named is None or (handler.type == "except_clause" and named.type != "as_pattern"):
        return ""
    return source.text(named.named_children[-1] if named.type == "as_pattern" else named)


def _tells(source: Source, later: Node, name: str) -> bool:
    return any(
        node.type in THROWS or (node.type == "identifier" and bool(name) and source.text(node) == name)
        for node in inside(later, 400)
    )
