"""Parts of a plan through the CLI: joined in the order of their dependencies, their done-criteria run or judged."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import Entry, says, world
from debates import LAST, ballot, code

MAXIMUM = "def maximum(numbers):\n    return max(numbers)\n"
WHOLE = "def largest(numbers):\n    return maximum(numbers) if numbers else None\n"
NO_EMPTY = "def largest(numbers):\n    return maximum(numbers)\n"
RUNS = "largest([]) -> None"
WORDS = "it has one loop at most"


def subtasks(second: str = RUNS) -> list[Entry]:
    """The second part is named first: only its dependency puts it last."""
    last = {"id": "b", "title": "handle the empty list", "owner": "critic", "depends_on": ["a"], "done_when": second}
    first = {"id": "a", "title": "write the maximum", "owner": "proposer", "depends_on": [], "done_when": WORDS}
    return says("plan", {"reply": {"subtasks": [last, first]}}, seat="moderator")


def judged(said: str) -> list[Entry]:
    return says("criteria", {"reply": {"verdicts": {"1": said}}}, seat="reviewer")


def planned(cli: Cli, folder: Path, *answers: list[Entry], planning: str = "cpde", drafts: str = "1") -> dict[str, Any]:
    more = ("--json", "--planning", planning, "--drafts", drafts, "--rounds", "1", "--phases", "proposal,convergence")
    rest = (says("code", code(LAST)), says("ballot", ballot("A", "B")), says("tests", "TESTS: NONE"))
    ran = cli(*world(folder, *answers, says("part", code(MAXIMUM), seat="proposer"), *rest, more=more))
    assert ran.out, ran.err
    return dict(json.loads(ran.out))


def test_parts_are_joined_by_dependency_and_their_criteria_checked(cli: Cli, tmp_path: Path) -> None:
    part = says("part", code(WHOLE), seat="critic")
    result = planned(cli, tmp_path, subtasks(), judged("met, it calls max once"), part)
    joined = next(each for each in result["candidates"] if each["seat"] == "plan")
    assert joined["code"].index("def maximum") < joined["code"].index("def largest") and joined["limits"] == []
    assert result["criteria"] == [
        {"subtask": "a", "criterion": WORDS, "status": "met", "by": "reviewer", "why": "it calls max once"},
        {"subtask": "b", "criterion": RUNS, "status": "met", "by": "run", "why": ""},
    ]
    off = planned(cli, tmp_path, planning="off")
    assert (off["plan"], off["criteria"], off["planning"]) == (None, [], "")
    assert not [each for each in off["candidates"] if each["seat"] == "plan"]


@pytest.mark.parametrize(
    ("said", "status", "by"),
    [
        ("unmet: there are two", "unmet", "reviewer"),
        ("perhaps", "unchecked", "reviewer"),
        ("", "unchecked", "reviewer"),
    ],
)
def test_a_criterion_that_is_not_met_is_listed(cli: Cli, tmp_path: Path, said: str, status: str, by: str) -> None:
    part = says("part", code(WHOLE), seat="critic")
    result = planned(cli, tmp_path, subtasks(), judged(said), part)
    assert [(each["status"], each["by"]) for each in result["criteria"]] == [(status, by), ("met", "run")]
    assert any(note.startswith(f"plan: a is not done ({WORDS})") for note in result["degraded"])
    text = cli("show", result["session_id"]).out
    assert "Not done of the plan" in text and "a is not done" in text


def test_a_criterion_that_is_run_and_fails_is_told_to_all_who_judge_the_joined_parts(cli: Cli, tmp_path: Path) -> None:
    part = says("part", code(NO_EMPTY), seat="critic")
    result = planned(cli, tmp_path, subtasks(), judged("met, it calls max once"), part)
    (failed,) = [each for each in result["criteria"] if each["status"] == "unmet"]
    assert (failed["subtask"], failed["by"]) == ("b", "run") and "largest([]) gave error ValueError" in failed["why"]
    joined = next(each for each in result["candidates"] if each["seat"] == "plan")
    assert joined["limits"] == [f"b is not done ({RUNS}): largest([]) gave error ValueError"]


def test_a_judge_that_cannot_be_read_leaves_the_criterion_unchecked(cli: Cli, tmp_path: Path) -> None:
    part = says("part", code(WHOLE), seat="critic")
    result = planned(cli, tmp_path, subtasks(), says("criteria", "All is fine.", seat="reviewer"), part)
    assert [(each["status"], each["by"]) for each in result["criteria"]] == [("unchecked", ""), ("met", "run")]
    assert any("unchecked by anybody" in note for note in result["degraded"])


def test_by_dpde_each_plans_its_own_part_and_the_criteria_of_both_are_checked(cli: Cli, tmp_path: Path) -> None:
    first = {"id": "a", "title": "write the maximum", "done_when": WORDS}
    last = {"id": "b", "title": "handle an empty list", "depends_on": ["a"], "done_when": RUNS}
    own = [
        *says("plan", {"reply": {"subtasks": [first]}}, seat="proposer"),
        *says("plan", {"reply": {"subtasks": [last]}}, seat="critic"),
        *says("part", code(WHOLE), seat="critic"),
    ]
    result = planned(cli, tmp_path, own, judged("met, one"), planning="dpde", drafts="2")
    assert result["planning"].startswith("dpde")
    assert [(each["id"], each["owner"]) for each in result["plan"]["subtasks"]] == [("a", "proposer"), ("b", "critic")]
    assert [(each["subtask"], each["status"]) for each in result["criteria"]] == [("a", "met"), ("b", "met")]
