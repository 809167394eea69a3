"""Which variables an iteration of a loop may take from the one before: those read before the body sets them."""

from collections.abc import Iterable

from moot.scan.engine.ir import (
    Assign,
    Block,
    Each,
    Expr,
    If,
    Import,
    Jump,
    Many,
    Name,
    Raise,
    Return,
    Star,
    Stmt,
    Try,
    While,
    With,
)


def find_carried(loop: While | Each) -> frozenset[str]:
    search = _ReadNames()
    if isinstance(loop, While):
        search.read(loop.test, set())
        search.run(loop.step, search.run(loop.body, set()))
    else:
        start: set[str] = set()
        search.bind(loop.target, start)
        search.run(loop.body, start)
    return frozenset(search.found)


class _ReadNames:
    """`bound` are the names that are set wherever a statement is reached. Where this is not sure, a name counts as
    read."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def run(self, body: Block, bound: set[str]) -> set[str]:
        """The names that are set at the end."""
        bound = set(bound)
        for stmt in body:
            self._run_one(stmt, bound)
        return bound

    def _run_one(self, stmt: Stmt, bound: set[str]) -> None:
        match stmt:
            case Assign():
                self.read(stmt.value, bound)
                for target in stmt.targets:
                    self.bind(target, bound)
            case If():
                self._run_chain(stmt, bound)
            case With():
                for entered in stmt.items:
                    self.read(entered.value, bound)
                    self.bind(entered.target, bound)
                bound |= self.run(stmt.body, bound)
            case Each():
                self.read(stmt.iterable, bound)
                inner = set(bound)
                self.bind(stmt.target, inner)
                self.run(stmt.body, inner)
                self.run(stmt.other, bound)
            case Try():
                self.run(stmt.other, self.run(stmt.body, bound))
                for handler in stmt.handlers:
                    self.read(handler.kind, bound)
                    self.run(handler.body, bound | {handler.name})
                self.run(stmt.final, bound)
            case Import():
                bound.add(stmt.local)
            case _:
                self.read(stmt, bound)

    def _run_chain(self, stmt: If, bound: set[str]) -> None:
        """A chain of `elif` is one loop, not a recursion."""
        blocks: list[Block] = []
        current: If | None = stmt
        while current is not None:
            self.read(current.test, bound)
            blocks.append(current.then)
            other = current.other
            current = other[0] if len(other) == 1 and isinstance(other[0], If) else None
        ends = [(block, self.run(block, bound)) for block in (*blocks, other)]
        if reached := [end for block, end in ends if not (block and isinstance(block[-1], Jump | Return | Raise))]:
            bound |= set.intersection(*reached)

    def bind(self, target: Expr | None, bound: set[str]) -> None:
        match target:
            case Name():
                bound.add(target.id)
            case Many():
                for part in target.items:
                    self.bind(part, bound)
            case Star():
                self.bind(target.value, bound)
            case _:
                self.read(target, bound)

    def read(self, part: object, bound: set[str]) -> None:
        """Every name in an expression or a statement; all of them are tuples."""
        waiting = [part]
        while waiting:
            current = waiting.pop()
            if isinstance(current, Name):
                self.found.update({current.id} - bound)
            elif isinstance(current, tuple):
                waiting.extend(_list_parts(current))


def _list_parts(record: Iterable[object]) -> list[object]:
    return [part for part in record if isinstance(part, tuple)]
