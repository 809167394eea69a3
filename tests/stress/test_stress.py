"""The short form of some scenarios; `make stress` plays all of them, long."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
