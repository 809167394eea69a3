"""Python imports: local names, and where a new import goes."""

import re

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import imports
from moot.scan.change import RewriteRefused
from moot.scan.edits import Edit
from moot.scan.syntax import Scope, Source, nth

LEADING = frozenset({"comment", "import_statement", "import_from_statement", "future_import_statement"})


YOUNG = frozenset({"secrets", "html", "urllib.parse"})
"""Modules that Python 2 does not have."""
OLD = re.compile(
    rb"(?m)^from __future__ import [^\n]*\b(?:unicode_literals|print_function|absolute_import|division)"
    rb"|\bunicode\s*=\s*str\b|\bPY2\b|\bsix\.moves\b"
)


def serves_python_2(source: Source) -> bool:
    return OLD.search(source.data) is not None


def _refuse_young(source: Source, name: str) -> None:
    if name in YOUNG and serves_python_2(source):
        raise RewriteRefused(f"the file is written for Python 2 too, which has no {name}")


def module(source: Source, name: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """The local name of a module, with the edit that imports it if needed."""
    for alias, real in imports(source).items():
        if real == name and _reaches(source, alias, at) and not _is_assigned(source, alias, at, within=True):
            return alias, ()
    _refuse_young(source, name)
    _free(source, name, at)
    return name, (_import(source, f"import {name}"),)


def module_as(source: Source, name: str, alias: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """The module under another name, where its own means something else."""
    if imports(source).get(alias) == name and not _is_bound(source, alias, at):
        return alias, ()
    _free(source, alias, at)
    return alias, (_import(source, f"import {name} as {alias}"),)


def import_at_top(source: Source, name: str) -> tuple[str, tuple[Edit, ...]]:
    """The same for code right below the imports."""
    heads = [source.text(s) for s in source.root.named_children if s.type in LEADING]
    for alias, real in imports(source).items():
        if real == name and any(h.startswith("import ") and alias in re.split(r"[\s,]+", h) for h in heads):
            return alias, ()
    _refuse_young(source, name)
    _free(source, name, source.root)
    return name, (_import(source, f"import {name}"),)


def member(source: Source, origin: str, name: str, at: Node) -> tuple[str, tuple[Edit, ...]]:
    """The local name of a module's function, with the edit that imports it if needed."""
    if imports(source).get(name) == f"{origin}.{name}" and not _is_bound(source, name, at):
        return name, ()
    _refuse_young(source, origin)
    _free(source, name, at)
    return name, (_import(source, f"from {origin} import {name}"),)


def function(source: Source, name: str, text: str, at: Node) -> tuple[Edit, ...]:
    """Inserts a function below the imports; no edit if the same text is already there."""
    return _below(source, name, text.strip(), at, 2)


def statement_below(source: Source, name: str, text: str, at: Node) -> tuple[Edit, ...]:
    """The same for a name assigned on a single line."""
    return _below(source, name, text, at, 1)


def _below(source: Source, name: str, text: str, at: Node, blank: int) -> tuple[Edit, ...]:
    newline = "\r\n" if b"\r\n" in source.data else "\n"
    written = text.replace("\n", newline)
    if written.encode() in source.data:
        return ()
    if name in {scope.name for scope in source.functions} | set(imports(source)) or _is_bound(source, name, at):
        raise RewriteRefused(f"{name!r} means something else here")
    place = _import(source, "").start
    rest = source.data[place:].lstrip(b" \t")
    gap = newline * (blank if rest[:1] not in (b"\r", b"\n", b"") else 0)
    lead = "" if place == 0 else newline * blank
    return (Edit(place, place, f"{lead}{written}{newline}{gap}"),)


def _free(source: Source, name: str, at: Node) -> None:
    if imports(source).get(name, name) != name or _is_bound(source, name, at):
        raise RewriteRefused(f"{name!r} means something else here")


def _is_bound(source: Source, name: str, at: Node) -> bool:
    """Whether an enclosing function rebinds the name, even by a later import."""
    if _is_assigned(source, name, at):
        return True
    here = source.scope(at)
    return any(
        source.scope(statement) is here and here.outer is not None and _names(source, statement, name)
        for statement in source.nodes("import_statement", "import_from_statement")
    )


def _is_assigned(source: Source, name: str, at: Node, *, within: bool = False) -> bool:
    """`within`: in a function, not by the module itself (`except ImportError: yaml = None`)."""
    scope: Scope | None = source.scope(at)
    while scope is not None and (scope.outer is not None or not within):
        if name in scope.parameters or changes(source, scope, name):
            return True
        scope = scope.outer
    return False


def _names(source: Source, statement: Node, name: str) -> bool:
    """`a` of `import a.b`, `from x import a` and `import x as a`."""
    text = source.text(statement).removeprefix("import ").rpartition(" import ")[2]
    parts = (part.strip(" ()\n\t").rpartition(" as ")[2] for part in text.split(","))
    return any(part.split(".")[0].strip() == name for part in parts)


def _reaches(source: Source, alias: str, at: Node) -> bool:
    """Imported in this or an enclosing function, even in a `try` or `if`: the code here relies on it already."""
    around: list[Scope] = []
    scope: Scope | None = source.scope(at)
    while scope is not None:
        around.append(scope)
        scope = scope.outer
    return any(
        source.scope(statement) in around
        and (source.scope(statement) is not source.scope(at) or statement.start_byte < at.start_byte)
        and alias in re.split(r"[\s,]+", source.text(statement))
        for statement in source.nodes("import_statement")
    )


def _import(source: Source, line: str) -> Edit:
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
        return Edit(start, start, f"{line}{newline}")
    end = source.data.find(b"\n", last.end_byte)
    if end < 0:
        return Edit(len(source.data), len(source.data), f"{newline}{line}{newline}")
    return Edit(end + 1, end + 1, f"{line}{newline}")


def _is_docstring(statement: Node) -> bool:
    inner = nth(statement, 0)
    return statement.type == "expression_statement" and inner is not None and inner.type == "string"
