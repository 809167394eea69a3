"""Checks of Go files without dataflow, combined into one."""

import re
from collections.abc import Callable, Iterator

from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Span
from moot.scan.go.context import leaks
from moot.scan.go.habits import aliases, callbacks, find_hidden_direction, find_imports, walks
from moot.scan.go.locks import lock_flaws
from moot.scan.go.numbers import flaws
from moot.scan.go.program import Program, read
from moot.scan.go.races import find_races
from moot.scan.go.rules import structure as flaw
from moot.scan.go.rules.when import REVIEWED
from moot.scan.go.secrets import find_marshalled
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Source

Found = tuple[Rule, Span]
ACCEPTED = re.compile(REVIEWED.pattern.encode())


NUMBERS = {"parsed": flaw.PARSED, "convert": flaw.CONVERT, "size": flaw.SIZE}


def numbers(program: Program) -> Iterator[Found]:
    for kind, at in flaws(program):
        yield NUMBERS.get(kind, flaw.INDEX), at


CHECKS: tuple[Callable[[Program], Iterator[Found]], ...] = (
    numbers,
    leaks,
    find_hidden_direction,
    find_imports,
    aliases,
    walks,
    callbacks,
    find_marshalled,
    lock_flaws,
    find_races,
)


def structure(source: Source) -> Iterator[RuleMatch]:
    program = read(lower(source))
    for check in CHECKS:
        for rule, at in check(program):
            node = source.root.descendant_for_byte_range(at[0], max(at[0], at[1] - 1))
            if node is not None and not is_accepted(source.data, at[0]):
                yield RuleMatch(rule, node)


def is_accepted(data: bytes, byte: int) -> bool:
    """On the line itself, or alone on the line above."""
    start = data.rfind(b"\n", 0, byte) + 1
    end = data.find(b"\n", byte)
    if ACCEPTED.search(data[start : end if end >= 0 else len(data)]):
        return True
    above = data[data.rfind(b"\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)].strip()
    return above.startswith((b"//", b"/*")) and bool(ACCEPTED.search(above))
