"""Nothing lies in the package that nobody calls."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import moot

PACKAGE = Path(moot.__file__).parent
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Called by a library, by name: visitors of trees, hooks of pytest and unittest, protocols of asyncio and alembic.
CALLED_BY_PREFIX = ("visit_", "pytest_", "add", "startTest", "stopTest", "__")
CALLED_BY_LIBRARIES = frozenset((
    "connection_made", "connection_lost", "data_received", "eof_received", "pause_writing", "resume_writing",
    "pipe_data_received", "pipe_connection_lost", "process_exited", "process_bind_param", "process_result_value",
    "writable", "load_dialect_impl", "redirect_request", "ignore_aliases", "make_context", "startup",
    "get_route_handler", "handle_exit", "on_response_complete", "timeout_keep_alive_handler",
    "send_receive_event_to_app", "upgrade", "downgrade", "main", "register", "resolve_command", "on_connect",
    "new_session", "set_session_mode",
))  # fmt: skip
PLAIN = frozenset((
    "property", "cached_property", "staticmethod", "classmethod", "dataclass", "cache", "lru_cache", "override",
    "final", "contextmanager", "asynccontextmanager", "total_ordering", "runtime_checkable", "abstractmethod",
))  # fmt: skip
"""Decorators that register nothing."""
RECURSIVE = 20
"""Nothing that is used more often than this is used by itself alone."""
# Used by people who build on Moot, or by their tests; each with its reason.
ALLOWED = {
    "write_request": "the asker's half of CSP/1",
    "read_synthesis": "the asker's half of CSP/1",
    "find_unanimous": "used by the benchmark of selection",
    "enroll": "keeps a session that another process begins",
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def definitions(tree: ast.AST) -> Iterator[Definition]:
    for node in ast.walk(tree):
        if isinstance(node, DEFINITIONS):
            yield node


def words(node: ast.AST) -> Iterator[str]:
    """Every name that is used under a node. An import alone is no use, nor is a place in `__all__`."""
    if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
        return
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            yield name
        case ast.alias(name=name, asname=str()):
            yield name.rpartition(".")[2]  # used under its other name
        case ast.Constant(value=str(text)) if len(text) < 200:
            yield text.replace(":", ".").rpartition(".")[2]
            yield from re.findall(r"\w+", text) if " | " in text or "[" in text else ()  # a quoted annotation
    for child in ast.iter_child_nodes(node):
        yield from words(child)


def unused(sources: Iterator[tuple[str, ast.Module]]) -> list[str]:
    """Functions, classes and methods whose name occurs nowhere but in their own definition."""
    read = list(sources)
    uses: dict[str, int] = {}
    for _, tree in read:
        for word in words(tree):
            uses[word] = uses.get(word, 0) + 1
    found = []
    for file, tree in read:
        if file == "testing.py":  # fakes for the tests of others
            continue
        for node in definitions(tree):
            count = uses.get(node.name, 0)
            if count > RECURSIVE or is_called_elsewhere(node):
                continue
            if count <= sum(1 for word in words(node) if word == node.name):
                found.append(f"{file}: {node.name}")
    return found


def is_called_elsewhere(node: Definition) -> bool:
    if node.name in CALLED_BY_LIBRARIES or node.name.startswith(CALLED_BY_PREFIX) or node.name in moot.__all__:
        return True
    # Any other decorator registers what it decorates: a command, a route, a validator, an event of a library.
    return any(ast.unparse(each).partition("(")[0].rpartition(".")[2] not in PLAIN for each in node.decorator_list)


def test_what_nobody_calls_is_found() -> None:
    tree = ast.parse("def a():\n    return a()\n\ndef b():\n    return 1\n\nx = b()\n\n@app.command\ndef c(): ...\n")
    assert unused(iter([("m.py", tree)])) == ["m.py: a"]


def test_everything_is_used() -> None:
    found = unused(trees())
    assert [each for each in found if each.rpartition(" ")[2] not in ALLOWED] == []


def test_every_exception_is_needed() -> None:
    assert sorted(set(ALLOWED) - {each.rpartition(" ")[2] for each in unused(trees())}) == []
