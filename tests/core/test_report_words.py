"""Figures as people write them."""

import pytest

from moot.core.report import format_wait


@pytest.mark.parametrize(("milliseconds", "shown"), [(0, "0 ms"), (999, "999 ms"), (69607, "69.6 s")])
def test_a_long_wait_is_told_in_seconds(milliseconds: int, shown: str) -> None:
    assert format_wait(milliseconds) == shown
