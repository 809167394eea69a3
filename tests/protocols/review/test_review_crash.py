"""Kill -9 after every recorded step of a review, resume: the same result, and each file is written once."""

import json
import signal
from pathlib import Path

import pytest
from kit import run_moot, settled
from review_kit import REVISED, answers, challenge, project, raised, rebuttal, revision

STEPS = 11  # test_the_review_has_as_many_steps keeps this true
FILE = ".planning/REQUIREMENTS.md"


def session(folder: Path) -> list[str]:
    """Two artefacts; a failed try, an unreadable reply, a refused revision, an accepted one."""
    home = project(folder)
    (home / "ROADMAP.md").write_text("# Roadmap\n\n### Phase 1: A\n**Goal**: a\n**Requirements**: AB-01, AB-02\n")
    adversary: list[dict[str, object]] = [
        {"error": {"kind": "rate_limited", "retry_after": 0.01}, "round": 1},
        {"reply": "It seems fine.", "round": 1},
        {"reply": raised(challenge()), "round": 1, "contains": "requirements document"},
        {"reply": rebuttal({"C1": "unaddressed"}), "round": 2},
        {"reply": rebuttal({"C1": "addressed"}), "round": 3},
        {"reply": raised(), "contains": "roadmap document"},
    ]
    defender: list[dict[str, object]] = [
        {"reply": answers(C1="addressed"), "phase": "answer", "times": 2},
        {"reply": revision("# Requirements\n"), "phase": "revise", "round": 1},
        {"reply": revision(), "phase": "revise", "round": 2},
    ]
    entries: list[dict[str, object]] = [{"seat": "adversary", **a} for a in adversary] + [
        {"seat": "defender", **d} for d in defender
    ]
    (folder / "replies.yaml").write_text(json.dumps(entries))
    return ["review", ".planning", "-m", "script:replies.yaml", "--write", "--json", "--quiet"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run_moot(folder, *session(folder))
    assert done.returncode == 0, done.stderr
    return settled(done.stdout)


def test_the_review_has_as_many_steps(undisturbed: dict[str, object], tmp_path: Path) -> None:
    survived = run_moot(tmp_path, *session(tmp_path), kill_after=STEPS + 1)
    assert survived.returncode == 0 and settled(survived.stdout) == undisturbed
    assert undisturbed["outcome"] == "no_objections" and undisturbed["calls"] == 9


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_after_any_step_a_review_resumes_to_the_same_result(
    undisturbed: dict[str, object], tmp_path: Path, step: int
) -> None:
    killed = run_moot(tmp_path, *session(tmp_path), kill_after=step)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
    assert "AB-03" not in (tmp_path / FILE).read_text(), "nothing is touched in the middle of a run"
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    for _ in range(2):
        resumed = run_moot(tmp_path, "resume", listed["id"][:8], "--json", "--write")
        assert resumed.returncode == 0, resumed.stderr
        assert settled(resumed.stdout) == undisturbed
        assert (tmp_path / FILE).read_text() == REVISED
        assert (tmp_path / ".planning" / "STATE.md").read_text().count("moot review") == 1
