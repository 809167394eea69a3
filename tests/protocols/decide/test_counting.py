"""Agreement is counted exactly, and several questions are as good as the worst of them."""

import itertools
from fractions import Fraction

import pytest

from moot.protocols.decide.verdicts import JudgePosition, find_agreement, worst_outcome


def at(*options: str) -> list[JudgePosition]:
    return [
        JudgePosition(judge=f"j{n}", title="", stance="", round=1, option=o, reasons="") for n, o in enumerate(options)
    ]


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ("", None), ("A", None), ("AA", "A"), ("AB", None), ("AAA", "A"), ("AAB", "A"), ("ABA", "A"), ("BAA", "A"),
        ("ABC", None), ("AABB", None), ("AAAB", "A"), ("AAABB", None), ("AAAAB", "A"), ("AAAABB", "A"),
        ("AAABBB", None), ("AAABBC", None), ("AAAAABB", "A"), ("AAAABBB", None),
    ],
)  # fmt: skip
def test_agreement_is_two_thirds_of_those_present(options: str, option: str | None) -> None:
    assert find_agreement(at(*options)) == option


def test_agreement_is_exact_for_every_panel_up_to_seven() -> None:
    for count in range(2, 8):
        for options in itertools.product("ABC", repeat=count):
            most = max(options, key=options.count)
            share = Fraction(options.count(most), count)
            assert (find_agreement(at(*options)) == most) == (share >= Fraction(2, 3)), options


@pytest.mark.parametrize(
    ("outcomes", "worst"),
    [
        (("RECOMMENDED", "CONTESTED"), "CONTESTED"),
        (("CONTESTED", "INSUFFICIENT_DATA"), "INSUFFICIENT_DATA"),
        (("NO_PANEL", "RECOMMENDED"), "RECOMMENDED"),
        (("NO_PANEL",), "NO_PANEL"),
    ],
)
def test_several_questions_are_as_good_as_the_worst(outcomes: tuple[str, ...], worst: str) -> None:
    assert worst_outcome(outcomes) == worst  # type: ignore[arg-type]
