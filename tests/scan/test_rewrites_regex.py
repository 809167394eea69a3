"""A slow pattern becomes a fast one that finds the same."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import repaired, rules

from moot.scan.change import RewriteRefused
from moot.scan.regex_growth import measure_growth
from moot.scan.rewrites.regex import finds_the_same, make_linear

FASTER = [
    (r"^([a-zA-Z0-9]+)+@([a-z0-9]+\.)+[a-z]{2,}$", r"^([a-zA-Z0-9]+)@([a-z0-9]+\.)+[a-z]{2,}$"),
    (r"^([a-z0-9]+-?)+(\.[a-z]+)+$", r"^([a-z0-9]+(?:-[a-z0-9]+)*-?)(\.[a-z]+)+$"),
    (r"^(\w+\s?)*$", r"^((?:\w+(?:\s\w+)*\s?)?)$"),
    (r"^(\d+|\w+)+$", r"^([\d\w]+)$"),
    (r"^(?:\s*\w+\s*)+;$", r"^(?:\s*\w(?:\w|\s)*);$"),
    (r"(a*)*b", r"(a*)b"),
    (r"([a-zA-Z]+)*\d$", r"([a-zA-Z]*)\d$"),
]


@pytest.mark.parametrize(("slow", "fast"), FASTER)
def test_a_pattern_gets_one_way_to_match(slow: str, fast: str) -> None:
    assert measure_growth(slow) != "linear"
    assert make_linear(slow, javascript=False, groups=False) == fast
    assert measure_growth(fast) == "linear"


@settings(max_examples=150)
@given(st.sampled_from(FASTER), st.text(alphabet="aZ0 -.;@_\n", max_size=11))
def test_the_fast_pattern_finds_the_same(pair: tuple[str, str], text: str) -> None:
    slow, fast = (re.search(pattern, text) for pattern in pair)
    assert (slow and slow.span()) == (fast and fast.span())


@pytest.mark.parametrize("pattern", [r"(x+x+)+y", r"^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_what_has_no_known_equal_is_left(pattern: str) -> None:
    with pytest.raises(RewriteRefused):
        make_linear(pattern, javascript=False, groups=False)


def test_patterns_that_differ_are_told_apart() -> None:
    assert not finds_the_same("a+b", "a*b", groups=False)
    assert not finds_the_same("(a)+", "(a+)", groups=True) and finds_the_same("(a)+", "(a+)", groups=False)


def test_a_group_that_is_read_keeps_what_it_holds() -> None:
    text = "import re\ndef f(text):\n    return re.match(r'^(a|b)+$', text).group(1)\n"
    text = text.replace("(a|b)+", "(a|a)*") + "\n"
    assert rules("python", text) == ["python-slow-regex"]
    assert repaired("python", text)[0] == text
