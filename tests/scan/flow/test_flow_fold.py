"""The constant folder agrees with Python on everything it claims to know."""

import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.scan.engine import fold
from moot.scan.engine.fold import UNKNOWN

SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1000, 1000),
    st.floats(allow_nan=False),
    st.text(max_size=6),
    st.binary(max_size=6),
)


def same(known: object, compute: Any, *args: Any) -> bool:
    """Whether what is claimed is what Python computes; claiming nothing is always right."""
    if known is UNKNOWN:
        return True
    value = compute(*args)
    return type(value) is type(known) and value == known


@given(st.sampled_from(sorted(fold.BINARY)), SCALARS, SCALARS)
def test_binary(op: str, left: Any, right: Any) -> None:
    assert same(fold.binary(op, left, right), fold.BINARY[op], left, right)


@given(st.sampled_from(sorted(fold.COMPARE)), SCALARS, SCALARS)
def test_compare(op: str, left: Any, right: Any) -> None:
    known = fold.compare(op, left, right)
    assert known is UNKNOWN or known == bool(fold.COMPARE[op](left, right))


@given(st.sampled_from(sorted(fold.UNARY)), SCALARS)
def test_unary(op: str, value: Any) -> None:
    assert same(fold.unary(op, value), fold.UNARY[op], value)


@given(st.text(max_size=8), st.integers(-10, 10))
def test_item(text: str, place: int) -> None:
    assert same(fold.item(text, place), operator.getitem, text, place)


@given(st.sampled_from(sorted(fold.TEXT_METHODS)), st.text(max_size=8), st.lists(st.text(max_size=3), max_size=2))
def test_method(name: str, text: str, args: list[str]) -> None:
    known = fold.method(text, name, args)
    if known is not UNKNOWN:
        assert known == getattr(text, name)(*args)


@given(st.sampled_from(sorted(fold.FUNCTIONS)), SCALARS)
def test_function(name: str, value: Any) -> None:
    assert same(fold.function(name, [value]), fold.FUNCTIONS[name], value)


@pytest.mark.parametrize(
    ("known", "value"),
    [
        (fold.binary("+", "a", "b"), "ab"),
        (fold.binary("-", 7, 2), 5),
        (fold.binary("*", "ab", 2), "abab"),
        (fold.binary("/", 7, 2), 3.5),
        (fold.binary("//", 7, 2), 3),
        (fold.binary("%", 7, 4), 3),
        (fold.binary("&", 6, 3), 2),
        (fold.binary("|", 6, 3), 7),
        (fold.binary("^", 6, 3), 5),
        (fold.binary("<<", 3, 2), 12),
        (fold.binary(">>", 12, 2), 3),
        (fold.binary("**", 2, 10), 1024),
        ([op for op in fold.COMPARE if fold.compare(op, 1, 2) is True], ["!=", "<", "<=", "<>"]),
        ([op for op in fold.COMPARE if fold.compare(op, 1, 2) is False], ["==", ">", ">="]),
        ([op for op in fold.COMPARE if fold.compare(op, 2, 2) is True], ["==", "<=", ">="]),
        ([fold.compare(op, "b", "abc") for op in ("in", "not in")], [True, False]),
        ([fold.compare(op, "b", None) for op in ("is", "is not")], [False, True]),
        (fold.unary("-", 3), -3),
        (fold.unary("+", True), 1),
        (fold.unary("~", 3), -4),
        (fold.unary("not", ""), True),
        (fold.item("abc", -1), "c"),
        (fold.cut("abcdef", (1, 4, 2)), "bd"),
        (fold.method("a-b", "replace", ["-", "+"]), "a+b"),
        (fold.method(b"ab", "hex", []), "6162"),
        (fold.function("len", ["abc"]), 3),
        (fold.function("max", [2, 3]), 3),
    ],
)
def test_what_is_small_and_sure_is_known(known: object, value: object) -> None:
    """Without this the other tests would pass for a folder that claims nothing, or adds where Python subtracts."""
    assert known == value and type(known) is type(value)


@pytest.mark.parametrize(
    "known",
    [
        fold.binary("*", "a", 10**9),
        fold.binary("**", 2, 10**9),
        fold.binary("<<", 1, 10**9),
        fold.method("a", "ljust", [10**9]),
        fold.binary("/", 1, 0),
        fold.item("abc", 9),
        fold.compare("is", "a", "a"),
    ],
)
def test_what_is_dear_or_unsure_is_not_claimed(known: object) -> None:
    assert known is UNKNOWN
