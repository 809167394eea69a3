"""JavaScript imports, and where an inserted function goes."""

import re
from itertools import takewhile

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import imports
from moot.scan.change import RewriteRefused
from moot.scan.edits import Edit
from moot.scan.syntax import Scope, Source, inside

HEAD = re.compile(r"\brequire\(|^import\b|^[\"']use strict[\"']")
TOP = frozenset({"import_statement", "expression_statement", "lexical_declaration", "variable_declaration"})
SIMPLE = re.compile(r"[\w.]+\(.*\);")
MAX_NODES = 200_000


def function(source: Source, name: str, text: str) -> tuple[Edit, ...]:
    """Inserts a function below the imports; none if the same text is already there."""
    written = text.strip()
    if written in source.data.decode("utf-8", "replace"):
        return ()
    if _is_taken(source, name):
        raise RewriteRefused(f"{name!r} means something else here")
    return (_below(source, written),)


def require_module(source: Source, name: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """The local name of a Node module, with the edit that imports it in the file's own style if needed."""
    for alias, real in imports(source).items():
        if real == name and not _is_hidden(source, alias, at):
            return alias, ()
    if _is_taken(source, name):
        raise RewriteRefused(f"{name!r} means something else here")
    modern = any(n.type in ("import_statement", "export_statement") for n in source.root.named_children)
    return name, (
        _below(source, f'import * as {name} from "{name}";' if modern else f'const {name} = require("{name}");'),
    )


def _is_hidden(source: Source, alias: str, at: Node) -> bool:
    """Whether an enclosing function shadows the name."""
    scope: Scope | None = source.scope(at)
    while scope is not None and scope.outer is not None:
        if alias in scope.parameters or changes(source, scope, alias):
            return True
        scope = scope.outer
    return False


def _is_taken(source: Source, name: str) -> bool:
    kinds = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
    return any(n.type in kinds and source.text(n) == name for n in inside(source.root, MAX_NODES))


def _below(source: Source, text: str) -> Edit:
    """Below the imports, and above the first statement that may run: what it calls would not find the function."""
    heads = [node for node in takewhile(lambda n: _declares(source, n), source.root.named_children)]
    heads = [n for n in heads if n.type == "hash_bang_line" or (n.type != "comment" and HEAD.search(source.text(n)))]
    place = heads[-1].end_byte if heads else 0
    return Edit(place, place, f"\n{text}" if heads else f"{text}\n")


def _declares(source: Source, node: Node) -> bool:
    """Whether the statement only names things: a comment, an import, a declaration that calls nothing but `require`."""
    if node.type in ("comment", "import_statement", "hash_bang_line"):
        return True
    text = source.text(node)
    if node.type in ("lexical_declaration", "variable_declaration"):
        return "=>" not in text and "function" not in text
    return HEAD.search(text) is not None and node.type == "expression_statement" and "{" not in text


def before(source: Source, statement: Node, *lines: str) -> Edit:
    """Inserts lines before a statement, with its indentation; starts a new line if it shares one."""
    start = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(start, statement.start_byte)
    gap = f"\n{indent}" if not indent.strip() else " "
    parent = statement.parent
    branch = parent is not None and parent.type in ("if_statement", "else_clause")
    if branch and statement.type == "expression_statement" and all(SIMPLE.fullmatch(line) for line in lines):
        # A branch without braces has room for one expression.
        return Edit(statement.start_byte, statement.start_byte, "".join(f"{line[:-1]}, " for line in lines))
    if parent is None or parent.type not in ("statement_block", "program"):
        raise RewriteRefused("the statement has no block of its own")
    return Edit(statement.start_byte, statement.start_byte, "".join(f"{line}{gap}" for line in lines))
