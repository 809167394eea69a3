"""Figures as people write them."""

import pytest

from moot.core.report import Headline, format_wait


@pytest.mark.parametrize(("milliseconds", "shown"), [(0, "0 ms"), (999, "999 ms"), (69607, "69.6 s")])
def test_a_long_wait_is_told_in_seconds(milliseconds: int, shown: str) -> None:
    assert format_wait(milliseconds) == shown


def test_a_caveat_that_is_the_verdict_is_not_repeated() -> None:
    said = "cancelled: stopped by the user; this is the best so far"
    assert Headline(verdict="cancelled", text=said, caveats=("cancelled: stopped by the user",)).line == said
    assert Headline(verdict="cancelled", text=said, caveats=("one",)).line == f"{said}; caveat: one"
