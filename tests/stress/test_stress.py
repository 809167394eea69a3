"""The short form of some scenarios; `make stress` plays all of them, long."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from stress.__main__ import add_section
from stress.scenarios import SCENARIOS, disks, kills, providers
from stress.scene import Ground, NotRun, Outcome

if TYPE_CHECKING:
    from fleetkit import Nursery


@pytest.mark.parametrize(
    "play", [kills.play_server, providers.play, disks.play_server], ids=lambda play: play.__module__
)
def test_nothing_is_lost(play: Callable[[Ground], Outcome], tmp_path: Path, nursery: "Nursery") -> None:
    try:
        outcome = play(Ground(tmp_path, nursery))
    except NotRun as why:
        pytest.skip(f"not run: {why}")
    assert outcome.history.troubles == []
    assert outcome.history.sessions and outcome.history.asked


def test_each_scenario_has_a_place_in_the_document() -> None:
    told = (Path(__file__).parents[2] / "docs" / "reliability.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"`{name}`" not in told] == []


def test_figures_stand_below_the_command_that_made_them() -> None:
    """A run of one scenario replaces its own figures and no others; a long run of all replaces everything."""
    short, one, other = (f"command: {words}\n\n{words}\n" for words in ("make stress STRESS=--short", "a", "b"))
    kept = add_section(add_section(add_section("", one), other), short)
    assert kept == f"{short}\n{one}\n{other}"
    new = one.replace("\n\na", "\n\nanother")
    assert add_section(kept, new) == f"{short}\n{other}\n{new}"
    whole = "command: make stress\n\nall\n"
    assert add_section(kept, whole) == whole
