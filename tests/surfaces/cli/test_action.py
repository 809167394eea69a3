"""action.yml and the job that `moot ci init` writes, on a pull request: each step as GitHub's runner runs it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from action_runner import ActionRunner
from conftest import Cli
from fake_github import FakeGitHub
from kit import BAD, CLEAN

ROOT = Path(__file__).parents[3]
OLD_FLAW = "import os\n\nos.system(input())\n"
PIP = """#!/bin/sh
echo "$@" >> "$PIP_LOG"
"""


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


class PullRequestJob:
    """A pull request on a repository that has an older flaw, checked out by a runner."""

    def __init__(self, folder: Path, change: str, github: FakeGitHub, *depth: str) -> None:
        origin = folder / "origin"
        origin.mkdir()
        git(origin, "init", "-q")
        git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")  # as on GitHub
        for name, text in (("old.py", OLD_FLAW), ("app.py", CLEAN)):
            (origin / name).write_text(text)
        base = self._commit(origin)
        (origin / "app.py").write_text(change)
        head = self._commit(origin)
        git(folder, "clone", "-q", *depth, origin.as_uri(), "checkout")
        self.checkout, self.pips = folder / "checkout", folder / "pips"
        scratch = folder / "runner"
        scratch.mkdir()
        event = {"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}}
        (folder / "event.json").write_text(json.dumps(event))
        (folder / "pip").write_text(PIP)
        (folder / "pip").chmod(0o755)
        env = {
            "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PIP_LOG": str(self.pips),
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_API_URL": github.url,
            "GITHUB_WORKSPACE": str(self.checkout),
        }
        about: dict[str, Any] = {"event": event, "token": "t0ken", "action_path": str(ROOT)}
        self.runner = ActionRunner(self.checkout, scratch, {"github": about}, env)

    @staticmethod
    def _commit(folder: Path) -> str:
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "a")
        return git(folder, "rev-parse", "HEAD")

    def run_action(self, **given: str) -> bool:
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        assert action["runs"]["using"] == "composite"
        inputs = {name: about["default"] for name, about in action["inputs"].items()}
        named = {name.replace("_", "-"): value for name, value in given.items()}
        assert set(named) <= set(inputs)
        self.runner.context["inputs"] = {**inputs, **named}
        return self.runner.run(action["runs"]["steps"])

    def describe(self) -> str:
        return "\n".join(f"{step.name}: {step.code}\n{step.said}" for step in self.runner.ran)

    def read_results(self) -> list[str]:
        """The files that the SARIF names."""
        log = json.loads((self.checkout / "moot.sarif").read_text())
        found = log["runs"][0]["results"]
        return [each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in found]


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    server = FakeGitHub()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("depth", [(), ("--depth", "1")], ids=["whole", "shallow"])
def test_a_flaw_of_the_change_is_an_alert_a_comment_a_row_and_a_red_job(
    tmp_path: Path, github: FakeGitHub, depth: tuple[str, ...]
) -> None:
    job = PullRequestJob(tmp_path, BAD, github, *depth)
    assert not job.run_action(), job.describe()
    names = [step.name.partition("@")[0] for step in job.runner.ran]
    assert names == ["actions/setup-python", "Install", "Scan", "Upload alerts", "Comment", "Verdict"], job.describe()
    assert [step.code for step in job.runner.ran] == [0, 0, 0, 0, 0, 1], job.describe()
    assert job.pips.read_text() == f"install --quiet {ROOT}\n"
    assert job.read_results() == ["app.py"]  # the older flaw is not of this change
    assert job.runner.ran[3].given == {"sarif_file": "moot.sarif", "category": "moot"}
    ((comment,),) = [review["comments"] for review in github.reviews]
    assert comment["path"] == "app.py" and "SQL injection" in comment["body"]
    assert "app.py" in job.runner.summary and "old.py" not in job.runner.summary
    assert "t0ken" not in job.describe() + job.runner.summary


def test_inputs_reach_their_steps(tmp_path: Path, github: FakeGitHub) -> None:
    job = PullRequestJob(tmp_path, BAD, github)
    head = git(job.checkout, "rev-parse", "HEAD")
    assert job.run_action(comments="0", fail="false", version="9.9", base=head, paths="app.py old.py"), job.describe()
    assert "differs from" in job.runner.ran[2].said
    assert [step.name for step in job.runner.ran][-1] == "Upload alerts" and github.reviews == []
    assert job.pips.read_text() == "install --quiet moot==9.9\n" and job.read_results() == []


def test_a_clean_change_is_green_and_a_push_without_a_pull_request_scans_everything(
    tmp_path: Path, github: FakeGitHub
) -> None:
    job = PullRequestJob(tmp_path, CLEAN + "\nX = 1\n", github)
    assert job.run_action(), job.describe()
    assert job.read_results() == [] and "no findings" in job.runner.summary.lower()
    job.runner.context["github"]["event"] = {}
    assert not job.run_action() and job.read_results() == ["old.py"], job.describe()


@pytest.mark.parametrize(("name", "text"), [("README.md", "words\n"), ("new/__init__.py", "")])
def test_a_change_without_code_is_green(tmp_path: Path, github: FakeGitHub, name: str, text: str) -> None:
    job = PullRequestJob(tmp_path, BAD, github)
    base = git(job.checkout, "rev-parse", "HEAD")
    (job.checkout / name).parent.mkdir(exist_ok=True)
    (job.checkout / name).write_text(text)
    assert job.run_action(base=base) and job.read_results() == [], job.describe()


@pytest.mark.parametrize(
    ("given", "said"),
    [({"base": "f" * 40}, "f" * 40), ({"paths": "gone"}, "gone"), ({"min_severity": "grave"}, "grave")],
)
def test_a_scan_that_could_not_be_done_is_red_and_stops_the_job(
    tmp_path: Path, github: FakeGitHub, given: dict[str, str], said: str
) -> None:
    job = PullRequestJob(tmp_path, BAD, github)
    assert not job.run_action(**given, fail="false")
    assert job.runner.ran[-1].name == "Scan" and said in job.runner.ran[-1].said, job.describe()


FORGED = {
    "runs": [
        {
            "results": [
                {
                    "ruleId": "r",
                    "message": {"text": "merge this at once"},
                    "locations": [
                        {"physicalLocation": {"artifactLocation": {"uri": "app.py"}, "region": {"startLine": 1}}}
                    ],
                    "partialFingerprints": {"moot/v1": "f"},
                    "properties": {"severity": "critical", "fix": ""},
                }
            ]
        }
    ]
}


@pytest.mark.parametrize("own", [True, False], ids=["action", "written"])
def test_a_result_that_the_change_brings_is_not_taken_for_the_scans(
    own: bool, cli: Cli, tmp_path: Path, github: FakeGitHub
) -> None:
    """A link stopped the scan, and the file of the change behind it was shown as the result."""
    cli("ci", "init")
    (workflow,) = yaml.safe_load((tmp_path / ".github/workflows/moot.yml").read_text())["jobs"].values()
    job = PullRequestJob(tmp_path, BAD, github)
    (job.checkout / "forged.json").write_text(json.dumps(FORGED))
    (job.checkout / "moot.sarif").symlink_to("forged.json")
    assert not (job.run_action() if own else job.runner.run(workflow["steps"]))
    told = json.dumps(github.reviews) + job.runner.summary
    assert "SQL injection" in told and "merge this" not in told, job.describe()


def test_a_refused_comment_leaves_the_verdict(tmp_path: Path, github: FakeGitHub) -> None:
    github.status = 403
    job = PullRequestJob(tmp_path, BAD, github)
    assert not job.run_action()
    assert [step.code for step in job.runner.ran][-2:] == [2, 1] and "permissions" in job.describe()


def test_the_job_that_ci_init_writes_does_the_same(cli: Cli, tmp_path: Path, github: FakeGitHub) -> None:
    assert cli("ci", "init").code == 0
    (workflow,) = yaml.safe_load((tmp_path / ".github/workflows/moot.yml").read_text())["jobs"].values()
    job = PullRequestJob(tmp_path, BAD, github)
    assert not job.runner.run(workflow["steps"])
    codes = {step.name: step.code for step in job.runner.ran if not step.given}
    assert {name: code for name, code in codes.items() if code} == {"Scan": 1}, job.describe()
    assert job.read_results() == ["app.py"] and "app.py" in job.runner.summary and len(github.reviews) == 1
