"""Checks that a path in JavaScript lies in the folder that the code names."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import CALLS, read_call
from moot.scan.change import Change, Choices, RewriteRefused, require_node
from moot.scan.javascript.rewrites.module import before, require_module
from moot.scan.python.rewrites.path import find_leading_folder, require_same_way
from moot.scan.rewrites.choices import leave_start, require_run
from moot.scan.strings import StringHole, Text, build, unwrap
from moot.scan.syntax import Source, inside

FORBIDDEN = "the path leads out of its folder"
JOINS = frozenset({"path.join", "path.resolve"})
OTHERS_FILE = re.compile(r"(?:delete|remove|create|open|load|move|copy|upload|store|save|extract)File")
FILE_MODULES = re.compile(r"(?:node:)?(?:fs|graceful-fs)\b")
CALLBACKS = ("callback", "cb", "next", "done")
ERRORS = frozenset({"err", "error", "_err", "er", "e"})
LATER = frozenset(
    {"on", "once", "addListener", "setTimeout", "setInterval", "setImmediate", "nextTick", "createServer"}
)
"""Calls that run their function after they returned."""
UNFOLLOWED = 4


def contain_path(source: Source, node: Node) -> Iterator[Change]:
    """The path must not leave its folder; a handler answers 403 if it does, other functions throw."""
    place = unwrap(require_node(read_call(source, node).arg(0), "the path is not here"))
    made = _follow(source, place)
    statement = require_node(source.statement(node), "the path is used outside of a statement")
    if source.scope(statement) is not source.scope(node):
        raise RewriteRefused("the path is used outside of a statement")
    require_run(source, node, statement)
    path, added = require_module(source, "path", node)
    folder = _folder(source, made)
    leave_start(source, node, folder)
    call = read_call(source, node)
    if OTHERS_FILE.fullmatch(call.method) and not FILE_MODULES.match(call.name):
        raise RewriteRefused("whether the call opens a file, or only lists its name, is not known here")
    away = f"{path}.relative({folder}, {source.text(place)})"
    test = f'{away}.startsWith("..") || {path}.isAbsolute({away})'
    guard = f"if ({test}) {{ {_refusal(source, node)} }}"
    yield Change((*added, before(source, statement, guard)), f"the file must lie in {folder}")


def _follow(source: Source, place: Node) -> Node:
    """The expression that makes the path."""
    if place.type != "identifier":
        return place
    found = origins(source, place)
    value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
    if value is None or source.scope(found[0].node) is not source.scope(place):
        raise RewriteRefused("the path is put together elsewhere")
    require_same_way(source, found[0].node, place)
    return unwrap(value)


def _folder(source: Source, made: Node) -> str:
    if made.type in CALLS:
        joined = read_call(source, made)
        if joined.name not in JOINS or len(joined.args) < 2:
            raise RewriteRefused("no folder is known in which the file must lie")
        if any(n.type in CALLS and not _is_fixed(source, n) for arg in joined.args for n in inside(arg, 200)):
            raise RewriteRefused("the path is worked out by a call")
        return find_leading_folder(source, made, joined.args)
    first, *rest = build(source, made, UNFOLLOWED).pieces
    begun = source.slice(first.start, first.end) if isinstance(first, Text) else ""
    if rest and sum(isinstance(piece, StringHole) for piece in (first, *rest)) < (1 if begun else 2):
        raise RewriteRefused("the name below the folder is constant")
    if "/" in begun and not re.search(r"[\\'\"`$]", begun):
        return f'"{begun.rpartition("/")[0] or "/"}"'
    following = source.slice(rest[0].start, rest[0].end) if rest and isinstance(rest[0], Text) else ""
    if isinstance(first, Text) and not begun and len(rest) > 1 and isinstance(rest[0], StringHole):
        after = rest[1]
        if isinstance(after, Text) and source.slice(after.start, after.end).startswith("/"):
            return source.text(rest[0].node)
    if isinstance(first, StringHole) and following.startswith("/"):
        return source.text(first.node)
    raise RewriteRefused("no folder is known in which the file must lie")


def _is_fixed(source: Source, call: Node) -> bool:
    """Calls that give the same each time: `os.tmpdir()`, `process.cwd()`."""
    return read_call(source, call).name in ("process.cwd", "os.tmpdir", "os.homedir")


def _refusal(source: Source, node: Node) -> str:
    """A handler answers, because a rejected promise would end the program; a function with a callback gives it the
    error, because nobody would catch what it throws later; other functions throw."""
    scope = source.scope(node)
    for name in ("res", "response"):
        if name in scope.parameters:
            return f"{name}.statusCode = 403; return {name}.end();"
    if name := next((name for name in CALLBACKS if name in scope.parameters), ""):
        return f'return {name}(new Error("{FORBIDDEN}"));'
    parent = scope.node.parent
    if parent is not None and parent.type == "arguments" and parent.parent is not None:
        method = read_call(source, parent.parent).method
        if method in LATER or scope.parameters & ERRORS:
            raise RewriteRefused("nobody would catch an error that is thrown in this callback")
    return f'throw new Error("{FORBIDDEN}");'


CHOICES: dict[str, Choices] = {"javascript-path": contain_path}
