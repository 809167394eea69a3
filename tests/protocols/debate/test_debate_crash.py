"""Kill -9 after every recorded step of a full debate, resume: the same result, and nothing recorded is paid twice."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from debate_script import says, world
from debates import FIRST, LAST, NO_EMPTY, ballot, blind, code, points, scores, wrote
from kit import run_moot, settled
from patience import PATIENCE

from moot.protocols.debate.types import PHASES

HERE = Path(__file__).parent
STEPS = 56  # test_the_debate_has_as_many_steps_and_holds_every_phase keeps this true
EACH = 14  # kills in one test
TASK = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
ROLES = ("proposer", "critic", "optimizer")
TEAM = "".join(f'[[agents]]\nrole = "{role}"\nmodel = "script:replies.yaml"\n' for role in ROLES)
RULES = '[debate]\nclarify = "always"\ntopology = "graph_mesh"\nadversarial = true\n'
REFLECTION = {"what_went_wrong": "a", "root_cause": "b", "what_to_change": "c", "confidence": 0.5}


def session(folder: Path) -> list[str]:
    """Every phase has work: a question, a repair, a breaking test, a failed improvement, a reflection, ballots."""
    folder.mkdir()
    (folder / "team.toml").write_text(TEAM)
    (folder / "moot.toml").write_text(RULES)
    question = {"reply": {"questions": [{"question": "What comes of an empty list?"}]}}
    answer = {"quote": "or None for an empty one", "answer": "None.", "confidence": 0.95}
    return world(
        folder,
        says("questions", question, times=1),
        says("answers", {"reply": {"answers": [answer]}}, times=1),
        says("code", code(NO_EMPTY), code(LAST), seat="proposer"),
        says("code", "I must think first.", code(FIRST), seat="critic"),
        says("tests", wrote("largest([]) == None"), times=2),
        says("points", points(("B", "disagree", "odd"), breaking=["largest([2, 9, 4]) == 9"]), times=1),
        says("blind", blind(n1="9")),
        says("scores", scores(A=0.5, B=0.6), times=3),
        says("merge", code(NO_EMPTY), code(f"{NO_EMPTY}\n")),
        says("reflect", {"reply": REFLECTION}, times=1),
        says("ballot", ballot("C", "B", why="the last"), seat="critic", times=1),
        says("ballot", ballot("B", "C", why="the first"), times=2),
        task=TASK,
        more=("--json", "--team", "team.toml", "--drafts", "2", "--rounds", "1"),
    )


def killed(folder: Path, first: int, last: int) -> list[dict[str, Any]]:
    words = session(folder)
    program = [sys.executable, str(HERE / "killed_often.py"), str(folder), str(first), str(last), *words]
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(program, env=env, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    (ran,) = killed(tmp_path_factory.mktemp("undisturbed") / "world", 0, 0)
    return ran


def test_the_debate_has_as_many_steps_and_holds_every_phase(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    last, after = killed(tmp_path / "world", STEPS, STEPS + 1)
    assert last["killed"] and not after["killed"]
    result = settled(undisturbed["told"])
    assert (result["outcome"], result["winner"], result["calls"]) == ("contested", "B", 19)
    statuses = {report["phase"]: report["status"] for report in result["phases"]}
    assert statuses == {**dict.fromkeys(PHASES, "held"), "proposal": "skipped"}
    assert len(result["points"]) == 1 and len(result["votes"][0]["ballots"]) == 3 and len(result["dissent"]) == 1
    assert [claim["origin"] for claim in result["claims"]] == ["specification", "breaking"]


@pytest.mark.parametrize("first", range(1, STEPS + 1, EACH))
def test_killed_after_any_step_it_resumes_to_the_same_result(
    undisturbed: dict[str, Any], tmp_path: Path, first: int
) -> None:
    runs = killed(tmp_path / "world", first, min(first + EACH - 1, STEPS))
    for number, ran in enumerate(runs, first):
        assert ran["killed"] and ran["told"], (number, ran["err"])
        assert settled(ran["told"]) == settled(undisturbed["told"]), (number, ran["err"])
        assert Counter(ran["recorded"]) + Counter(ran["asked"]) == Counter(undisturbed["asked"]), number


ACTING = ("proposer", "critic", "reviewer", "designer", "compiler", "executor", "validator", "refactorer", "teacher")


def acting_session(folder: Path) -> list[str]:
    """Every role that acts by itself has work."""
    named = [f'[[agents]]\nrole = "{role}"\nmodel = "script:replies.yaml"\n' for role in ACTING]
    (folder / "team.toml").write_text("\n".join(named))
    return world(
        folder,
        says("shape", {"reply": {"parts": ["one pass"]}}),
        says("code", code(LAST), seat="proposer"),
        says("code", code(FIRST)),
        says("tests", wrote("largest([2, 9, 4]) == 9")),
        says("points", points(("B", "disagree", "odd"))),
        says("blind", blind(n1="9")),
        says("quotes", {"reply": {"quotes": {"1": "NONE"}}}),
        says("scores", scores(A=0.5, B=0.6)),
        says("merge", code(FIRST)),
        says("reflect", {"reply": REFLECTION}),
        says("rewrite", code(FIRST.replace("    return", "    # the first\n    return"))),
        says("ballot", ballot("B", "A", sure=0.1)),
        says("lesson", {"reply": {"lesson": "Look at the empty list before anything else."}}),
        task=TASK,
        more=("--json", "--team", "team.toml", "--drafts", "2", "--rounds", "1"),
    )


def test_killed_in_the_act_of_a_role_it_resumes_to_the_same_result(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    undisturbed = run_moot(whole, *acting_session(whole))
    result = settled(undisturbed.stdout)
    assert {act["role"] for act in result["acts"]} == set(ACTING[3:])
    steps = json.loads(run_moot(whole, "show", json.loads(undisturbed.stdout)["session_id"], "--json").stdout)["steps"]
    ends = [number for number, step in enumerate(steps, 1) if step["name"].startswith(("act ", "tool ", "learn"))]
    assert len(ends) > 6
    for number in ends[:: max(len(ends) // 6, 1)]:
        folder = tmp_path / str(number)
        folder.mkdir()
        assert run_moot(folder, *acting_session(folder), kill_after=number).returncode != 0
        (left,) = json.loads(run_moot(folder, "list", "--json").stdout)
        again = run_moot(folder, "resume", left["id"], "--json", "--quiet")
        assert again.stdout and settled(again.stdout) == result, (number, again.stderr)
