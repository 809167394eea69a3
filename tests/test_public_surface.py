"""What programs rely on is still there: commands, options, exit codes, settings, result fields, HTTP, MCP, library."""

import copy
import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import moot

SCRIPT = Path(__file__).parents[1] / "scripts" / "public_surface.py"
BREAKING = (
    "this is a breaking change: keep the old form beside the new one and mark it as deprecated (docs/stability.md), or "
    "add it to CHANGELOG.md, raise the major version and run `.venv/bin/python scripts/public_surface.py --breaking`"
)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    found = importlib.util.spec_from_file_location("public_surface", SCRIPT)
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def now(script: ModuleType) -> dict[str, list[str]]:
    return script.list_surface()  # type: ignore[no-any-return]


@pytest.fixture
def kept(script: ModuleType) -> dict[str, Any]:
    return json.loads(script.KEPT.read_text("utf-8"))  # type: ignore[no-any-return]


def test_nothing_that_programs_rely_on_is_gone(script: ModuleType, now: Any, kept: Any) -> None:
    assert script.find_gone(kept["surface"], now) == [], BREAKING


def test_what_is_new_is_listed(script: ModuleType, now: Any, kept: Any) -> None:
    """Otherwise nobody would notice when it goes."""
    assert script.find_gone(now, kept["surface"]) == [], "run `.venv/bin/python scripts/public_surface.py`"


@pytest.mark.parametrize(
    "line",
    [
        "commands: harden --max-rounds", "commands: gate approve <1>", "exit codes: debate: 4",
        "settings: harden.max_rounds", "result fields: debate: votes", "event fields: Exchanged: usd",
        "http: POST /v1/debates", "http: GET /v1/debates/{id}/events ?after", "mcp: harden files",
        "library: harden(model)", "library: HardenResult: diff", "packages: moot.core.room.Room: ask",
    ],
)  # fmt: skip
def test_a_loss_is_noticed(script: ModuleType, now: dict[str, list[str]], line: str) -> None:
    part, _, what = line.partition(": ")
    less = {**now, part: [one for one in now[part] if one != what]}
    assert script.find_gone(now, less) == [line]


def test_a_loss_is_dropped_from_the_list_only_with_a_new_major_version(
    script: ModuleType, now: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    surface = copy.deepcopy(now)
    surface["commands"].append("harden --gone")
    file = tmp_path / "surface.json"
    file.write_text(json.dumps({"version": "1.4.0", "surface": surface}))
    monkeypatch.setattr(script, "KEPT", file)
    monkeypatch.setattr(script, "list_surface", lambda: now)
    monkeypatch.setattr(moot, "__version__", "1.5.0")
    assert script.main(["--breaking"]) == 1 and "needs a major version above 1.4.0" in capsys.readouterr().err
    assert script.main([]) == 0 and "commands: harden --gone" in capsys.readouterr().err
    assert "harden --gone" in json.loads(file.read_text())["surface"]["commands"]
    monkeypatch.setattr(moot, "__version__", "2.0.0")
    assert script.main([]) == 0  # as `make docs` does: it says nothing about what was promised
    assert script.main(["--breaking"]) == 0
    assert json.loads(file.read_text())["surface"] == now
