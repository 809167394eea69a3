"""Harden in the user's project: versions on a branch, and the project's own checks on the final code."""

import json
import subprocess
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, trust_project

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.com"]


@pytest.fixture
def project(cli: Cli) -> Path:
    folder = Path.cwd()
    (folder / "app.py").write_text(BAD)
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True)
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run([*GIT, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def harden(cli: Cli, *words: str, code: int = 0) -> dict[str, object]:
    ran = cli("harden", "app.py", "--no-llm", "--json", "--quiet", "--store", "s.db", *words)
    assert ran.code == code, ran.err
    found: dict[str, object] = json.loads(ran.out)
    return found


def test_each_accepted_patch_is_a_commit_on_the_sessions_branch(cli: Cli, project: Path) -> None:
    result = harden(cli, "--branch")
    branch = f"debate/{result['session_id']}"
    assert result["branch"] == branch
    assert "?" in git(project, "show", f"{branch}:app.py") and (project / "app.py").read_text() == BAD
    assert len(git(project, "log", "--format=%s", f"HEAD..{branch}").splitlines()) >= 1
    assert cli("replay", str(result["session_id"]), "--store", "s.db").code == 0


def test_without_the_flag_there_is_no_branch(cli: Cli, project: Path) -> None:
    assert harden(cli)["branch"] == "" and "debate/" not in git(project, "branch", "-a")
    assert cli("harden", "app.py", "--repo", ".").code == 2


def test_checks_of_the_project_judge_the_final_code(cli: Cli, project: Path) -> None:
    (project / "moot.toml").write_text('[ci.post_adversarial]\nactions = ["security_scan"]\n')
    trust_project(project)
    result = harden(cli)
    checks = result["checks"]
    assert isinstance(checks, dict) and [each["action"] for each in checks["feedback"]] == ["security_scan"]
    steps = json.loads(cli("show", str(result["session_id"]), "--json", "--store", "s.db").out)["steps"]
    assert [step["name"] for step in steps].count("check") == 1
    (project / "moot.toml").unlink()
    assert harden(cli)["checks"] is None


def test_a_check_that_fails_is_an_exit_code(cli: Cli, project: Path) -> None:
    own = '[[ci.commands]]\nname = "never"\npoint = "post_adversarial"\ncommand = ["false"]\n'
    (project / "moot.toml").write_text(own)
    trust_project(project)
    result = harden(cli, code=1)
    assert result["outcome"] == "hardened"
