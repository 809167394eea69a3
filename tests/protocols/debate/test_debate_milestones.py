"""Milestones of a debate: a commit each on a branch, the checkout untouched, and the project's checks heard."""

import json
import signal
from pathlib import Path

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TESTS, TWO, Entry, says, world
from debates import FIRST, LAST, NO_EMPTY, RIGHT, ballot, code
from kit import settled, write_trusted
from repositories import ATTRIBUTES, disturbed, git, moot_run, repository, seen, subjects, trapped
from test_debate_cli import debated, prompts, story

FILES = {"src/solution.py": FIRST, "notes.txt": "notes\n"}
BETTER: list[Entry] = [
    *says("code", code(NO_EMPTY), seat="proposer"), *says("code", code(LAST)),
    *QUIET, *says("merge", code(RIGHT)), *says("ballot", ballot("A")),
]  # fmt: skip
"""Two tests of three pass after the drafts, all of them after the optimization."""
MILESTONES = ["Version 2: optimization, round 1", "Version 1: proposal, round 1", "first"]
NO_FLAW: list[Entry] = [{"seat": "red", "always": True, "reply": {"vulnerabilities": []}}]


def test_each_milestone_is_a_commit_and_the_checkout_is_untouched(cli: Cli, tmp_path: Path) -> None:
    repo = disturbed(repository(tmp_path / "my rëpo", {**FILES, **ATTRIBUTES}))
    before, proof = seen(repo), trapped(repo, tmp_path)
    result = debated(cli, tmp_path, BETTER, tests=TESTS, more=("--repo", str(repo / "src"), "--branch"))
    assert (result["outcome"], result["stop_reason"]) == ("agreed", "tests"), result["degraded"]
    branch = f"debate/{result['session_id']}"
    assert not proof.exists(), proof.read_text()
    for key in ("filter.evil.required", "core.fsmonitor", "diff.external", "log.showSignature"):
        git(repo, "config", "--unset", key)  # else looking springs the traps
    for kind in ("clean", "smudge", "process"):
        git(repo, "config", "--unset", f"filter.evil.{kind}")
    assert result["branch"] == branch
    assert [subject.rpartition(": ")[0] or subject for subject in subjects(repo, branch)] == MILESTONES
    texts = [git(repo, "show", f"{branch}{back}:src/solution.py") for back in ("", "~1", "~2")]
    assert texts == [RIGHT, LAST, FIRST]
    assert seen(repo) == before and list((tmp_path / "data-home/moot/worktrees").iterdir()) == []
    versions = story(cli, result["session_id"])["versions"]
    assert [v["metrics"]["commit"] for v in versions][::-1] == git(repo, "rev-list", f"main..{branch}").split()


def test_without_the_flag_nothing_is_committed(cli: Cli, tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", FILES)
    assert debated(cli, tmp_path, BETTER, tests=TESTS)["branch"] == ""
    assert git(repo, "branch", "--list", "debate/*") == ""


@pytest.mark.parametrize("step", [10, 15, 22])
def test_killed_it_resumes_to_the_same_commits(tmp_path: Path, step: int) -> None:
    repo = disturbed(repository(tmp_path / "r", FILES))
    before = seen(repo)
    command = world(tmp_path, BETTER, tests=TESTS, more=("--json", "--repo", "r", "--branch"))
    killed = moot_run(tmp_path, *command, kill_after=step)
    assert killed.returncode == -signal.SIGKILL, killed.stdout
    (listed,) = json.loads(moot_run(tmp_path, "list", "--json").stdout)
    made = git(repo, "branch", "--list", f"debate/{listed['id']}")
    half = git(repo, "rev-list", f"debate/{listed['id']}").split() if made else []
    resumed = moot_run(tmp_path, "resume", listed["id"], "--json")
    assert resumed.returncode == 0, resumed.stderr
    result = settled(resumed.stdout)
    commits = git(repo, "rev-list", result["branch"]).split()
    assert len(commits) == 3 and commits[len(commits) - len(half) :] == half, "no commit was made again"
    assert git(repo, "show", f"{result['branch']}:solution.py") == RIGHT
    assert seen(repo) == before and list((tmp_path / "data/moot/worktrees").iterdir()) == []


POINTS = ("post_proposal", "post_optimization", "post_adversarial", "post_convergence")
HOOK = '[[ci.commands]]\nname = "own"\npoint = "{point}"\ncommand = ["sh", "-c", "echo says {point}; exit 1"]\n'


def test_what_the_projects_checks_say_is_in_the_prompts_that_follow(cli: Cli, tmp_path: Path) -> None:
    write_trusted(tmp_path, "".join(HOOK.format(point=point) for point in POINTS))
    unsure = says("ballot", ballot("B", "A", sure=0.1))
    result = debated(cli, tmp_path, TWO, QUIET, NO_FLAW, unsure, task=OPEN, more=("--adversarial", "--rounds", "2"))
    assert [check["point"] for check in result["checks"]] == [*POINTS, *POINTS], result["degraded"]
    told = story(cli, result["session_id"])
    asked = [s["value"]["call"] for s in told["steps"] if s["name"].startswith("ask ")]

    def heard(phase: str, number: int, begins: str = "") -> set[str]:
        texts = [c["prompt"] for c in asked if (c["phase"], c["round"]) == (phase, number) and begins in c["prompt"]]
        assert texts, (phase, number)
        return {point for point in POINTS for text in texts if f"says {point}" in text}

    assert heard("self_evolvement", 1) == set()
    assert heard("critique", 1, "Critics look") == heard("review", 1) == heard("optimization", 1) == {"post_proposal"}
    assert heard("convergence", 1) == {"post_adversarial"}
    assert heard("critique", 2, "Critics look") == {"post_proposal"}
    assert all("looked at candidate" in text for text in prompts(told, "convergence"))


def test_a_point_without_checks_leaves_what_an_earlier_one_said_of_the_same_candidate(cli: Cli, tmp_path: Path) -> None:
    write_trusted(tmp_path, HOOK.format(point="post_convergence"))
    unsure = says("ballot", ballot("B", "A", sure=0.1))
    result = debated(cli, tmp_path, TWO, QUIET, unsure, task=OPEN, more=("--rounds", "2"))
    first, *later = prompts(story(cli, result["session_id"]), "convergence")[::5]
    assert "says post_convergence" not in first and all("says post_convergence" in text for text in later)
    assert "looked at candidate B alone" in later[0]
