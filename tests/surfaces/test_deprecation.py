"""What is deprecated is announced wherever it is used, and still works."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest
from conftest import Cli

import moot
from moot.core.deprecation import Deprecation
from moot.core.types import Rules
from moot.protocols import PROTOCOLS
from moot.surfaces.cli import menu
from moot.surfaces.session import project_trust, settings

OLD = Deprecation(since="1.2", removal="2.0", instead="use `rounds`")
ANNOUNCED = "is deprecated since 1.2 and will be removed in 2.0: use `rounds`"


@pytest.fixture
def old_setting(monkeypatch: pytest.MonkeyPatch) -> str:
    """A setting that a protocol's own field marks as deprecated, as a later version would."""
    field = PROTOCOLS["harden"].rules.model_fields["max_rounds"]
    monkeypatch.setattr(field, "metadata", [*field.metadata, OLD])
    monkeypatch.setattr(project_trust, "SAID", set())
    return "harden.max_rounds"


def test_a_deprecated_setting_works_and_is_announced_once(
    old_setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "moot.toml").write_text("[harden]\nmax_rounds = 2\n")
    for _ in range(2):
        assert settings.Settings.load({}, tmp_path)[old_setting] == 2
    said = capsys.readouterr().err
    assert said == f"moot: setting 'harden.max_rounds' ({tmp_path / 'moot.toml'}) {ANNOUNCED}\n"


def test_the_flag_made_from_a_deprecated_setting_is_announced(old_setting: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("x = 1\n")
    ran = cli("harden", "app.py", "--max-rounds", "2", "-q")
    assert ran.code == 0 and f"setting '{old_setting}' (flag) {ANNOUNCED}" in ran.err


def test_nothing_is_said_of_a_deprecated_setting_that_nobody_sets(
    old_setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings.Settings.load({}, tmp_path)[old_setting] == 3
    assert capsys.readouterr().err == ""


def test_doctor_lists_deprecated_settings_in_use(old_setting: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_HARDEN_MAX_ROUNDS", "2")
    assert f"ok    {old_setting}: setting '{old_setting}' (environment) {ANNOUNCED}" in cli("doctor").out


def test_a_deprecated_rule_is_marked_in_the_schema_of_a_request() -> None:
    class OldRules(Rules):
        max_rounds: Annotated[int, OLD] = 3

    assert OldRules.model_json_schema()["properties"]["max_rounds"]["deprecated"] is True
    assert OldRules(max_rounds=2).max_rounds == 2


def test_a_deprecated_command_works_and_is_announced(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(menu.LISTED, "config", replace(menu.LISTED["config"], deprecated=OLD))
    ran = cli("config", "show", "--json")
    assert (ran.code, ran.err) == (0, f"moot: `config` {ANNOUNCED}\n") and ran.out.startswith("{")


def test_a_deprecated_name_of_the_library_warns_and_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(moot._DEPRECATED, "HardenRules", OLD)
    with pytest.warns(DeprecationWarning, match=r"moot\.HardenRules is deprecated since 1\.2"):
        rules = moot.HardenRules
    assert rules().max_rounds == 3
