"""`moot vote` as a person and a script call it."""

import io
import json
import sys
from pathlib import Path

import pytest
from conftest import Cli

CYCLE = {
    "candidates": ["A", "B", "C"],
    "ballots": [
        {"ranking": [["A"], ["B"], ["C"]], "count": 4, "confidence": 0.8, "voter": "x"},
        {"ranking": [["B"], ["C"], ["A"]], "count": 3, "voter": "y"},
        {"ranking": [["C"], ["A"], ["B"]], "count": 3},
    ],
}


def written(folder: Path, election: object) -> str:
    path = folder / "election.json"
    path.write_text(election if isinstance(election, str) else json.dumps(election))
    return str(path)


def test_the_result_as_json(cli: Cli, tmp_path: Path) -> None:
    ran = cli("vote", written(tmp_path, CYCLE), "--method", "condorcet", "--json")
    assert ran.code == 0
    assert json.loads(ran.out) == {
        "method": "condorcet", "winner": "A", "tied": [], "scores": {"A": 11, "B": 10, "C": 9},
        "pairwise": {"A": {"B": 7, "C": 4}, "B": {"A": 3, "C": 7}, "C": {"A": 6, "B": 3}},
        "fallback_used": True, "fallback_reason": "cycle", "consensus_reached": False, "tie_break": None,
        "ranking": [["A"], ["B"], ["C"]], "disagreements": [],
        "notes": ["nobody beats every other candidate (cycle); counted by Borda instead"],
    }  # fmt: skip


def test_a_person_reads_first_what_the_result_rests_on(cli: Cli, tmp_path: Path) -> None:
    ran = cli("vote", written(tmp_path, CYCLE), "--method", "condorcet")
    assert ran.out.splitlines()[0] == "A wins (borda, after condorcet found a cycle; no consensus)"
    assert cli("vote", written(tmp_path, CYCLE)).out.startswith("A wins (borda; no consensus)")


def test_a_tie_is_declared_and_its_rule_named(cli: Cli, tmp_path: Path) -> None:
    even = {"candidates": ["A", "B"], "ballots": [{"ranking": ["A"], "count": 2}, {"ranking": ["B"], "count": 2}]}
    path = written(tmp_path, even)
    told = json.loads(cli("vote", path, "--method", "plurality", "--tie-break", "random", "--seed", "3", "--json").out)
    assert (told["tied"], told["tie_break"], told["consensus_reached"]) == (["A", "B"], "random", False)
    drawn = {cli("vote", path, "--method", "borda", "--tie-break", "random", "--seed", str(n)).out for n in range(8)}
    assert len(drawn) == 2


@pytest.mark.parametrize(
    ("election", "options", "code"),
    [
        ({"candidates": ["A", "B"], "ballots": [{"ranking": ["A"]}, {"ranking": ["B"]}]}, [], 1),
        ({"candidates": ["A", "B"], "ballots": [{"ranking": ["A"]}, {"ranking": ["B"]}]}, ["--method", "majority"], 1),
        ({"candidates": ["A", "B"], "ballots": [{"ranking": ["A"]}]}, [], 0),
        ({"candidates": ["A", "B"], "ballots": []}, [], 2),
        ({"candidates": ["A"], "ballots": []}, [], 0),
    ],
)
def test_the_exit_code_says_whether_somebody_won(
    cli: Cli, tmp_path: Path, election: object, options: list[str], code: int
) -> None:
    ran = cli("vote", written(tmp_path, election), *options, "--json")
    assert ran.code == code and (json.loads(ran.out)["winner"] is None) == (code > 0)


def test_a_second_ballot_of_a_voter_is_not_counted_and_that_is_said(cli: Cli, tmp_path: Path) -> None:
    twice = {
        "candidates": ["A", "B"],
        "ballots": [{"ranking": ["A"], "voter": "x"}, {"ranking": ["B"], "voter": "y"}]
        + [{"ranking": ["B"], "voter": "y"}] * 3,
    }
    told = json.loads(cli("vote", written(tmp_path, twice), "--method", "plurality", "--json").out)
    assert told["scores"] == {"A": 1, "B": 1} and len(told["notes"]) == 4
    assert "the voter 'y' has voted before" in cli("vote", written(tmp_path, twice)).out


def one(**ballot: object) -> dict[str, object]:
    return {"candidates": ["A", "B"], "ballots": [{"ranking": ["B"]}, {"ranking": ["A"], **ballot}]}


