"""The functions of a file, and a digest of the file without what was not looked at."""

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
    """What was run of a file of the context: its statements outside of functions, and these functions."""

    module: Module
    entered: frozenset[str]
    """Keys of `list_functions`."""
    asked: frozenset[str]
    """Words that a rule searched the whole text for."""
    needed: int
    """The smallest budget of steps with which the run is the same: a longer file may take more."""
    leading: frozenset[str] = frozenset()
    """Names that decide whether one of its functions is run on its own. Empty for a passive file."""


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


def list_parts(module: Module, entered: Collection[str], known: Collection[str]) -> Iterator[tuple[str, int, bytes]]:
    """What a run looks at, with a mark and the offset of each part: all but the bodies of functions that were not
    entered, and functions that are not known. Blank lines between functions count for nothing."""
    begin = 0
    for key, function in list_functions(module):
        first, end = function.at
        yield from _trim("", begin, module.data[begin:first])
        if key in known:
            start = None if key in entered else _find_body(module, function)
            indent = first - module.data.rfind(b"\n", 0, first)
            yield from _trim(f"{key} {indent}", first, module.data[first : end if start is None else start])
        begin = end
    yield from _trim("", begin, module.data[begin:])


def _trim(mark: str, begin: int, part: bytes) -> Iterator[tuple[str, int, bytes]]:
    if not part.isspace() and part:
        kept = part.lstrip(b"\r\n")
        yield mark, begin + len(part) - len(kept), kept.rstrip()


def digest_followed(module: Module, entered: Collection[str], known: Collection[str], *, lined: bool) -> str:
    """Equal digests, equal runs: whatever is not in it was not looked at. `lined`: the numbers of lines count too."""
    digest = hashlib.sha256()
    for mark, begin, part in list_parts(module, entered, known):
        line = module.line(begin) if lined else 0
        digest.update(f"{len(part)} {line} {mark}\n".encode() + part)
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
