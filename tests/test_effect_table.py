"""The table of docs/debate.md: what its script gives, a row for every part, and a dead part is seen."""

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from moot.protocols.debate.types import PHASES, Planning, Topology
from moot.teams.roles import load_shipped_roles
from moot.teams.voting import Method

SCRIPT = Path(__file__).parents[1] / "scripts/effect_table.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    found = importlib.util.spec_from_file_location("effect_table", SCRIPT)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    sys.modules["effect_table"] = module  # dataclasses look their module up
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def table(script: ModuleType) -> Iterator[str]:
    yield script.render_table()


def test_the_page_has_what_the_script_gives(script: ModuleType, table: str) -> None:
    shown = script.read_table(script.PAGE.read_text("utf-8"))
    assert shown == table, "python scripts/effect_table.py --write"


def test_every_part_has_its_row(script: ModuleType) -> None:
    rows = {(part.kind, part.name) for part in script.list_parts()}
    wanted: dict[str, Any] = {
        "phase": PHASES, "role": load_shipped_roles(), "topology": get_args(Topology), "planning": get_args(Planning),
        "voting": get_args(Method),
    }  # fmt: skip
    switches = {("topology", "auto"), ("planning", "auto"), ("planning", "off")}
    assert rows == {(kind, name) for kind, names in wanted.items() for name in names} - switches


def test_a_part_without_an_effect_is_seen(script: ModuleType, tmp_path: Path) -> None:
    vote = next(part for part in script.list_parts() if (part.kind, part.name) == ("voting", "borda"))
    stage = script.Stage(tmp_path)
    assert "elected B → A" in script.describe_difference(vote, stage)
    assert script.describe_difference(replace(vote, without=vote.with_it), stage) == "no difference"


def test_a_figure_that_no_file_has_is_not_made_up(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert script.read_live("without review", "without it").startswith("without it: one model ")
    assert script.read_live("without nothing", "without it") == ""
    monkeypatch.setattr(script, "LIVE", "nowhere.md")
    assert script.read_live("without review", "without it") == ""
