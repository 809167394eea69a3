"""Checks that a path in Go lies in the folder that the code names."""

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import CALLS, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused
from moot.scan.go.rewrites.answers import find_line, refuse, write_check
from moot.scan.go.rewrites.module import package
from moot.scan.python.rewrites.path import refuse_constants, refuse_search
from moot.scan.rewrites.choices import require_run
from moot.scan.strings import StringHole, Text, build
from moot.scan.syntax import Source

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
        return read_call(source, node).name in JOINS
    return node.type == "binary_expression"


def _folder(source: Source, made: Node) -> str:
    if made.type in CALLS:
        call = read_call(source, made)
        if len(call.args) < 2 or any(inner.type == "variadic_argument" for inner in call.args):
            raise RewriteRefused("no folder is known in which the file must lie")
        refuse_search(source, call.args[0])
        refuse_constants(source, call.args[1:])
        return source.text(call.args[0])
    first, *rest = build(source, made, UNFOLLOWED).pieces
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
