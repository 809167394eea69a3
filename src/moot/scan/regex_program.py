"""A regular expression as a program for a backtracking matcher that counts its steps.

Engines that backtrack (those of Python and JavaScript) try alternatives in the same order, so their work grows as the
number of steps here does.
"""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

_sre: Any = import_module("re._parser")
_codes: Any = import_module("re._constants")
Test = Callable[[str], bool]
MAX_COPIES = 40
"""Copies of the body of a counted repetition."""
MAX_SIZE = 4_000


class RegexRefused(Exception):
    """The expression is broken, too large, or uses what is not modelled."""


class Op(NamedTuple):
    """`char` consumes, `split` tries `to` before `other`, `jump` goes to `to`, `begin` and `end` and `edge` look at the
    place, `mark` notes the place in slot `to`, `moved` goes on only if it moved since, `cut` and `look` run a part."""

    kind: str
    test: Test | None = None
    to: int = 0
    other: int = 0
    part: "tuple[Op, ...]" = ()
    negated: bool = False


def parse_regex(pattern: str, *, javascript: bool) -> Any:
    """The syntax tree, as Python's own parser gives it."""
    if javascript:
        pattern = re.sub(r"\(\?<(?![=!])", "(?P<", pattern).replace("[^]", r"[\s\S]").replace("[]", r"[^\s\S]")
        pattern = re.sub(r"\\k<[^>]*>", r"\\w", pattern)
        pattern = re.sub(r"\\[pP]\{([^}]*)\}", _stand_in, pattern)
    try:
        return _sre.parse(pattern)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise RegexRefused(str(error)) from None


def _stand_in(named: re.Match[str]) -> str:
    """One character for each class that Unicode names: most of them have no character in common."""
    return chr(0xE000 + sum(ord(char) * place for place, char in enumerate(named[1], 1)) % 0x1800)


def compile_regex(tree: Any) -> tuple[Op, ...]:
    ops: list[Op] = []
    _emit(tree, ops)
    return (*ops, Op("match"))


def _emit(tree: Any, ops: list[Op]) -> None:
    for code, value in tree:
        if len(ops) > MAX_SIZE:
            raise RegexRefused("too large")
        _EMIT.get(str(code), _emit_char)(str(code), value, ops)


def _emit_char(code: str, value: Any, ops: list[Op]) -> None:
    ops.append(Op("char", make_test(code, value)))


def make_test(code: str, value: Any) -> Test:
    """Whether one character fits. Case is ignored by no test: a flag changes the letters, not the growth."""
    if code == "LITERAL":
        wanted = chr(value)
        return lambda char: char == wanted
    if code == "NOT_LITERAL":
        unwanted = chr(value)
        return lambda char: char != unwanted
    if code == "ANY":
        return lambda char: char != "\n"
    if code == "IN":
        return _make_class(value)
    raise RegexRefused(code)


def _make_class(members: Any) -> Test:
    negated = bool(members) and str(members[0][0]) == "NEGATE"
    tests = [_make_member(str(code), value) for code, value in (members[1:] if negated else members)]
    return cache(lambda char: any(test(char) for test in tests) != negated)


CATEGORIES: dict[str, Test] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda char: char.isalnum() or char == "_",
}


def _make_member(code: str, value: Any) -> Test:
    if code == "LITERAL":
        return lambda char: ord(char) == value
    if code == "RANGE":
        low, high = value
        return lambda char: low <= ord(char) <= high
    if code == "CATEGORY":
        name = str(value).removeprefix("CATEGORY_")
        test = CATEGORIES[name.removeprefix("NOT_")]
        return (lambda char: not test(char)) if name.startswith("NOT_") else test
    raise RegexRefused(code)


def _emit_branch(code: str, value: Any, ops: list[Op]) -> None:
    ends: list[int] = []
    branches = value[1]
    for branch in branches[:-1]:
        split = len(ops)
        ops.append(Op("split"))
        _emit(branch, ops)
        ends.append(len(ops))
        ops.append(Op("jump"))
        ops[split] = Op("split", to=split + 1, other=len(ops))
    _emit(branches[-1], ops)
    for end in ends:
        ops[end] = Op("jump", to=len(ops))


