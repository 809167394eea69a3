"""The columns that sessions of harden, solve, decide and review leave in the store, read back by SQL."""

import json
from pathlib import Path

from conftest import Cli
from kit import BAD, GOOD, NOTHING, SQLI, blue
from panels import SCOPE, script
from solve_kit import RIGHT, TESTS, WRONG, code, coder, reflection, reflector
from solve_kit import world as solve_world
from test_change_review import Project, point
from test_debate_columns import read_json, rows

HARDEN_TESTS = "from app import find\n\n\ndef test_there():\n    assert callable(find)\n"


VERSIONS = (
    "SELECT v.quality_score, v.test_pass_rate, v.metrics, t.agent_id FROM code_versions v"
    " LEFT JOIN debate_turns t ON t.id = v.turn_id ORDER BY v.version_number"
)


def test_harden_leaves_who_wrote_a_version_its_tests_and_its_quality(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "test_app.py").write_text(HARDEN_TESTS)
    replies = [
        {"seat": "red", "round": 1, "reply": SQLI}, {"seat": "blue", "reply": blue(GOOD), "always": True},
        {"seat": "red", "reply": NOTHING, "always": True},
    ]  # fmt: skip
    (tmp_path / "replies.yaml").write_text(json.dumps(replies))
    ran = cli("harden", "app.py", "--tests", "test_app.py", "-m", "script:replies.yaml", "--store", place, "--json")
    assert json.loads(ran.out)["outcome"] == "hardened", ran.err
    given, patched = rows(place, VERSIONS)
    assert (given["agent_id"], given["test_pass_rate"]) == (None, 1.0)
    assert (patched["agent_id"], patched["test_pass_rate"]) == ("blue", 1.0) and 0 < patched["quality_score"] <= 1
    turns = {turn["agent_id"]: turn for turn in rows(place, "SELECT * FROM debate_turns WHERE round = 1")}
    assert read_json(turns["blue"]["test_results"])["accepted"] is True
    assert read_json(turns["blue"]["test_results"])["of"] == 1 and turns["blue"]["confidence"] == 0.9
    assert turns["red"]["test_results"] is None
    (session,) = rows(place, "SELECT * FROM debate_sessions")
    assert session["final_consensus_score"] is None, "two sides that oppose each other have no consensus"
    assert cli("audit", "--verify", "--store", place).code == 0


def test_solve_leaves_the_turn_tests_and_quality_of_each_attempt(cli: Cli, tmp_path: Path, place: str) -> None:
    command = solve_world(tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(reflection()), tests=TESTS)
    ran = cli(*command, "--store", place)
    assert ran.code == 0, ran.err
    first, second = rows(place, VERSIONS)
    assert (first["agent_id"], second["agent_id"]) == ("coder", "coder")
    assert first["test_pass_rate"] < second["test_pass_rate"] == 1.0
    assert 0 < first["quality_score"] < second["quality_score"]
    turns = rows(place, "SELECT * FROM debate_turns WHERE agent_id = 'coder' ORDER BY seq")
    failed, passed = (read_json(turn["test_results"]) for turn in turns)
    assert any("test_empty" in name for name in failed["failing"]) and failed["passed"] < failed["of"]
    assert passed["failing"] == [] and passed["passed"] == passed["of"]
    (line, *_) = rows(place, "SELECT quality_score FROM debate_logs WHERE role = 'coder' ORDER BY seq")
    assert line["quality_score"] == failed["passed"] / failed["of"], "a reply is worth what its code passes"


def test_a_decision_leaves_the_share_that_agrees(cli: Cli, tmp_path: Path, place: str) -> None:
    (tmp_path / "q.yaml").write_text(SCOPE)
    cli("decide", "q.yaml", "-m", script(tmp_path, "AAB"), "--store", place)
    assert [row["final_consensus_score"] for row in rows(place, "SELECT * FROM debate_sessions")] == [0.6667]


def test_a_review_of_code_leaves_what_came_of_the_tests_in_points(cli: Cli, tmp_path: Path) -> None:
    test = "assert slug(' a ') == 'a'"
    Project(cli, tmp_path).review([point("spaces stay", test=test), point("it is short")], [], "--store", "r.db")
    (turn,) = rows("r.db", "SELECT * FROM debate_turns WHERE agent_id = 'adversary'")
    (tried,) = read_json(turn["test_results"])["points"]
    assert (tried["test"], tried["ran"], tried["counts"]) == (test, "it passed before the change and fails now", True)
