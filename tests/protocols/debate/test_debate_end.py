"""The end of a debate: what was decided is what is kept, failing tests are failure, and findings survive."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TESTS, TWO, Entry, says
from debates import FIRST, LAST, RIGHT, Answers, Quick, ballot, code, held, points, scores, team
from kit import write_trusted
from repositories import git, repository
from test_debate_cli import calls, debated, ended, story

from moot.protocols.debate.phases.converge import winner_of
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.script import render_for_gate
from moot.protocols.debate.state import DebateState
from moot.protocols.debate.types import Candidate, DebateInput, DebateRules, Vote
from moot.protocols.solve.attempts import Task
from moot.teams.voting import Election

FOR_B = says("ballot", ballot("B", "A"))
HOOK = '[[ci.commands]]\nname = "own"\npoint = "post_convergence"\ncommand = ["sh", "-c", "cat solution.py; exit 1"]\n'


def test_the_winner_of_the_ballots_is_what_is_kept(cli: Cli, tmp_path: Path) -> None:
    write_trusted(tmp_path, HOOK)
    repo = repository(tmp_path / "r", {"notes.txt": "notes\n"})
    more = ("--repo", "r", "--branch", "--out", "won.py")
    result = debated(cli, tmp_path, TWO, QUIET, FOR_B, task=OPEN, more=more)
    assert ended(result)[3] == "B" and result["code"] == FIRST
    assert git(repo, "show", f"{result['branch']}:solution.py") == FIRST
    version = story(cli, result["session_id"])["versions"][-1]
    assert (version["metrics"]["candidate"], version["code"]) == ("B", FIRST)
    assert "numbers[0]" in str(result["checks"][-1]) and "numbers[-1]" not in str(result["checks"][-1])
    assert (tmp_path / "won.py").read_text() == FIRST


@pytest.mark.parametrize(
    ("answers", "how"),
    [
        (says("code", code(RIGHT)), ("--phases", "self_evolvement")),
        (says("code", code(RIGHT)), ("--rounds", "1")),
        ([*TWO, *FOR_B], ("--rounds", "2", "--phases", "self_evolvement,proposal,convergence")),
    ],
    ids=["no phase of the rounds is held", "all behave alike", "ballots"],
)
def test_whatever_phases_are_held_the_winner_is_checked_and_on_the_branch(
    cli: Cli, tmp_path: Path, answers: list[Entry], how: tuple[str, ...]
) -> None:
    write_trusted(tmp_path, HOOK)
    repo = repository(tmp_path / "r", {"notes.txt": "notes\n"})
    result = debated(cli, tmp_path, answers, QUIET, task=OPEN, more=("--repo", "r", "--branch", *how))
    assert git(repo, "show", f"{result['branch']}:solution.py") == result["code"]
    assert [check["point"] for check in result["checks"]] == ["post_convergence"]


def test_a_patch_that_is_not_used_is_not_what_the_branch_ends_with(cli: Cli, tmp_path: Path) -> None:
    """Blue breaks what only the task's examples test; harden itself does not run those."""
    shell = "import os\n\n\ndef largest(numbers):\n    os.popen('ls ' + str(numbers))\n    return max(numbers)\n"
    broken = "def largest(numbers):\n    return 0\n"
    blue = f"PATCHES:\nVULN-001: gone\n\nPATCHED_CODE:\nFILE: solution.py\n```python\n{broken}```\n"
    seated: list[Entry] = [
        {"seat": "red", "always": True, "reply": {"vulnerabilities": []}},
        {"seat": "blue", "always": True, "reply": blue},
    ]
    repo = repository(tmp_path / "r", {"notes.txt": "notes\n"})
    more = ("--adversarial", "--repo", "r", "--branch", "--phases", "proposal,adversarial,convergence")
    result = debated(cli, tmp_path, says("code", code(shell)), seated, QUIET, task=OPEN, more=more)
    assert result["code"] == shell and any("broke" in report["said"] for report in result["phases"]), result["phases"]
    assert git(repo, "show", f"{result['branch']}:solution.py") == shell
    assert any("popen" in risk for risk in result["remaining_risks"]), "what the unused patch had mended is there"


def standing(*candidates: Candidate, winners: Sequence[str]) -> DebateState:
    """A table with these candidates after votes that these have won, one a round."""
    given = DebateInput(task=OPEN, team=team("proposer"))
    votes = tuple(
        Vote(round=n, candidates=("A", "B"), election=Election(method="weighted", winner=name or None))
        for n, name in enumerate(winners, 1)
    )
    task = Task(text=OPEN, language="python", path="solution.py")
    return DebateState(given, DebateRules(), task, candidates=candidates, votes=votes)