@pytest.mark.parametrize(
    ("election", "why"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "json: an election is an object with candidates and ballots"),
        ({}, "candidates: Field required"),
        ({"candidates": ["A"]}, "ballots: Field required"),
        ({"candidates": [], "ballots": []}, "candidates: List should have at least 1"),
        ({"candidates": ["A", "A"], "ballots": []}, "'A' is listed twice"),
        ({"candidates": ["A", ""], "ballots": []}, "candidate 2"),
        ({"candidates": [str(n) for n in range(301)], "ballots": []}, "at most 300"),
        (one(ranking=[]), "ballot 2, ranking"),
        (one(ranking=[["A"], []]), "ballot 2, ranking 2"),
        (one(ranking=[["A"], ["Z"]]), "ballot 2: 'Z' is no candidate"),
        (one(ranking=["A", "A"]), "ballot 2: 'A' is on it twice"),
        (one(count=-3), "ballot 2, count: Input should be greater than or equal to 1, not -3"),
        (one(count=0), "ballot 2, count"),
        (one(count=1.5), "ballot 2, count"),
        (one(count=True), "ballot 2, count"),
        (one(count=10**30), "ballot 2, count: Input should be less than or equal to 1000000000"),
        (one(confidence=float("nan")), "NaN is not a number"),
        (one(confidence=float("inf")), "Infinity is not a number"),
        (one(confidence=1.01), "ballot 2, confidence"),
        (one(confidence="high"), "ballot 2, confidence"),
        (one(rank=["A"]), "ballot 2, rank: Extra inputs"),
        ('{"candidates": ["A"], "ballots": [{"ranking": ["A"], "confidence": 1e999}]}', "ballot 1, confidence"),
        ('{"candidates": ["A"], "ballots": [{"ranking": ["A"], "count": ' + "9" * 5000 + "}]}", "is not JSON"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_the_place(cli: Cli, tmp_path: Path, election: object, why: str) -> None:
    ran = cli("vote", written(tmp_path, election), "--json")
    assert ran.code == 2 and ran.out == "" and why in ran.err, ran.err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--method", "approval"], "unknown --method 'approval'; known are auto, weighted"),
        (["--tie-break", "coin"], "unknown --tie-break 'coin'"),
        (["--leader", "nobody", "--tie-break", "leader_vote"], "the leader 'nobody' has no ballot; voters are x, y"),
    ],
)
def test_words_that_are_not_known_are_refused(cli: Cli, tmp_path: Path, options: list[str], why: str) -> None:
    ran = cli("vote", written(tmp_path, CYCLE), *options)
    assert ran.code == 2 and why in ran.err


def test_a_file_that_is_not_there_and_standard_input(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "nothing.json cannot be read: No such file" in cli("vote", "nothing.json").err
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CYCLE).encode())))
    assert cli("vote", "-").out.startswith("A wins")


def test_a_byte_order_mark_is_no_mistake(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "e.json").write_text('{"candidates": ["A"], "ballots": []}', "utf-8-sig")
    assert cli("vote", "e.json").code == 0


def test_names_cannot_draw_on_the_terminal(cli: Cli, tmp_path: Path) -> None:
    named = {"candidates": ["A\u001b[31m", "[red]B"], "ballots": [{"ranking": ["[red]B"], "voter": "\u202ex"}]}
    ran = cli("vote", written(tmp_path, named))
    assert "\x1b" not in ran.out and "[red]B" in ran.out


def test_a_large_election_is_counted(cli: Cli, tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(300)]
    cast = [{"ranking": [[name] for name in names[n:] + names[:n]], "count": 10**9} for n in range(0, 300, 3)]
    told = json.loads(cli("vote", written(tmp_path, {"candidates": names, "ballots": cast}), "--json").out)
    assert told["method"] == "borda" and told["winner"] == "c0"


@pytest.mark.parametrize(("option", "needs"), [("--seed", "random"), ("--leader", "leader_vote")])
def test_an_option_of_one_tie_break_is_refused_with_another(cli: Cli, tmp_path: Path, option: str, needs: str) -> None:
    ran = cli("vote", written(tmp_path, CYCLE), option, "1", "--tie-break", "most_votes")
    assert (ran.code, ran.out) == (2, "") and f"{option} acts only with --tie-break {needs}" in ran.err
