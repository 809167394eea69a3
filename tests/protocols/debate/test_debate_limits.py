"""Limits of single phases: one that runs out keeps what it has, says so, and the later ones are held all the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import ASKED, OPEN, QUIET, TWO, says, world
from debates import FIRST, LAST, Quick, ballot, code, held, points, scores
from fake_provider import Answer
from test_debate_faults import answering, openai, well

from moot.core.ports import StepRow
from moot.core.room import Bounds
from moot.core.types import ModelCall
from moot.protocols.debate.types import DebateResult, DebateRules
from moot.runtime.journal import Journal, Steps
from moot.runtime.ports import SessionPorts
from moot.testing import FakeScanner, FrozenClock

__all__ = ["openai"]
ANSWERS = {
    "code": code(LAST), "critic code": code(FIRST), "tests": "TESTS: NONE", "scores": scores(A=0.5, B=0.5),
    "merge": code(LAST), "reflect": "{}", "ballot": ballot("B", "A"),
}  # fmt: skip


def reports(result: DebateResult, phase: str) -> list[tuple[str, int, str]]:
    return [(r.status, r.calls, r.cut) for r in result.phases if r.phase == phase]


def said(result: DebateResult, seat: str) -> list[str]:
    return [note for note in result.degraded if note.startswith(f"{seat}, ")]


def limited(**rules: Any) -> DebateRules:
    return DebateRules(lessons=0, max_rounds=1, drafts=2, planning="off", **rules)


def test_a_phase_stops_asking_at_its_number_of_questions() -> None:
    rules = limited(phase_calls={"convergence": 2})
    found = held({**ANSWERS, "points": points()}, rules=rules, sandbox=Quick(), task=OPEN)
    (vote,) = found.result.votes
    assert [b.voter for b in vote.ballots] == ["proposer", "critic"] and vote.consensus.agreement == 0.4
    cut = "it may take 2 questions; 3 questions had no answer by then"
    assert reports(found.result, "convergence") == [("held", 2, cut)]
    assert f"convergence, round 1: cut short: {cut}" in found.room.degraded
    assert "moderator, round 1: absent, limit: all 2 questions of convergence are put" in found.room.degraded
    assert [call.seat for call in found.asked if call.phase == "convergence"] == ["proposer", "critic"]


def test_a_phase_stops_waiting_at_its_time_and_the_next_one_is_held() -> None:
    """Each critic takes 40 seconds; in a chain they speak one after the other."""
    clock, roles = FrozenClock(), ("critic", "critic", "critic", "proposer", "reviewer")

    def slow(call: ModelCall) -> str:
        clock.seconds += 40
        return points(("A", "disagree", f"{call.seat} says no"))

    rules = limited(phase_timeouts={"critique": 60}, topology="chain")
    found = held({**ANSWERS, "points": slow}, roles=roles, rules=rules, sandbox=Quick(), task=OPEN, clock=clock)
    assert [point.seat for point in found.result.points] == ["critic", "critic-2"]
    cut = "it may take 60 s; 2 questions had no answer by then"  # the third critic, and the order of the points
    assert reports(found.result, "critique") == [("held", 2, cut)]
    assert "critic-3, round 1: absent, limit: the time for this phase is over" in found.room.degraded
    assert reports(found.result, "review") == [("held", 1, "")] and len(found.result.votes[0].ballots) == 5


def test_a_phase_that_had_no_answer_in_time_has_failed() -> None:
    rules = limited(phase_calls={"critique": 1}, phase_timeouts={"critique": 5, "review": 5})
    clock = FrozenClock()

    def never(call: ModelCall) -> str:
        clock.seconds += 6
        return "hm"

    found = held({**ANSWERS, "points": never}, rules=rules, sandbox=Quick(), task=OPEN, clock=clock)
    assert reports(found.result, "critique")[0][0] == "failed" and reports(found.result, "review")[0][0] == "held"
    assert any("0 usable answers, too few" in note for note in found.room.degraded)
    assert found.result.winner == "B"


def test_without_limits_nothing_is_cut() -> None:
    found = held({**ANSWERS, "points": points()}, rules=limited(), sandbox=Quick(), task=OPEN)
    assert not any(report.cut for report in found.result.phases) and len(found.result.votes[0].ballots) == 5


def test_the_time_of_a_phase_begins_where_the_record_says_it_did() -> None:
    """Carried on after 50 s of work: 40 of the 60 s of the phase that began at 10 are gone."""
    clock = FrozenClock()
    past = [StepRow(seq=n, part=0, name="", digest="", value=None, elapsed=at) for n, at in ((1, 10.0), (2, 50.0))]
    journal = Journal("s", clock, past=past)
    live = Steps(SessionPorts(scanner=FakeScanner(), clock=clock), journal, 300.0)
    journal.ticket()
    with live.within(Bounds("critique", seconds=60.0)):
        assert live.left() == 20.0
        journal.ticket()
        with live.within(Bounds("review", seconds=60.0)):
            assert live.left() == 60.0
        clock.seconds += 15
        assert live.left() == 5.0
    assert live.left() > 1e9


HANG = Answer(trouble="hang")


@pytest.mark.parametrize(("kind", "before"), [("points", 12), ("scores", 12), ("merge", 12), ("tests", 10)])
def test_a_provider_that_hangs_costs_its_phase_only(
    cli: Cli, openai: pytest.MonkeyPatch, kind: str, before: int
) -> None:
    """Cut by the budget in the vote and carried on: what ran out of time is not asked again, nor told otherwise."""
    phase = {"points": "critique", "scores": "review", "merge": "optimization", "tests": "self_evolvement"}[kind]

    def say(seat: str, asked: str) -> Answer | str:
        if asked == "code" and seat == "reviewer":
            return "I cannot."
        return HANG if asked == kind else well(seat, asked)

    flags = ("--team", "team.toml", "--planning", "off", "--rounds", "1", "--json", "--quiet")
    with answering(say) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        first = cli("debate", OPEN, *flags, "--phase-timeout", f"{phase}=2.5", "--max-calls", str(before))
        cut = json.loads(first.out)
        hung = len(provider.asked)
        again = cli("resume", cut["session_id"], "--max-calls", "99", "--json", "--quiet")
        provider.stopping.set()
    assert (first.code, cut["outcome"], cut["phases"][-1]["phase"]) == (2, "budget_exhausted", "adversarial")
    result = json.loads(again.out)
    assert len(result["votes"][0]["ballots"]) == 5, again.err
    assert sum("gave no answer in time: the time for this phase is over" in n for n in result["degraded"]) >= 1
    (short,) = [report for report in result["phases"] if report["cut"]]
    assert short["phase"] == phase and short["cut"].startswith("it may take 2.5 s; ")
    assert not any(ASKED[kind] in str(asked.body["messages"]) for asked in provider.asked[hung:]), result["calls"]


def test_settings_name_phases(cli: Cli, tmp_path: Path) -> None:
    command = world(tmp_path, TWO, QUIET, says("ballot", ballot("B", "A")), task=OPEN, more=("--json", "--rounds", "1"))
    (tmp_path / "moot.toml").write_text("[debate.phase_calls]\nconvergence = 1\n")
    (report,) = [r for r in json.loads(cli(*command).out)["phases"] if r["phase"] == "convergence"]
    assert (report["calls"], report["cut"]) == (1, "it may take 1 questions; 4 questions had no answer by then")
    shown = cli(*command[:-3], "--phase-calls", "convergence=2")
    assert "cut short: it may take 2 questions" in " ".join(shown.out.split())
    (tmp_path / "moot.toml").write_text("[debate.phase_calls]\nconvergnce = 1\n")
    assert "did you mean 'debate.phase_calls.convergence'" in cli(*command).err


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--phase-timeout", "critique"), "PHASE=SECONDS"),
        (("--phase-timeout", "critic=3"), "unknown name 'critic'"),
        (("--phase-timeout", "critique=0"), "greater than 0"),
        (("--phase-calls", "critique=soon"), "valid integer"),
        (("--phase-calls", "critique=0"), "greater than or equal to 1"),
    ],
)
def test_a_limit_that_cannot_be_is_said_before_anything_is_spent(
    cli: Cli, tmp_path: Path, flags: tuple[str, ...], why: str
) -> None:
    ran = cli("debate", OPEN, "-m", "script:none.yaml", *flags)
    assert ran.code == 2 and why in " ".join(ran.err.split()), ran.err
