"""Checks that a path in Go lies in the folder that the code names."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import CALLS, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused
from moot.scan.go.rewrites.answers import find_line, refuse, write_check
from moot.scan.go.rewrites.module import package
from moot.scan.python.rewrites.path import refuse_constants, refuse_search
from moot.scan.rewrites.choices import require_run
from moot.scan.strings import StringHole, Text, build
from moot.scan.syntax import Source, inside

JOINS = frozenset({"path/filepath.Join", "path.Join"})
UNFOLLOWED = 4


def contain_path(source: Source, node: Node) -> Change:
    """The path must not leave its folder. A check right after the path is made serves all of its uses."""
    path = _find_path(source, node)
    require_run(source, node, find_line(node))
    made, line, after = path, find_line(node), False
    if path.type == "identifier":
        bound = origins(source, path)[-1]
        assert bound.value is not None
        made, line, after = bound.value, find_line(bound.node), True
    folder = _folder(source, made)
    filepath, added = package(source, "path/filepath")
    system, more = package(source, "os")
    test = f"rel, err := {filepath}.Rel({folder}, {source.text(path)}); err != nil || !{filepath}.IsLocal(rel)"
    answer = refuse(source, node, f"{system}.ErrPermission")
    needed = more if system in answer else ()
    check = write_check(source, line, test, answer, after=after)
    return Change((check, *added, *needed), f"the file must lie in {folder}")


def _find_path(source: Source, node: Node) -> Node:
    for arg in read_call(source, node).args:
        if _is_made_here(source, arg):
            return arg
        found = origins(source, arg) if arg.type == "identifier" else []
        here = len(found) == 1 and found[0].kind == "set" and source.scope(found[0].node) is source.scope(arg)
        if here and found[0].value is not None and _is_made_here(source, found[0].value):
            return arg
    raise RewriteRefused("no folder is known in which the file must lie")


def _is_made_here(source: Source, node: Node) -> bool:
    if node.type in CALLS:
        return read_call(source, node).name in JOINS | {"fmt.Sprintf"} or _find_joining(source, node) is not None
    return node.type == "binary_expression"


def _find_joining(source: Source, node: Node) -> tuple[Node, str, str] | None:
    """The join of a method that only joins, with the name of its receiver there and here: `s.path(name)`."""
    callee = node.child_by_field_name("function")
    if callee is None or callee.type != "selector_expression":
        return None
    owner, _, word = source.text(callee).rpartition(".")
    named = [m for m in source.nodes("method_declaration") if source.text(m.child_by_field_name("name")) == word]  # type: ignore[arg-type]
    body = named[0].child_by_field_name("body") if len(named) == 1 else None
    receiver = re.match(r"func \((\w+) ", source.text(named[0])) if body is not None else None
    joins = [n for n in inside(body, 300) if n.type in CALLS and read_call(source, n).name in JOINS] if body else []
    if receiver is None or len(joins) != 1 or not re.fullmatch(r"\{\s*return [^\n]*\s*\}", source.text(body)):  # type: ignore[arg-type]
        return None
    return joins[0], receiver[1], owner


def _folder(source: Source, made: Node) -> str:
    joining = _find_joining(source, made) if made.type in CALLS else None
    if joining is not None:
        join, there, here = joining
        folder = _folder(source, join)
        if not folder.startswith(f"{there}."):
            raise RewriteRefused("no folder is known in which the file must lie")
        return here + folder[len(there) :]
    if made.type in CALLS and read_call(source, made).name in JOINS:
        call = read_call(source, made)
        if len(call.args) < 2 or any(inner.type == "variadic_argument" for inner in call.args):
            raise RewriteRefused("no folder is known in which the file must lie")
        refuse_search(source, call.args[0])
        refuse_constants(source, call.args[1:])
        return source.text(call.args[0])
    pieces = [p for p in build(source, made, UNFOLLOWED).pieces if isinstance(p, StringHole) or p.end > p.start]
    first, *rest = pieces or [StringHole(made)]
    begun = source.slice(first.start, first.end) if isinstance(first, Text) else ""
    if rest and sum(isinstance(piece, StringHole) for piece in (first, *rest)) < (1 if begun else 2):
        raise RewriteRefused("the name below the folder is constant")
    if "/" in begun and "\\" not in begun:
        return f'"{begun.rpartition("/")[0] or "/"}"'
    if isinstance(first, StringHole) and rest and isinstance(rest[0], Text):
        following = source.slice(rest[0].start, rest[0].end)
        if following.startswith("/"):
            return source.text(first.node)
    raise RewriteRefused("no folder is known in which the file must lie")


REWRITES: dict[str, Rewrite] = {"go-path": contain_path, "go-zip-slip": contain_path}
