"""Moot's hooks in a client's settings: tried, then written once; nothing else is lost; taken out again."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from patience import PATIENCE

from moot.surfaces.cli.safety import hook
from moot.surfaces.hooks import install
from moot.surfaces.hooks.install import PLACES, sample

OTHERS = {"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine.sh"}]}


def settings(folder: Path, client: str = "claude") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / PLACES[client].project).read_text())
    return found


def commands(found: dict[str, Any], event: str) -> list[str]:
    hooks = [hook for group in found["hooks"][event] for hook in group.get("hooks", [group])]
    return [hook.get("command") or hook["bash"] for hook in hooks]


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trial starts two processes: one test for each client has them, the others are about the file."""
    monkeypatch.setattr(hook, "try_hooks", lambda client, *, strict: None)


@pytest.mark.parametrize("client", PLACES)
def test_every_hook_is_installed_once_and_goes_again(cli: Cli, tmp_path: Path, client: str, untried: None) -> None:
    assert "hooks written" in cli("hook", "install", "--client", client).out
    first = settings(tmp_path, client)
    for event in PLACES[client].events:
        (command,) = commands(first, event.name)
        assert command.startswith("/") and command.endswith(f"hook {event.hook} --client {client}")
    assert "nothing to do" in cli("hook", "install", "--client", client).out
    assert settings(tmp_path, client) == first
    assert "hooks removed" in cli("hook", "uninstall", "--client", client).out
    assert not (tmp_path / PLACES[client].project).exists()
    assert "nothing to do" in cli("hook", "uninstall", "--client", client).out


@pytest.mark.parametrize("client", PLACES)
def test_what_was_written_stops_a_grave_call_and_no_other(cli: Cli, tmp_path: Path, client: str) -> None:
    assert cli("hook", "install", "--client", client).code == 0  # its trial lets `git status` pass
    (command,) = commands(settings(tmp_path, client), PLACES[client].events[0].name)
    env = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": "",
    }
    said = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(sample(client, "rm -rf ~/important")), env=env,
        capture_output=True, text=True, timeout=PATIENCE,
    ).stdout  # fmt: skip
    assert '"deny"' in said or (client == "vscode" and '"ask"' in said), said


def test_other_settings_stay(cli: Cli, tmp_path: Path, untried: None) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    mine = {"permissions": {"allow": ["Bash(ls)"]}, "hooks": {"PreToolUse": [OTHERS], "Stop": [OTHERS]}, "ü": 1}
    path.write_text(json.dumps(mine))
    cli("hook", "install")
    cli("hook", "install", "--strict")
    found = settings(tmp_path)
    assert found["permissions"] == mine["permissions"] and found["ü"] == 1 and found["hooks"]["Stop"] == [OTHERS]
    first, second = commands(found, "PreToolUse")
    assert first == "./mine.sh" and second.endswith("moot hook pre-tool-use --client claude --strict")
    cli("hook", "uninstall")
    assert settings(tmp_path) == mine


def test_hooks_of_an_earlier_set_up_are_replaced(cli: Cli, tmp_path: Path, untried: None) -> None:
    (tmp_path / ".claude").mkdir()
    old = {"hooks": [{"type": "command", "command": "moot hook pre-tool-use", "timeout": 600}]}
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [old]}}))
    cli("hook", "install")
    assert len(commands(settings(tmp_path), "PreToolUse")) == 1


@pytest.mark.parametrize("text", ["{broken", "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": "x"}}', "\x80"])
@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_what_is_not_understood_is_not_touched(cli: Cli, tmp_path: Path, text: str, verb: str) -> None:
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    path.write_bytes(text.encode("latin-1"))
    ran = cli("hook", verb)
    assert ran.code == 2 and "settings.json" in ran.err
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("program", ["/nowhere/moot hook", "true hook", "false hook", "echo hook"])
def test_a_hook_that_does_not_answer_is_not_written(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr(install, "hook_command", lambda client, hook, *, strict: program)
    ran = cli("hook", "install")
    assert ran.code == 2 and "nothing was written" in ran.err
    assert not (tmp_path / ".claude").exists()


def test_a_client_that_is_not_known_is_refused(cli: Cli) -> None:
    ran = cli("hook", "install", "--client", "nobody")
    assert ran.code == 2 and "claude, codex" in ran.err


def test_showing_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    shown = json.loads(cli("hook", "install", "--print").out)
    assert set(shown["hooks"]) == {"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit"}
    assert not (tmp_path / ".claude").exists()


def test_for_all_projects(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, untried: None) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cli("hook", "install", "--user").code == 0
    assert commands(settings(tmp_path / "home"), "PreToolUse")[0].endswith("moot hook pre-tool-use --client claude")
    assert not (tmp_path / ".claude").exists()


def test_a_settings_file_that_is_none_is_not_waited_for(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    os.mkfifo(tmp_path / ".claude" / "settings.json")
    assert cli("hook", "install").code == 2


def test_settings_that_switch_hooks_off_are_said(cli: Cli, tmp_path: Path, untried: None) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    assert "sets disableAllHooks" in cli("hook", "install").err