A, B = (Candidate(id=name, seat=name, round=1, phase="proposal", code=name) for name in "AB")
C = Candidate(id="C", seat="B", round=2, phase="proposal", code="C", parent="B")


@pytest.mark.parametrize(
    ("candidates", "winners", "first"),
    [
        ((A, B), [], "A"),
        ((A, B), ["B"], "B"),
        ((A, B), ["B", ""], "B"),
        ((A, B), ["B", "A"], "A"),
        ((A, B, C), ["B"], "C"),
        ((A, B, C.model_copy(update={"dropped": "worse"})), ["B"], "B"),
    ],
    ids=["no vote", "a vote", "a later vote without a winner", "a later vote", "replaced since", "not replaced"],
)
def test_whom_a_vote_chose_comes_first_at_the_gates_and_in_what_is_kept(
    candidates: tuple[Candidate, ...], winners: list[str], first: str
) -> None:
    table = standing(*candidates, winners=winners)
    shown = render_for_gate(table)["candidates"]
    assert isinstance(shown, list) and next(c["id"] for c in shown if isinstance(c, dict)) == first
    assert (best_first(table)[0].id, getattr(winner_of(table), "id", None)) == (first, first)


WRONG = says("code", code(FIRST))
"""Fails the order of the given tests and the example of the task."""


def failing(cli: Cli, folder: Path, *more: str) -> dict[str, Any]:
    answers = [WRONG, QUIET, says("merge", code(FIRST)), says("ballot", ballot("A", "B"))]
    return debated(cli, folder, *answers, tests=TESTS.replace("[3, 1, 2]", "[1, 3, 2]"), more=more)


def test_a_winner_that_fails_given_tests_is_no_success_and_is_not_written(cli: Cli, tmp_path: Path) -> None:
    result = failing(cli, tmp_path, "--out", "won.py")
    assert (result["exit"], result["outcome"], result["winner"]) == (1, "unresolved", "A")
    caveat = next(note for note in result["degraded"] if note.startswith("A fails "))
    assert "test_order" in caveat and "largest([1, 3])" in caveat and "test_empty" not in caveat
    assert not (tmp_path / "won.py").exists()
    assert "nothing was written: unresolved" in result["err"] and "--write-anyway" in result["err"]


def test_a_winner_that_fails_is_written_where_that_is_asked_for_and_it_is_said(cli: Cli, tmp_path: Path) -> None:
    result = failing(cli, tmp_path, "--out", "won.py", "--write-anyway")
    assert result["exit"] == 1 and (tmp_path / "won.py").read_text() == FIRST
    assert "won.py (unresolved: do not rely on it)" in result["err"]


def test_code_on_which_the_given_tests_cannot_even_start_fails_them(cli: Cli, tmp_path: Path) -> None:
    answers = [says("code", code("def largest(numbers:\n")), QUIET, says("merge", code("def largest(\n"))]
    result = debated(cli, tmp_path, *answers, says("ballot", ballot("A")), tests=TESTS, task="Write largest.")
    assert (result["exit"], result["outcome"]) == (1, "unresolved"), result["degraded"]


SHELL = "import os\n\n\ndef show(name):\n    return os.popen('ls ' + name).read()\n"
FLAW = {
    "description": "anybody may list any folder", "evidence": "def show(name):", "exploit": "show('/root')",
    "category": "auth", "severity": "high",
}  # fmt: skip
OTHER = "def show(name):\n    return ''\n"
RED = json.dumps({"vulnerabilities": [FLAW], "overall_risk": 0.9})
CALM = json.dumps({"vulnerabilities": [{**FLAW, "severity": "low"}], "overall_risk": 0.4})
BLUE = f"PATCHES:\nVULN-001: none\n\nPATCHED_CODE:\nFILE: solution.py\n```python\n{OTHER}```\n"
"""The code as it was: no patch."""
SHOW = "Write show(name): the listing of a folder below /srv."
TEAM = ("proposer", "critic", "red_team", "blue_team")


def attacked(red: str, **answers: Any) -> Any:
    """A debate whose seats `red` and `blue` attack and defend; nothing in it can be tested."""
    said = {"tests": "TESTS: NONE", "points": points(), "scores": scores(), "ballot": ballot("A", "B")}
    said |= {"proposer code": code(OTHER), "code": code(f"{OTHER}\n\n"), "red attack": red, "blue defend": BLUE}
    rules = DebateRules(
        lessons=0, max_rounds=1, drafts=2, planning="off", adversarial=True,
        phases=("proposal", "adversarial", "convergence"),
    )  # fmt: skip
    return held({**said, **answers}, TEAM, rules, sandbox=Quick(), task=SHOW)


