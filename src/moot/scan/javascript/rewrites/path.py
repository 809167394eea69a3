"""Checks that a path in JavaScript lies in the folder that the code names."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import CALLS, SourceCall, read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.javascript.rewrites.functions import find_functions, list_parameters, list_results
from moot.scan.javascript.rewrites.module import before, require_module
from moot.scan.python.rewrites.path import find_leading_folder, require_same_way
from moot.scan.rewrites.choices import leave_start, require_run
from moot.scan.strings import StringHole, Text, build, unwrap
from moot.scan.syntax import Source, inside, words

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
    call = read_call(source, node)
    refusal: RewriteRefused | None = None
    for place in call.args[:2]:
        place = _find_whole(source, unwrap(place))
        try:
            yield _contain(source, node, call, place)
        except RewriteRefused as why:
            refusal = refusal or why
    raise refusal or RewriteRefused("the path is not here")


def _find_whole(source: Source, place: Node) -> Node:
    """`file` of `path.dirname(file)`"""
    while place.type in CALLS and read_call(source, place).name == "path.dirname":
        place = unwrap(require_node(read_call(source, place).arg(0), "the path is not here"))
    return place


def _contain(source: Source, node: Node, call: SourceCall, place: Node) -> Change:
    helper = _find_maker(source, place)
    if helper is not None:
        return _contain_result(source, node, helper)
    made = _follow(source, place)
    statement = require_node(source.statement(node), "the path is used outside of a statement")
    if source.scope(statement) is not source.scope(node):
        raise RewriteRefused("the path is used outside of a statement")
    require_run(source, node, statement)
    path, added = require_module(source, "path", node)
    folder = _folder(source, made, inline=made == place)
    leave_start(source, node, folder)
    if OTHERS_FILE.fullmatch(call.method) and not FILE_MODULES.match(call.name):
        raise RewriteRefused("whether the call opens a file, or only lists its name, is not known here")
    guard = f"if ({_leads_out(path, folder, source.text(place))}) {{ {_refusal(source, node)} }}"
    first = _find_first_use(source, place, statement)
    return Change((*added, before(source, first, guard)), f"the file must lie in {folder}")


def _find_first_use(source: Source, place: Node, statement: Node) -> Node:
    """The first statement that uses the path, if whoever reaches the one at hand has passed it."""
    made = origins(source, place)[-1].node if place.type == "identifier" else statement
    for use in inside(source.scope(place).node, 50_000):
        if use.type != "identifier" or use.start_byte < made.end_byte or source.text(use) != source.text(place):
            continue
        first = source.statement(use)
        block = first.parent if first is not None else None
        if first is None or block is None or first.start_byte >= statement.start_byte:
            break
        same = source.scope(first) is source.scope(statement) and block.type == "statement_block"
        if same and block.start_byte <= statement.start_byte < block.end_byte:
            return first
    return statement


def _leads_out(path: str, folder: str, place: str) -> str:
    """A name may begin with two dots."""
    away = f"{path}.relative({folder}, {place})"
    return f'{away}.split({path}.sep)[0] === ".." || {path}.isAbsolute({away})'


def _find_maker(source: Source, place: Node) -> Node | None:
    """What the function of this file returns whose call gives the path."""
    if place.type == "identifier":
        found = origins(source, place)
        value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
        place = unwrap(value) if value is not None else place
    if place.type != "call_expression":
        return None
    functions = find_functions(source, read_call(source, place))
    results = list_results(source, functions[0]) if len(functions) == 1 else []
    if len(results) != 1 or (results[0].type in CALLS and read_call(source, results[0]).name not in JOINS):
        return None
    return results[0] if results[0].type in (*CALLS, "template_string", "binary_expression") else None


def _contain_result(source: Source, node: Node, made: Node) -> Change:
    """A function that makes a path checks it before it gives it away."""
    path, added = require_module(source, "path", made)
    folder = _folder(source, made, inline=False)
    leave_start(source, node, folder)
    name = next((word for word in ("file", "target", "fullPath") if not _is_used(source, made, word)), None)
    if name is None:
        raise RewriteRefused("the names that are needed mean something else here")
    check = f'if ({_leads_out(path, folder, name)}) {{ throw new Error("{FORBIDDEN}"); }}'
    statement, outer = made.parent, made.parent
    while outer is not None and outer.type == "parenthesized_expression":
        outer = statement = outer.parent
    if statement is not None and statement.type == "return_statement":
        kept = before(source, statement, f"const {name} = {source.text(made)};", check)
        return Change((*added, kept, replace_node(made, name)), f"the file must lie in {folder}")
    if statement is None or statement.type != "arrow_function" or made.parent != statement:
        raise RewriteRefused("the path is put together elsewhere")
    whole = f"{{\n  const {name} = {source.text(made)};\n  {check}\n  return {name};\n}}"
    return Change((*added, replace_node(made, whole)), f"the file must lie in {folder}")


def _is_used(source: Source, made: Node, word: str) -> bool:
    owner = source.scope(made).node
    return any(n.type == "identifier" and source.text(n) == word for n in inside(owner, 50_000))


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


def _folder(source: Source, made: Node, *, inline: bool) -> str:
    if made.type in CALLS:
        joined = read_call(source, made)
        if joined.name not in JOINS or len(joined.args) < 2:
            raise RewriteRefused("no folder is known in which the file must lie")
        again = joined.args if inline else joined.args[:1]
        if any(n.type in CALLS and not _is_fixed(source, n) for arg in again for n in inside(arg, 200)):
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
    """Calls that give the same each time: `os.tmpdir()`, `String(id)`, `name.trim()`."""
    name = read_call(source, call).name
    return name in FIXED or name.startswith("path.") or name.rpartition(".")[2] in FIXED_METHODS


FIXED = frozenset(
    {"process.cwd", "os.tmpdir", "os.homedir", "String", "Number", "decodeURIComponent", "encodeURIComponent"}
)
FIXED_METHODS = words("toLowerCase toUpperCase trim toString replace replaceAll slice substring padStart")
ANSWERS = re.compile(r"\.(?:end|send|sendStatus|status|statusCode|setHeader|writeHead)\b")


def _refusal(source: Source, node: Node) -> str:
    """A handler answers, because a rejected promise would end the program; a function with a callback gives it the
    error, because nobody would catch what it throws later; other functions throw."""
    scope = source.scope(node)
    for name in ("res", "response"):
        if name in scope.parameters and (name == "res" or ANSWERS.search(source.text(scope.node))):
            return f"{name}.statusCode = 403; return {name}.end();"
    last = [source.text(given) for given in list_parameters(scope.node)][-1:]
    if last and last[0] in CALLBACKS:
        return f'return {last[0]}(new Error("{FORBIDDEN}"));'
    parent = scope.node.parent
    if parent is not None and parent.type == "arguments" and parent.parent is not None:
        method = read_call(source, parent.parent).method
        if method in LATER or scope.parameters & ERRORS:
            raise RewriteRefused("nobody would catch an error that is thrown in this callback")
    return f'throw new Error("{FORBIDDEN}");'


CHOICES: dict[str, Choices] = {"javascript-path": contain_path}
