"""The review of a commit in the background: it wakes the agent for flaws, and for nothing else."""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, CLEAN

from moot.surfaces.hooks.background import review_commit
from moot.surfaces.hooks.install import read_settings


def commit(folder: Path, text: str, *more: str) -> None:
    (folder / "app.py").write_text(text)
    for words in (
        ("init", "-q"),
        ("add", "app.py", *more),
        ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"),
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)


def call(folder: Path, command: str = "git commit -m a") -> bytes:
    given = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "permission_mode": "default", "prompt_id": "p"}
    return json.dumps({**given, "cwd": str(folder), "session_id": "s", "tool_input": {"command": command}}).encode()


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "store.db"))


def test_a_flaw_wakes_the_agent_with_its_place_and_the_way_to_patch_it(tmp_path: Path) -> None:
    commit(tmp_path, BAD)
    told = review_commit(call(tmp_path), "claude")
    assert told.code == 2 and "app.py:" in told.err and "SQL injection" in told.err and "--write" in told.err


def test_a_clean_commit_a_second_one_and_another_command_wake_nobody(tmp_path: Path) -> None:
    commit(tmp_path, BAD)
    assert review_commit(call(tmp_path, "git status"), "claude") == ("", "", 0)
    commit(tmp_path, CLEAN)
    assert review_commit(call(tmp_path), "claude").code == 0
    (tmp_path / "README.md").write_text("words\n")
    commit(tmp_path, CLEAN, "README.md")
    assert review_commit(call(tmp_path), "claude") == ("", "", 0)


def test_a_commit_wakes_once_and_one_elsewhere_is_not_taken_for_it(tmp_path: Path) -> None:
    commit(tmp_path, BAD)
    elsewhere = review_commit(call(tmp_path, "git -C ../other commit -m a"), "claude")
    assert elsewhere.code == 1 and "another folder" in elsewhere.err
    assert review_commit(call(tmp_path, "git -c user.name=a commit -m a"), "claude").code == 2
    assert review_commit(call(tmp_path, "git commit --dry-run"), "claude") == ("", "", 0)
    status = subprocess.run(["git", "status", "--short"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "moot-reviewed" not in status.stdout


@pytest.mark.parametrize("raw", [b"", b"{}", b"[1]", b"\xff"])
def test_what_cannot_be_read_wakes_nobody_and_says_so(raw: bytes) -> None:
    told = review_commit(raw, "claude")
    assert told.code == 1 and told.err


def test_a_folder_that_is_no_repository_wakes_nobody_and_says_so(tmp_path: Path) -> None:
    assert review_commit(call(tmp_path), "claude").code == 1


def test_install_adds_it_where_a_client_can_be_woken_and_uninstall_takes_it_out(cli: Cli, tmp_path: Path) -> None:
    assert cli("hook", "install", "--background").code == 0
    path = tmp_path / ".claude/settings.json"
    groups = read_settings(path)["hooks"]["PostToolUse"]  # type: ignore[index]
    (review,) = [hook for group in groups for hook in group["hooks"] if "review-commit" in hook["command"]]
    assert review["asyncRewake"] is True and review["if"] == "Bash(git:*)"
    assert cli("hook", "uninstall").code == 0 and not path.exists()
    refused = cli("hook", "install", "--client", "codex", "--background")
    assert refused.code == 2 and "--background" in refused.err
