"""Simple syntactic checks: loop variables, callbacks, imports, characters."""

from collections.abc import Iterator

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Call,
    Const,
    Each,
    Expr,
    Function,
    Hole,
    Import,
    Item,
    Keyword,
    Lambda,
    Name,
    Opaque,
    Return,
    Span,
)
from moot.scan.go.program import Program, inside, key, root, within
from moot.scan.go.rules import flaws as calls
from moot.scan.go.rules import structure as flaw
from moot.scan.rule import Rule
from moot.scan.syntax import words

Found = tuple[Rule, Span]
MARKS = tuple(chr(code).encode() for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F))
WALKS = ("path/filepath.Walk", "path/filepath.WalkDir", "io/fs.WalkDir")
ACTS = words(
    "os.Remove os.RemoveAll os.Chmod os.Chown os.WriteFile os.Create os.OpenFile os.Rename os.Open os.ReadFile "
    "os.Truncate os.Lchown os.Symlink os.Link"
)
CREDENTIALS = ("authorization", "cookie", "www-authenticate")


def find_hidden_direction(program: Program) -> Iterator[Found]:
    data = program.module.data
    for mark in MARKS:
        at = data.find(mark)
        if at >= 0:
            yield flaw.BIDI, (at, at + len(mark))
            return


def find_imports(program: Program) -> Iterator[Found]:
    for stmt in program.module.body:
        if isinstance(stmt, Import) and stmt.origin == "net/http/pprof":
            yield flaw.PROFILER, stmt.at
        elif isinstance(stmt, Import) and stmt.origin == "net/http/cgi":
            yield flaw.CGI, stmt.at


def loop_variables(program: Program) -> Iterator[tuple[Each, tuple[str, ...]]]:
    for node in program.nodes:
        if isinstance(node, Each):
            names = tuple(
                stmt.targets[0].id
                for stmt in node.body[:2]
                if isinstance(stmt, Assign)
                and stmt.local
                and isinstance(stmt.targets[0], Name)
                and _is_head(stmt.value)
                and stmt.targets[0].id != getattr(stmt.value, "id", "")  # `v := v` in the body is a copy
            )
            if names:
                yield node, names


def _is_head(value: Expr) -> bool:
    key_of = value.key if isinstance(value, Item) else value
    return isinstance(key_of, Name) or (isinstance(key_of, Opaque) and key_of.word == "key")


def aliases(program: Program) -> Iterator[Found]:
    """`&v` of a loop variable that is stored or passed on; a field of what it points to does not count."""
    for loop, names in loop_variables(program):
        body = loop.body[len(names) :]
        copied = {key(n.targets[0]) for n in within(body) if isinstance(n, Assign) and n.local}
        for node in within(body):
            if not isinstance(node, Hole) or node.spec != "&" or not isinstance(node.value, Name):
                continue
            if node.value.id in names and node.value.id not in copied and not _only_filled(body, node):
                yield flaw.ALIAS, node.at


def _only_filled(body: object, taken: Hole) -> bool:
    """Calls like `json.Unmarshal(data, &v)` do not keep the address."""
    calls = (node for node in within(body) if isinstance(node, Call) and taken in node.args)
    return any(getattr(call.func, "name", "") in ("Unmarshal", "Decode", "Scan", "Lock", "Unlock") for call in calls)


def walks(program: Program) -> Iterator[Found]:
    for node in program.nodes:
        if not isinstance(node, Call) or program.origin(node.func) not in WALKS:
            continue
        for literal in (arg for arg in node.args if isinstance(arg, Lambda)):
            path = literal.function.params[0].name if literal.function.params else ""
            for inner in inside(literal.function.body):
                acts = isinstance(inner, Call) and program.origin(inner.func) in ACTS
                if acts and isinstance(inner, Call) and inner.args and root(inner.args[0]) == path:
                    yield flaw.WALK, inner.at


def callbacks(program: Program) -> Iterator[Found]:
    """Functions set as `PublicKeyCallback`, `CheckRedirect` and so on."""
    for name, literal in _find_given(program):
        if name == "PublicKeyCallback":
            yield from _keeps_key(literal)
        elif name == "CheckRedirect":
            yield from _carries_headers(literal)
        elif name in ACCEPTING and _always_gives(literal, ACCEPTING[name][0]):
            yield ACCEPTING[name][1], literal.at


ACCEPTING: dict[str, tuple[object, Rule]] = {
    "HostKeyCallback": (None, calls.HOST_KEY),
    "CheckOrigin": (True, calls.ORIGIN),
}
"""What a function says that accepts everybody."""


def _always_gives(function: Function, answer: object) -> bool:
    body = [stmt for stmt in function.body if not isinstance(stmt, Assign)]
    return len(body) == 1 and isinstance(body[0], Return) and _is_constant(body[0].value, answer)


def _is_constant(value: Expr | None, answer: object) -> bool:
    return isinstance(value, Const) and value.value is answer


def _find_given(program: Program) -> Iterator[tuple[str, Function]]:
    for node in program.nodes:
        value: Expr | None = None
        name = ""
        if isinstance(node, Keyword):
            name, value = node.name, node.value
        elif isinstance(node, Assign) and isinstance(node.targets[0], Attr):
            name, value = node.targets[0].name, node.value
        if isinstance(value, Lambda):
            yield name, value.function
        elif isinstance(value, Name) and value.id in program.functions:
            yield name, program.functions[value.id]


def _keeps_key(function: Function) -> Iterator[Found]:
    key_name = function.params[-1].name if function.params else ""
    own = {key(n.targets[0]) for n in within(function.body) if isinstance(n, Assign) and n.local}
    for node in within(function.body):
        if not isinstance(node, Assign) or node.local or root(node.targets[0]) in (own | {"_", ""}):
            continue
        if any(isinstance(n, Name) and n.id == key_name for n in within(node.value)):
            yield flaw.KEPT_KEY, node.at


def _carries_headers(function: Function) -> Iterator[Found]:
    request = function.params[0].name if function.params else ""
    for node in within(function.body):
        if isinstance(node, Assign) and key(node.targets[0]) == f"{request}.Header":
            yield flaw.CARRIED_HEADER, node.at
        elif isinstance(node, Call) and isinstance(node.func, Attr) and key(node.func.base) == f"{request}.Header":
            name = getattr(node.args[0], "value", "") if node.args else ""
            if node.func.name in ("Set", "Add") and str(name).lower() in (
                "authorization",
                "cookie",
                "www-authenticate",
            ):
                yield flaw.CARRIED_HEADER, node.at
