"""What a ballot weighs: confidence as far as the record bears it out, tests, diversity, record; and what is unknown."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import OPEN, QUIET, TWO, Entry, says, world
from debates import LAST, RIGHT, ROLES, ballot, code
from test_debate_cli import debated
from test_debate_columns import rows

from moot.core.experience import Judged
from moot.edge.store import SqlStore
from moot.edge.store.records import TrackRecords

MODEL = "script:replies.yaml"
CROWD = ("proposer", "critic", "reviewer")
"""Sure of A; the other two prefer B and are less sure."""
SPLIT: list[Entry] = [
    entry
    for seat in ROLES
    for entry in says("ballot", ballot("A", "B", sure=0.95) if seat in CROWD else ballot("B", "A", sure=0.6), seat=seat)
]
HIDDEN = "from solution import largest\n\n\ndef test_it():\n    assert largest([3, 1]) == 3\n"
ONE_ROUND = ("--rounds", "1")
TIED = ("reviewer", "optimizer", "moderator")
THREE: list[Entry] = [
    *says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT), seat="critic"),
    *says("code", "I cannot.", seat="reviewer"), *says("merge", code(LAST)),
]  # fmt: skip


def judge_before(place: str, roles: Sequence[str], *, wrong: int, right: int = 0, sure: float | None = 0.95) -> None:
    """Results of earlier sessions, as the store keeps them."""

    async def keep() -> None:
        store = SqlStore(place)
        try:
            for number in range(wrong + right):
                session = f"00000000-0000-0000-{len(roles):04d}-{number:012d}"
                judged = [
                    Judged(agent=role, act="ballot", role=role, model=MODEL, domain="code", right=number >= wrong,
                           confidence=sure)
                    for role in roles
                ]  # fmt: skip
                await TrackRecords(store).judge(session, judged, datetime(2026, 1, 1, tzinfo=UTC))
        finally:
            await store.aclose()

    asyncio.run(keep())


def vote_of(cli: Cli, folder: Path, place: str, *more: str) -> dict[str, Any]:
    result = debated(cli, folder, TWO, QUIET, SPLIT, task=OPEN, more=("--store", place, *ONE_ROUND, *more))
    return dict(result["votes"][-1], session=result["session_id"])


def weights_of(vote: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {weight["voter"]: weight for weight in vote["weights"]}


def test_what_is_unknown_counts_nothing_and_is_said(cli: Cli, tmp_path: Path) -> None:
    vote = vote_of(cli, tmp_path, "s.db")
    assert (vote["election"]["method"], vote["election"]["winner"]) == ("weighted", "A")
    known = weights_of(vote)
    proposer, reviewer = known["proposer"], known["reviewer"]
    assert (proposer["score"], proposer["diversity"], proposer["history"]) == (10.0, 0.0, None)
    assert proposer["factors"] == {"confidence": 0.95, "score": 1.2, "diversity": 1.0, "history": 1.0}
    assert proposer["unknown"] == ["history"] and proposer["weight"] == 1.14
    assert reviewer["unknown"] == ["score", "history"], "its draft could not be used"
    assert (proposer["stated"], proposer["confidence"], proposer["calibrated"], proposer["results"]) == (
        0.95, 0.95, False, 0
    )  # fmt: skip
    shown = cli("show", vote["session"], "--store", "s.db").out
    table = shown[shown.index("What each ballot weighs") :]
    for words in ("uncalibrated: 0 of 20", "unknown: ×1", "10 of 10: ×1.2"):
        assert words in " ".join(table.replace("│", " ").split()), words


def test_records_calibrate_confidence_and_overturn_the_vote(cli: Cli, tmp_path: Path, place: str) -> None:
    judge_before(place, CROWD, wrong=19)
    before = vote_of(cli, tmp_path, place)
    assert before["election"]["winner"] == "A" and not weights_of(before)["critic"]["calibrated"]
    assert weights_of(before)["critic"]["results"] == 19
    kept = rows(place, "SELECT * FROM agent_records WHERE act = 'ballot' AND role = 'critic'")
    assert len(kept) == 20 and kept[-1]["confidence"] == 0.95 and kept[-1]["band"] == 4, "this debate is the twentieth"
    after = vote_of(cli, tmp_path, place)
    critic = weights_of(after)["critic"]
    assert critic["calibrated"] and critic["results"] == 20 and critic["stated"] == 0.95
    assert critic["confidence"] == round((1 + 2 * (1 + 1) / 22) / 22, 4), "one of twenty was right"
    assert after["election"]["winner"] == "B" and weights_of(after)["moderator"]["calibrated"] is False
    shown = cli("show", after["session"], "--store", place).out
    assert ", stated 0.95)" in shown and "calibrated by 20 results" in " ".join(shown.split())


def test_the_record_is_a_step_and_replays_although_the_store_goes_on(cli: Cli, tmp_path: Path) -> None:
    judge_before("s.db", CROWD, wrong=25)
    vote = vote_of(cli, tmp_path, "s.db")
    (read,) = [step for step in story_at(cli, vote["session"]) if step["name"] == "records"]
    assert {row["role"] for row in read["value"]["records"]} == set(CROWD)
    judge_before("s.db", ROLES, wrong=0, right=40)
    assert cli("replay", vote["session"], "--store", "s.db").code == 0
    assert cli("audit", "--verify", "--store", "s.db").code == 0
    page = cli("export", vote["session"], "--format", "md", "--store", "s.db").out
    assert "Track records of the voters" in page and "confidence 0.8 to 1.0: right 0 of 25 times" in page


def story_at(cli: Cli, session: str) -> list[dict[str, Any]]:
    return list(json.loads(cli("show", session, "--json", "--store", "s.db").out)["steps"])


def test_without_records_nothing_of_them_counts(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DEBATE_RECORDS", "false")
    judge_before("s.db", CROWD, wrong=25)
    vote = vote_of(cli, tmp_path, "s.db")
    assert vote["election"]["winner"] == "A" and weights_of(vote)["critic"]["unknown"] == ["history"]
    assert "records" not in {step["name"] for step in story_at(cli, vote["session"])}


def test_history_counts_without_a_stated_confidence(cli: Cli, tmp_path: Path) -> None:
    judge_before("s.db", ("critic",), wrong=0, right=8, sure=None)
    critic = weights_of(vote_of(cli, tmp_path, "s.db"))["critic"]
    assert (critic["history"], critic["factors"]["history"]) == (0.9, 1.18)
    assert critic["results"] == 0 and not critic["calibrated"], "these say nothing about what it states"


def test_another_model_among_equals_weighs_more(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "other.yaml").write_text(json.dumps([*TWO, *QUIET, *SPLIT]))
    known = weights_of(vote_of(cli, tmp_path, "s.db", "--seat", "critic=script:other.yaml"))
    assert (known["critic"]["diversity"], known["critic"]["factors"]["diversity"]) == (1.0, 1.1)
    assert (known["reviewer"]["diversity"], known["reviewer"]["factors"]["diversity"]) == (0.25, 1.025)


def test_hidden_tests_say_which_ballots_were_right(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "hidden.py").write_text(
        "from solution import largest\n\n\ndef test_it():\n    assert largest([3, 1]) == 3\n"
    )
    more = ("--store", place, *ONE_ROUND, "--hidden-tests", "hidden.py", "--phases", "proposal,convergence")
    result = debated(cli, tmp_path, THREE, QUIET, SPLIT, task=OPEN, more=more)
    assert result["hidden_passed"] == {"A": False, "B": True} and result["winner"] == "A"
    kept = rows(place, "SELECT agent_id, was_right, confidence, band FROM agent_records WHERE act = 'ballot'")
    told = {row["agent_id"]: (bool(row["was_right"]), row["confidence"], row["band"]) for row in kept}
    assert told == {
        **dict.fromkeys(CROWD, (False, 0.95, 4)), "optimizer": (True, 0.6, 3), "moderator": (True, 0.6, 3)
    }  # fmt: skip


def test_a_topic_has_no_truth_and_leaves_no_result(cli: Cli, tmp_path: Path) -> None:
    position = says("position", {"reply": {"position": "Split it.", "arguments": ["two teams"]}})
    more = ("--store", "s.db", "--phases", "proposal,convergence", *ONE_ROUND)
    result = debated(cli, tmp_path, position, SPLIT, task="Should it be split in two?", more=more)
    assert result["votes"][-1]["weights"][0]["unknown"] == ["score", "history"]
    assert rows("s.db", "SELECT * FROM agent_records") == []


@pytest.mark.parametrize(
    ("method", "winner"), [("weighted", "B"), ("majority", "A"), ("plurality", "A"), ("borda", "A"), ("condorcet", "A"),
                           ("unanimous", None)],
)  # fmt: skip
def test_each_method_counts_the_same_ballots_in_its_own_way(
    cli: Cli, tmp_path: Path, method: str, winner: str | None
) -> None:
    judge_before("s.db", CROWD, wrong=30)
    vote = vote_of(cli, tmp_path, "s.db", "--voting", method)
    assert (vote["election"]["method"], vote["election"]["winner"]) == (method, winner)
    shown = cli("show", vote["session"], "--store", "s.db").out
    assert ("What each ballot weighs" in shown) == (method == "weighted")


@pytest.mark.parametrize(
    ("rule", "winner"), [("highest_confidence", "B"), ("most_votes", "A"), ("leader_vote", "A"), ("random", "B")]
)
def test_each_tie_break_decides_a_tie_in_its_own_way(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rule: str, winner: str
) -> None:
    """Two surer ballots for B, whose voters passed tests, weigh as much as three less sure ones for A."""
    monkeypatch.setenv("MOOT_DEBATE_TIE_BREAK", rule)
    even = [
        entry
        for seat in ROLES
        for entry in says(
            "ballot", ballot("A", "B", sure=0.6) if seat in TIED else ballot("B", "A", sure=0.75), seat=seat
        )
    ]
    command = world(tmp_path, THREE, QUIET, even, task=OPEN, more=("--json", *ONE_ROUND, "--store", "s.db"))
    vote = json.loads(cli(*command).out)["votes"][-1]
    assert set(vote["election"]["tied"]) == {"A", "B"} and vote["election"]["tie_break"] == rule
    assert vote["election"]["winner"] == winner
