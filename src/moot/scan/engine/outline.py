"""The functions of a file, and a digest of the file without the bodies of those that were not entered."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from moot.scan.engine.ir import (
    Block,
    Class,
    Define,
    Each,
    Function,
    If,
    Module,
    Stmt,
    Switch,
    Try,
    While,
    With,
)
from moot.scan.engine.lazy_block import LazyBlock


@dataclass(frozen=True)
class FollowedFile:
    """What was run of a passive file: its statements outside of functions, and these functions."""

    module: Module
    entered: frozenset[str]
    """Keys of `list_functions`."""
    asked: frozenset[str]
    """Words that a rule searched the whole text for."""
    within_budget: bool
    """Its own statements took no more steps than any file may, whatever its length."""


def list_functions(module: Module) -> list[tuple[str, Function]]:
    """Functions that lie in no other, in order: by name with the classes around it, and how often that came before."""
    found = sorted(_find_functions(module.body), key=lambda entry: entry[1].at)
    times: Counter[str] = Counter()
    keyed = []
    for name, function in found:
        times[name] += 1
        keyed.append((f"{name}#{times[name]}", function))
    return keyed


def _find_functions(body: Block) -> Iterator[tuple[str, Function]]:
    """Iterative: chains of `elif` are long."""
    waiting: list[tuple[str, Stmt]] = [("", stmt) for stmt in body]
    while waiting:
        around, stmt = waiting.pop()
        if isinstance(stmt, Define):
            yield f"{around}{stmt.function.name}", stmt.function
        else:
            inner = f"{around}{stmt.name}." if isinstance(stmt, Class) else around
            waiting.extend((inner, part) for block in _list_blocks(stmt) for part in block)


def _list_blocks(stmt: Stmt) -> tuple[Block, ...]:
    match stmt:
        case Class() | With():
            return (stmt.body,)
        case If():
            return (stmt.then, stmt.other)
        case While() | Each():
            return (stmt.body, stmt.other)
        case Try():
            return (stmt.body, stmt.other, stmt.final, *(handler.body for handler in stmt.handlers))
        case Switch():
            return tuple(case.body for case in stmt.cases)
        case _:
            return ()


def digest_followed(module: Module, entered: Collection[str], *, lined: bool) -> str:
    """Equal digests, equal runs: whatever is not in it was not looked at. `lined`: the numbers of lines count too."""
    digest = hashlib.sha256()
    begin = 0

    def add(end: int, mark: str) -> None:
        part = module.data[begin:end]
        line = module.line(begin) if lined and not part.isspace() else 0
        digest.update(f"{len(part)} {line} {mark}\n".encode() + part)

    for key, function in list_functions(module):
        start = _find_body(module, function)
        if key not in entered and start is not None:
            add(start, key)
            begin = function.at[1]
    add(len(module.data), "")
    return digest.hexdigest()


def _find_body(module: Module, function: Function) -> int | None:
    """Where the body begins. Rules read whole lines, so a body on the line of the function's head is part of that."""
    start = _find_first(function.body)
    if start is None:
        return None
    before = module.data[module.data.rfind(b"\n", 0, start) + 1 : start]
    return start if function.at[0] < start < function.at[1] and not before.strip() else None


def _find_first(body: object) -> int | None:
    if isinstance(body, LazyBlock):
        return body.start
    assert isinstance(body, tuple)
    return body[0].at[0] if body else None
