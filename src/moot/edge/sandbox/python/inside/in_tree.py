"""Inside the sandbox: the little that is needed of `ast`, which takes longer to load than most tests to run."""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ONLY_TREE = 0x400
PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def parse(text: str, path: str) -> _ast.Module:
    tree: _ast.Module = compile(text, path, "exec", ONLY_TREE, dont_inherit=True)
    return tree


def children(node: _ast.AST) -> Iterator[_ast.AST]:
    for name in node._fields:
        value = getattr(node, name, None)
        for each in value if isinstance(value, list) else (value,):
            if isinstance(each, _ast.AST):
                yield each


def walk(node: _ast.AST) -> Iterator[_ast.AST]:
    waiting = [node]
    for each in waiting:
        yield each
        waiting += children(each)


def copy_location(new: Any, old: _ast.AST) -> Any:
    """Copy the location to a new node and all new ones below it."""
    if not hasattr(new, "lineno"):
        for name in PLACE:
            if name in new._attributes and hasattr(old, name):
                setattr(new, name, getattr(old, name))
        for each in children(new):
            copy_location(each, old)
    return new


class Rewriter:
    """Replaces nodes by the result of the method named after their type: a node, or several statements."""

    def visit(self, node: _ast.AST) -> Any:
        method = getattr(self, "visit_" + type(node).__name__, None)
        return method(node) if method else self.inner(node)

    def inner(self, node: _ast.AST) -> _ast.AST:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                value[:] = [new for each in value for new in self._visit_value(each)]
            elif isinstance(value, _ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _visit_value(self, value: Any) -> list[Any]:
        new = self.visit(value) if isinstance(value, _ast.AST) else value
        return new if isinstance(new, list) else [new]