def _emit_repeat(code: str, value: Any, ops: list[Op]) -> None:
    low, high, body = value
    for _ in range(min(low, MAX_COPIES)):
        _emit(body, ops)
    lazy = code == "MIN_REPEAT"
    if high is not _codes.MAXREPEAT and high - low <= MAX_COPIES:
        _emit_options(body, high - low, lazy, ops)
        return
    start = len(ops)
    ops.append(Op("split"))
    ops.append(Op("mark", to=start))
    _emit(body, ops)
    ops.append(Op("moved", to=start))
    ops.append(Op("jump", to=start))
    ways = (start + 1, len(ops))
    ops[start] = Op("split", to=ways[lazy], other=ways[not lazy])


def _emit_options(body: Any, count: int, lazy: bool, ops: list[Op]) -> None:
    splits = []
    for _ in range(count):
        splits.append(len(ops))
        ops.append(Op("split"))
        _emit(body, ops)
    for split in splits:
        ways = (split + 1, len(ops))
        ops[split] = Op("split", to=ways[lazy], other=ways[not lazy])


def _emit_possessive(code: str, value: Any, ops: list[Op]) -> None:
    inner: list[Op] = []
    _emit_repeat("MAX_REPEAT", value, inner)
    ops.append(Op("cut", part=(*inner, Op("match"))))


def _emit_atomic(code: str, value: Any, ops: list[Op]) -> None:
    ops.append(Op("cut", part=compile_regex(value)))


def _emit_group(code: str, value: Any, ops: list[Op]) -> None:
    _emit(value[3], ops)


def _emit_place(code: str, value: Any, ops: list[Op]) -> None:
    name = str(value)
    kind = "begin" if "BEGINNING" in name else "end" if "END" in name else "edge"
    ops.append(Op(kind, negated=name == "AT_NON_BOUNDARY"))


def _emit_look(code: str, value: Any, ops: list[Op]) -> None:
    direction, body = value
    if direction > 0:
        ops.append(Op("look", part=compile_regex(body), negated=code == "ASSERT_NOT"))


def _emit_nothing(code: str, value: Any, ops: list[Op]) -> None:
    """A back reference: taken as empty, which gives the matcher less to do, never more."""


_EMIT: dict[str, Callable[[str, Any, list[Op]], None]] = {
    "BRANCH": _emit_branch,
    "MAX_REPEAT": _emit_repeat,
    "MIN_REPEAT": _emit_repeat,
    "POSSESSIVE_REPEAT": _emit_possessive,
    "ATOMIC_GROUP": _emit_atomic,
    "SUBPATTERN": _emit_group,
    "AT": _emit_place,
    "ASSERT": _emit_look,
    "ASSERT_NOT": _emit_look,
    "GROUPREF": _emit_nothing,
    "GROUPREF_EXISTS": _emit_nothing,
}


class StepCounter:
    """Runs a program and counts what it does, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.left = limit

    def match(self, ops: tuple[Op, ...], text: str, start: int) -> int | None:
        """Where the first match ends; None if there is none, or if the steps are used up."""
        waiting: list[tuple[int, int, dict[int, int]]] = [(0, start, {})]
        while waiting and self.left > 0:
            at, place, marks = waiting.pop()
            while self.left > 0:
                self.left -= 1
                op = ops[at]
                if op.kind == "match":
                    return place
                if op.kind == "split":
                    waiting.append((op.other, place, marks))
                    at = op.to
                    continue
                if op.kind == "jump":
                    at = op.to
                    continue
                if op.kind == "mark":
                    marks = {**marks, op.to: place}
                    at += 1
                    continue
                moved = self._step(op, text, place, marks)
                if moved is None:
                    break
                at, place = at + 1, moved
        return None

    def _step(self, op: Op, text: str, place: int, marks: dict[int, int]) -> int | None:
        """The place after one operation; None if it fails."""
        if op.test is not None:
            return place + 1 if place < len(text) and op.test(text[place]) else None
        if op.kind == "begin":
            return place if place == 0 else None
        if op.kind == "end":
            return place if place == len(text) or text[place:] == "\n" else None
        if op.kind == "edge":
            before, after = _is_word(text, place - 1), _is_word(text, place)
            return place if (before != after) != op.negated else None
        if op.kind == "moved":
            return place if place != marks.get(op.to) else None
        ends = self.match(op.part, text, place)
        if op.kind == "cut":
            return ends
        return place if (ends is not None) != op.negated else None


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")