def test_findings_that_are_left_are_told_to_the_voters_and_in_the_result() -> None:
    done = attacked(RED)
    assert done.prompts("convergence") and all("anybody may list any folder" in p for p in done.prompts("convergence"))
    assert any("anybody may list any folder" in risk for risk in done.result.remaining_risks)
    assert any(note.startswith("A has 1 finding left") and "high" in note for note in done.room.degraded)
    assert done.result.outcome == "unresolved"


def test_a_low_finding_that_is_left_is_said_and_no_failure() -> None:
    done = attacked(CALM)
    assert any("low" in risk for risk in done.result.remaining_risks) and done.result.outcome != "unresolved"
    assert any(note.startswith("A has 1 finding left") for note in done.room.degraded)


def test_a_winner_that_nobody_attacked_is_said_to_be_so_and_scanned() -> None:
    done = attacked(CALM, code=code(SHELL), ballot=ballot("B", "A"))
    assert done.result.winner == "B"
    assert any(note.startswith("B was not attacked") for note in done.room.degraded)
    assert any("popen" in risk for risk in done.result.remaining_risks) and done.result.outcome == "unresolved"


def test_red_sees_the_task() -> None:
    done = attacked(RED)
    assert done.prompts("attack") and all("the listing of a folder below /srv" in p for p in done.prompts("attack"))


@pytest.mark.parametrize(("rounds", "attacks"), [(1, 2), (2, 3)])
def test_the_rules_of_harden_hold_inside_a_debate(cli: Cli, tmp_path: Path, rounds: int, attacks: int) -> None:
    (tmp_path / "moot.toml").write_text(f"[harden]\nmax_rounds = {rounds}\n")
    seated: list[Entry] = [
        {"seat": "red", "always": True, "reply": json.loads(RED)},
        {"seat": "blue", "always": True, "reply": BLUE},
    ]
    answers = [says("code", code(OTHER)), says("ballot", ballot("A")), seated, QUIET]
    more = ("--phases", "proposal,adversarial,convergence", "--rounds", "1")
    result = debated(cli, tmp_path, *answers, task=SHOW, more=more)
    assert len({c["round"] for c in calls(cli, result) if c["seat"] == "red" and c["phase"] == "attack"}) == attacks
    assert result["calls_full_run"] >= result["calls"]


def test_a_full_run_counts_the_attacks_and_the_planning() -> None:
    done = attacked(RED)
    assert done.result.calls_full_run >= len(done.asked)
    with_plan = DebateRules(lessons=0, max_rounds=1, drafts=1, refinements=0, phases=("proposal",), planning="cpde")
    plan = json.dumps({"subtasks": [{"id": f"a{n}", "title": f"part {n}", "owner": "proposer"} for n in range(5)]})
    said: Answers = {"planning": lambda call: plan if call.round == 1 else code(LAST), "code": code(LAST)}
    planned = held({**said, "tests": "TESTS: NONE"}, ("proposer",), with_plan, sandbox=Quick(), task=OPEN)
    assert len([call for call in planned.asked if call.phase == "planning"]) == 6
    assert planned.result.calls_full_run >= len(planned.asked)


STUCK = [
    {"phase": "critique", "always": True, "reply": {"points": [], "tests": []}},
    {"phase": "review", "always": True, "reply": {"scores": []}},
    {
        "seat": "proposer",
        "phase": "convergence",
        "always": True,
        "reply": {"ranking": ["A", "B"], "reason": "Simpler.", "confidence": 0.4},
    },
    {"phase": "convergence", "always": True, "reply": {"ranking": ["B", "A"], "reason": "Safer.", "confidence": 0.4}},
    {"seat": "proposer", "always": True, "reply": "POSITION: Keep one service.\n\nARGUMENT: One thing to run."},
    {"always": True, "reply": "POSITION: Split it in two.\n\nARGUMENT: A fault stays in one half."},
]


def test_a_debate_that_only_repeats_itself_ends(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "stuck.yaml").write_text(json.dumps(STUCK))
    ran = cli("debate", "Should it be split?", "--topic", "-m", "script:stuck.yaml", "--rounds", "5", "--json")
    result = json.loads(ran.out)
    assert (result["stop_reason"], result["rounds"]) == ("unchanged", 2)
    assert result["votes"][0]["candidates"] != result["votes"][1]["candidates"]
