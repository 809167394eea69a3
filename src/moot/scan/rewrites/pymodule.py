"""Python imports: what a module is called here, and where a new import goes."""

import re

from tree_sitter import Node

from moot.scan.calls import imports
from moot.scan.edits import Edit
from moot.scan.syntax import Scope, Source, nth

LEADING = frozenset({"comment", "import_statement", "import_from_statement", "future_import_statement"})


def module(source: Source, name: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """What a module is called at a place, with the edit that imports it when nothing does yet."""
    for alias, real in imports(source).items():
        if real == name and _reaches(source, alias, at):
            return alias, ()
    return name, (_import(source, name),)


def _reaches(source: Source, alias: str, at: Node) -> bool:
    """Imported in this function or one around it, be it in a `try` or an `if`: the code here relies on it already."""
    around: list[Scope] = []
    scope: Scope | None = source.scope(at)
    while scope is not None:
        around.append(scope)
        scope = scope.outer
    return any(
        source.scope(statement) in around and alias in re.split(r"[\s,]+", source.text(statement))
        for statement in source.nodes("import_statement")
    )


def _import(source: Source, name: str) -> Edit:
    newline = "\r\n" if b"\r\n" in source.data else "\n"
    last: Node | None = None
    for statement in source.root.named_children:
        docstring = (last is None or last.type == "comment") and _is_docstring(statement)
        if statement.type not in LEADING and not docstring:
            break
        if statement.type != "comment" or statement.start_byte == 0:
            last = statement
    if last is None:
        start = 3 if source.data.startswith(b"\xef\xbb\xbf") else 0
        return Edit(start, start, f"import {name}{newline}")
    end = source.data.find(b"\n", last.end_byte)
    if end < 0:
        return Edit(len(source.data), len(source.data), f"{newline}import {name}{newline}")
    return Edit(end + 1, end + 1, f"import {name}{newline}")


def _is_docstring(statement: Node) -> bool:
    inner = nth(statement, 0)
    return statement.type == "expression_statement" and inner is not None and inner.type == "string"
