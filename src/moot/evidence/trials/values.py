"""Examples and how answers are compared with them."""

import ast
import math
import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from moot.core.types import Answer, Value
from moot.evidence.trials.notations import read_foreign_value

TestOrigin = Literal["given", "task", "agent", "mutated"]
TestCategory = Literal["functional", "edge_case", "error_handling", "performance", "security", "concurrency"]
Difficulty = Literal["basic", "moderate", "advanced", "expert"]
CLOSE = 1e-6
TEST_NAME = re.compile(r"(?:^|[/._-])(?:tests?|specs?|conftest|testdata)(?:[/._-]|$)", re.IGNORECASE)
"""Paths of tests, by file or folder name."""


class Example(Value):
    """One call and what must come of it: a value (`expected`, as a literal) or an error (`raises`, its class)."""

    call: str
    expected: str = ""
    raises: str = ""
    origin: TestOrigin = "given"
    category: TestCategory = "functional"
    difficulty: Difficulty = "basic"


def is_named_as_test(path: str) -> bool:
    """By the file's own name, whatever its folder."""
    return bool(TEST_NAME.search(PurePosixPath(path).name))


def is_satisfied(example: Example, answer: Answer) -> bool:
    """The solution never saw the expected value."""
    if example.raises:
        return answer.kind == "error" and answer.text == example.raises
    return answer.kind == "value" and same_value(example.expected, answer.text)


def same_value(expected: str, got: str) -> bool:
    """Values of Python; where the expected one is none, of JavaScript or Go."""
    if expected.strip() == got:
        return True
    try:
        wanted = ast.literal_eval(expected)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _is_same_foreign(expected, got)
    try:
        return is_close(wanted, ast.literal_eval(got))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


@lru_cache(maxsize=4096)
def _is_same_foreign(expected: str, got: str) -> bool:
    try:
        return is_close(_mark_truths(read_foreign_value(expected)), _mark_truths(read_foreign_value(got)))
    except ValueError:
        return False


def _mark_truths(value: object) -> object:
    """Only in Python does `True` equal 1."""
    match value:
        case bool():
            return str(value)
        case list():
            return [_mark_truths(each) for each in value]
        case tuple():
            return tuple(map(_mark_truths, value))
        case dict():
            return {key: _mark_truths(each) for key, each in value.items()}
    return value


def is_close(one: object, other: object) -> bool:
    """`==`, but floats may differ in their last digits."""
    if isinstance(one, float) or isinstance(other, float):
        if not (isinstance(one, int | float) and isinstance(other, int | float)):
            return False
        return one == other or math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    if isinstance(one, list | tuple) and type(one) is type(other):
        assert isinstance(other, list | tuple)
        return len(one) == len(other) and all(is_close(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_close(value, other[key]) for key, value in one.items())
    return one == other
