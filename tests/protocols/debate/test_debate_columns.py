"""The columns of a debate in the store, read back by SQL."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import TESTS, Entry, says, world
from debates import LAST, NO_EMPTY, RIGHT, ballot, code, points, scores
from sqlalchemy import text
from test_debate_cli import POSITIONS, TOPIC, debated
from test_debate_tools import call

from moot.edge.store.engine import address, open_engine

USING: list[Entry] = [
    *says("code", call("run_tests", code=NO_EMPTY), code(NO_EMPTY), seat="critic"),
    *says("code", "I cannot.", seat="reviewer"),
    *says("code", code(LAST)),
    *says("points", points()), *says("scores", scores(A=0.5, B=0.9)), *says("tests", "TESTS: NONE"),
    *says("merge", code(RIGHT)), *says("ballot", ballot("A")), *says("reflect", "{}"),
]  # fmt: skip
QUESTION = {"questions": [{"question": "What comes of an empty list?"}, {"question": "May it be a tuple?"}]}
QUOTED = {"quote": "or None for an empty one", "answer": "None.", "confidence": 1.0}
GUESSED = {"quote": "NONE", "answer": "Yes.", "confidence": 0.5}


TEAM = ("proposer", "critic", "reviewer", "optimizer", "moderator", "critic")


def rows(place: str, query: str) -> list[dict[str, Any]]:
    engine = open_engine(address(place), reading=True)
    try:
        with engine.connect() as db:
            return [dict(row) for row in db.execute(text(query)).mappings()]
    finally:
        engine.dispose()


def read_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value  # PostgreSQL has read it already


def held(cli: Cli, folder: Path, place: str, *answers: list[Entry], more: Sequence[str] = (), **kind: Any) -> Any:
    return debated(cli, folder, *answers, more=("--store", place, *more), **kind)


def test_a_vote_leaves_its_topology_consensus_and_confidence(cli: Cli, tmp_path: Path, place: str) -> None:
    answers = [
        POSITIONS,
        says("points", points()),
        says("scores", scores()),
        says("ballot", ballot("A", "B", sure=0.8)),
    ]
    result = held(cli, tmp_path, place, *answers, task=TOPIC, more=("--topology", "star"))
    (session,) = rows(place, "SELECT * FROM debate_sessions")
    assert (session["topology_type"], session["coordination_protocol"]) == ("star", None)
    assert session["final_consensus_score"] == result["votes"][-1]["consensus"]["level"] > 0
    turns = rows(place, "SELECT * FROM debate_turns")
    assert {turn["confidence"] for turn in turns if turn["phase"] == "convergence"} == {0.8}
    assert {turn["test_results"] for turn in turns} == {turn["tool_calls"] for turn in turns} == {None}


def test_code_leaves_its_tools_tests_turns_qualities_and_gate(
    cli: Cli, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_GATES_TIMEOUT", "0.01")  # nobody approves: it ends there
    team = "".join(f'[[agents]]\nrole = "{role}"\nmodel = "script:replies.yaml"\n' for role in TEAM)
    (tmp_path / "team.toml").write_text(team)
    more = ("--store", place, "--tools", "run_tests", "--gate", "optimization", "--team", "team.toml", "--json")
    ran = cli(*world(tmp_path, USING, tests=TESTS, more=more))
    turns = rows(place, "SELECT * FROM debate_turns ORDER BY seq DESC")
    assert {(turn["agent_id"], turn["agent_role"]) for turn in turns} >= {("critic", "critic"), ("critic-2", "critic")}
    drafts = {turn["agent_id"]: turn for turn in turns if turn["phase"] == "self_evolvement"}  # the first of each
    used = read_json(drafts["critic"]["tool_calls"])
    assert [each["call"]["name"] for each in used] == ["run_tests"] and "1 of 2" in used[0]["result"]["text"]
    assert drafts["proposer"]["tool_calls"] is None
    tested = read_json(drafts["critic"]["test_results"])
    assert (tested["passed"], tested["of"]) == (4, 5) and any("empty" in name for name in tested["failing"])
    check_versions(place)
    check_logs(place, {seat: turn["seq"] for seat, turn in drafts.items()})
    check_gate(place)
    assert cli("audit", "--verify", "--store", place).code == 0, ran.err


def check_versions(place: str) -> None:
    first, second = rows(
        place,
        "SELECT v.code, v.quality_score, v.test_pass_rate, v.metrics, t.content, t.phase FROM code_versions v"
        " JOIN debate_turns t ON t.id = v.turn_id ORDER BY v.version_number",
    )
    assert (first["phase"], second["phase"]) == ("self_evolvement", "optimization")
    assert RIGHT.strip() in second["code"] and RIGHT in second["content"]
    assert (first["test_pass_rate"], second["test_pass_rate"]) == (0.8, 1.0)
    assert 0 < first["quality_score"] < second["quality_score"] <= 1
    parts = {part["name"]: part["value"] for part in read_json(second["metrics"])["parts"]}
    assert parts["tests"] == 1.0 and parts["scan"] is not None


def check_logs(place: str, drafts: dict[str, int]) -> None:
    lines = rows(place, "SELECT * FROM debate_logs")
    of = {(line["seq"], line["action"]): line["quality_score"] for line in lines}
    assert of[drafts["proposer"], "response"] == 0.8
    refused = drafts["reviewer"]
    assert of[refused, "response"] == of[refused, "clarification"] == 0.0
    assert of[drafts["critic"], "tool run_tests"] == 1.0
    assert None not in of.values()


def check_gate(place: str) -> None:
    (gate,) = rows(place, "SELECT * FROM gates")
    shown = read_json(gate["artefacts"])
    assert "+    return max(numbers, default=None)" in shown["diff"].splitlines()
    assert (shown["tests"]["passed"], shown["tests"]["of"]) == (5, 5) and shown["scores"]["B"]["total"] > 0


def test_what_stays_unclear_is_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DEBATE_CLARIFY", "always")
    answers = [
        says("questions", {"reply": QUESTION}, {"reply": {"questions": []}}),
        says("answers", {"reply": {"answers": [QUOTED, GUESSED]}}),
        says("code", code(RIGHT)),
    ]
    result = held(cli, tmp_path, "s.db", *answers)
    assert result["remaining_ambiguities"] == ["May it be a tuple?"] and result["assumptions"] == ["Yes."]
    turns = rows("s.db", "SELECT * FROM debate_turns WHERE phase = 'dehallucination' ORDER BY seq")
    assert [turn["confidence"] for turn in turns] == [None, 0.75, None]
    assert rows("s.db", "SELECT final_consensus_score FROM debate_sessions") == [{"final_consensus_score": None}]
