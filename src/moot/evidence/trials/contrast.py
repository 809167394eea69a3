"""Compares two solutions: where they differ, on which smallest input, and the likely cause."""

import ast
from collections.abc import Sequence
from typing import Literal

from moot.core.types import Answer, Value

Cause = Literal[
    "boundary_condition", "empty_input", "off_by_one", "sign", "order", "duplicates", "type", "rounding", "case",
    "whitespace", "error", "timeout", "logic_error",
]  # fmt: skip


class BehaviourDifference(Value):
    call: str
    left: str
    right: str
    cause: Cause


class Contrast(Value):
    """`differences` from the smallest input to the largest; none, and they behave alike on all that was tried."""

    tried: int
    differences: tuple[BehaviourDifference, ...] = ()


def contrast(calls: Sequence[str], left: Sequence[Answer], right: Sequence[Answer]) -> Contrast:
    found = [
        BehaviourDifference(
            call=call, left=format_answer(one), right=format_answer(other), cause=likely_cause(call, one, other)
        )
        for call, one, other in zip(calls, left, right, strict=True)
        if one.mark != other.mark
    ]
    return Contrast(tried=len(calls), differences=tuple(sorted(found, key=lambda d: (len(d.call), d.call))))


def format_answer(answer: Answer) -> str:
    match answer.kind:
        case "value":
            return answer.text
        case "error":
            return f"{answer.text}: {answer.detail}" if answer.detail else answer.text
        case "timeout":
            return "no answer in time"
        case _:
            return answer.detail or "no answer"


def likely_cause(call: str, left: Answer, right: Answer) -> Cause:
    kinds = {left.kind, right.kind}
    if "timeout" in kinds:
        return "timeout"
    if _has_empty(call):
        return "empty_input"
    if kinds != {"value"}:
        return "error"
    try:
        return _of_values(ast.literal_eval(left.text), ast.literal_eval(right.text), call)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return "logic_error"


def _has_empty(call: str) -> bool:
    """Whether an argument is empty or None: the most commonly forgotten case."""
    try:
        tree = ast.parse(call, mode="eval").body
        values = [ast.literal_eval(a) for a in tree.args] if isinstance(tree, ast.Call) else []
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return any(value is None or (isinstance(value, str | list | tuple | dict | set) and not value) for value in values)


def _of_values(one: object, other: object, call: str) -> Cause:
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    if type(one) is not type(other) and not (numbers and not isinstance(one, bool) and not isinstance(other, bool)):
        return "type"
    if isinstance(one, int | float) and isinstance(other, int | float) and not isinstance(one, bool):
        return _of_numbers(one, other)
    if isinstance(one, str) and isinstance(other, str):
        return _of_texts(one, other)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return _of_sequences(list(one), list(other))
    return "boundary_condition" if isinstance(one, bool) and _at_edge(call) else "logic_error"


def _of_numbers(one: float, other: float) -> Cause:
    if one == -other:
        return "sign"
    if abs(one - other) == 1:
        return "off_by_one"
    return "rounding" if abs(one - other) < 1 else "logic_error"


def _of_texts(one: str, other: str) -> Cause:
    if one.lower() == other.lower():
        return "case"
    if "".join(one.split()) == "".join(other.split()):
        return "whitespace"
    return "order" if sorted(one) == sorted(other) else "logic_error"


def _of_sequences(one: list[object], other: list[object]) -> Cause:
    marks, others = sorted(map(repr, one)), sorted(map(repr, other))
    if marks == others:
        return "order"
    if set(marks) == set(others):
        return "duplicates"
    if abs(len(one) - len(other)) == 1 and (set(marks) < set(others) or set(others) < set(marks)):
        return "off_by_one"
    return "logic_error"


def _at_edge(call: str) -> bool:
    return any(edge in call for edge in ("(0", ", 0", "(1)", "-1", "(1,"))
