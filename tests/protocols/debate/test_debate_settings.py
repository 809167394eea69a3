"""What a phase needs to count, and how many of its seats are asked at once: set by file, variable and flag."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TWO, Entry, says, world
from debates import ballot
from test_debate_cli import story

BALLOTS = says("ballot", ballot("B", "A"))


def convergence(cli: Cli, folder: Path, *flags: str, ballots: list[Entry] = BALLOTS) -> tuple[str, list[str]]:
    """How the vote counted, and what is said of it."""
    command = world(folder, TWO, QUIET, ballots, task=OPEN, more=("--json", "--rounds", "1", *flags))
    ran = cli(*command)
    assert ran.out, ran.err
    result: dict[str, Any] = json.loads(ran.out)
    (report,) = [r for r in result["phases"] if r["phase"] == "convergence"]
    return report["status"], [note for note in result["degraded"] if note.startswith("convergence, ")]


def test_a_phase_needs_as_many_usable_answers_as_you_say(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three = [*says("ballot", "I cannot.", seat="critic"), *says("ballot", "I cannot.", seat="reviewer"), *BALLOTS]
    assert convergence(cli, tmp_path, ballots=three)[0] == "held"
    failed = ("failed", ["convergence, round 1: 3 usable answers, too few for it to count"])
    assert convergence(cli, tmp_path, "--least-answers", "convergence=4", ballots=three) == failed
    monkeypatch.setenv("MOOT_DEBATE_LEAST_ANSWERS_CONVERGENCE", "4")
    assert convergence(cli, tmp_path, ballots=three) == failed
    assert convergence(cli, tmp_path, "--least-answers", "convergence=3", ballots=three)[0] == "held", "flags win"
    monkeypatch.delenv("MOOT_DEBATE_LEAST_ANSWERS_CONVERGENCE")
    (tmp_path / "moot.toml").write_text("[debate.least_answers]\nconvergence = 4\n")
    assert convergence(cli, tmp_path, ballots=three) == failed


def test_a_phase_without_a_required_role_does_not_count(cli: Cli, tmp_path: Path) -> None:
    silent = [*says("ballot", "I cannot.", seat="critic"), *BALLOTS]
    for wanted, missing in (("critic", "critic"), ("critic,reviewer,security", "critic, security")):
        said = f"convergence, round 1: no usable answer of {missing}, which it requires"
        found = convergence(cli, tmp_path, "--required-roles", f"convergence={wanted}", ballots=silent)
        assert found == ("failed", [said])
    assert convergence(cli, tmp_path, "--required-roles", "convergence=reviewer", ballots=silent)[0] == "held"
    (tmp_path / "moot.toml").write_text('[debate.required_roles]\nconvergence = ["critic"]\n')
    assert convergence(cli, tmp_path, ballots=silent)[0] == "failed"
    assert convergence(cli, tmp_path)[0] == "held", "it answered"


def test_seats_are_asked_one_after_another_if_you_say_so(cli: Cli, tmp_path: Path) -> None:
    slow = [*says("ballot", {"reply": ballot("B", "A"), "delay_s": 0.5}, seat="proposer"), *BALLOTS]

    def recorded(*flags: str) -> list[str]:
        """The voters, in the order in which their answers were written."""
        command = world(tmp_path, TWO, QUIET, slow, task=OPEN, more=("--json", "--rounds", "1", *flags))
        told = story(cli, json.loads(cli(*command).out)["session_id"])
        asked = [
            s for s in told["steps"] if s["name"].startswith("ask ") and s["value"]["call"]["phase"] == "convergence"
        ]
        return [step["value"]["call"]["seat"] for step in sorted(asked, key=lambda step: step["elapsed"])]

    assert recorded()[-1] == "proposer", "the others did not wait for it"
    assert recorded("--at-once", "convergence=1")[0] == "proposer"


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--at-once", "critique=0"), "greater than or equal to 1"),
        (("--least-answers", "critique=-1"), "greater than or equal to 0"),
        (("--required-roles", "critics=security"), "unknown name 'critics'"),
    ],
)
def test_a_setting_that_cannot_be_is_said(cli: Cli, flags: tuple[str, ...], why: str) -> None:
    ran = cli("debate", OPEN, "-m", "script:none.yaml", *flags)
    assert ran.code == 2 and why in " ".join(ran.err.split()), ran.err
