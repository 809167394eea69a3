"""Moot's hooks in the settings of Claude Code: written once, nothing else lost."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

OTHERS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}


def settings(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / ".claude" / "settings.json").read_text())
    return found


def commands(found: dict[str, Any], event: str) -> list[str]:
    return [hook["command"] for group in found["hooks"][event] for hook in group["hooks"]]


def test_every_hook_is_installed_once(cli: Cli, tmp_path: Path) -> None:
    assert "hooks written" in cli("hook", "install").out
    first = settings(tmp_path)
    assert commands(first, "PreToolUse") == ["moot hook pre-tool-use"]
    assert commands(first, "PostToolUseFailure") == ["moot hook post-tool-use"]
    assert commands(first, "UserPromptSubmit") == ["moot hook user-prompt"]
    assert "nothing to do" in cli("hook", "install").out
    assert settings(tmp_path) == first


def test_other_settings_stay(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    mine = {"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [OTHERS], "Stop": [OTHERS]}, "ü": 1}
    path.write_text(json.dumps(mine))
    cli("hook", "install")
    cli("hook", "install", "--strict")
    found = settings(tmp_path)
    assert found["permissions"] == mine["permissions"] and found["ü"] == 1 and found["hooks"]["Stop"] == [OTHERS]
    assert commands(found, "PreToolUse") == ["./mine.sh", "moot hook pre-tool-use --strict"]


@pytest.mark.parametrize("text", ["{broken", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": "x"}}', "\x80"])
def test_what_is_not_understood_is_not_touched(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    path.write_bytes(text.encode("latin-1"))
    ran = cli("hook", "install")
    assert ran.code == 2 and "settings.json" in ran.err
    assert path.read_bytes() == text.encode("latin-1")


def test_showing_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    shown = json.loads(cli("hook", "install", "--print").out)
    assert set(shown["hooks"]) == {"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"}
    assert not (tmp_path / ".claude").exists()


def test_for_all_projects(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cli("hook", "install", "--user").code == 0
    assert commands(settings(tmp_path / "home"), "PreToolUse") == ["moot hook pre-tool-use"]
    assert not (tmp_path / ".claude").exists()
