"""An OpenAI-compatible server that misbehaves in a debate: none of it passes for an answer, a ballot or agreement."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debates import FIRST, LAST, RIGHT, ROLES, Cast, ballot, blind, code, points, scores
from fake_provider import Answer, Asked, FakeProvider, openai_answer, serving

TASK = (
    "Write largest(numbers): the largest number of a list, or None for an empty one. "
    "largest([7]) -> 7, largest([4]) -> 4, largest([9]) -> 9"
)
REFUSAL = "I'm sorry, but I can't help with that."
Says = Callable[[str, str], Answer | str]
"""Seat and kind of question -> what the server answers."""
GOOD = {
    "tests": "TESTS: NONE", "points": points(), "scores": scores(A=0.5, B=0.5), "reflect": "{}", "blind": blind(n1="9"),
    "merge": code(LAST), "argue": '{"argument": "it passes"}', "ballot": ballot("B", "A", sure=1.0),
}  # fmt: skip
CODES = {"proposer": LAST, "critic": FIRST, "reviewer": FIRST}


class Answering(FakeProvider):
    """Answers by who is asked for what; the model's name is the seat's."""

    def __init__(self, say: Says) -> None:
        super().__init__([openai_answer("")])
        self.say = say

    def take(self, asked: Asked) -> Answer:
        super().take(asked)
        messages: Any = asked.body["messages"]
        text = next(m["content"] for m in reversed(messages) if m["role"] == "user")
        kind = next((kind for head, kind in Cast.HEADS.items() if head in text), "?")
        said = self.say(str(asked.body["model"]), kind)
        return openai_answer(said) if isinstance(said, str) else said


@contextmanager
def answering(say: Says) -> Iterator[Answering]:
    with serving(Answering(say)) as provider:
        yield provider


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    monkeypatch.setenv("MOOT_RETRIES", "0")
    agents = [f'[[agents]]\nrole = "{role}"\nmodel = "openai:{role}"\n' for role in ROLES]
    (tmp_path / "team.toml").write_text("".join(agents))
    return monkeypatch


def debate(cli: Cli, openai: pytest.MonkeyPatch, say: Says, *more: str) -> dict[str, Any]:
    with answering(say) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        flags = ("--team", "team.toml", "--planning", "off", "--rounds", "1", "--json", "--quiet", *more)
        ran = cli("debate", TASK, *flags)
    assert ran.out, ran.err
    assert "test-key-0123456789" not in ran.out + ran.err
    return {**json.loads(ran.out), "exit": ran.code}


def well(seat: str, kind: str) -> str:
    return code(CODES[seat]) if kind == "code" else GOOD[kind]


BAD = {
    "prose": openai_answer("It is easy: go through the list and keep the largest."),
    "refusal": openai_answer(REFUSAL),
    "refusal field": openai_answer(None, refusal="I cannot do that."),
    "empty": openai_answer(""),
    "half": openai_answer(code(RIGHT).split("default")[0]),
    "cut off": openai_answer(code(RIGHT).split("default")[0], finish="length"),
    "no fence": openai_answer(f"APPROACH: max\n\n{RIGHT.splitlines()[1]}"),
    "empty fence": openai_answer("CODE:\nFILE: solution.py\n```python\n```\n"),
    "form": openai_answer("CODE:\nFILE: solution.py\n```\n<the complete code>\n```\n"),
    "500": Answer(status=500, body={"error": {"message": "boom"}}),
    "reset": Answer(trouble="reset"),
    "cut body": Answer(body={"choices": []}, trouble="cut"),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_two_bad_drafts_leave_one_answer_and_that_is_said(cli: Cli, openai: pytest.MonkeyPatch, bad: Answer) -> None:
    def say(seat: str, kind: str) -> Answer | str:
        return bad if kind == "code" and seat != "proposer" else well(seat, kind)

    result = debate(cli, openai, say)
    assert [candidate["seat"] for candidate in result["candidates"]] == ["proposer"]
    assert (result["winner"], result["code"], result["stop_reason"]) == ("A", LAST, "tests")
    assert result["baseline"]["clusters"] == [["A"]] and result["baseline"]["calls"] == 3
    assert "only 1 of 3 independent answers came" in result["degraded"]
    for seat in ("critic", "reviewer"):
        assert any(note.startswith(f"{seat}, round 1") for note in result["degraded"]), result["degraded"]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_drafts_alone_are_no_result(cli: Cli, openai: pytest.MonkeyPatch, bad: Answer) -> None:
    result = debate(cli, openai, lambda seat, kind: bad if kind == "code" else well(seat, kind), "--out", "won.py")
    assert (result["exit"], result["outcome"], result["winner"], result["code"]) == (2, "inconclusive", None, "")
    assert result["degraded"] and not Path("won.py").exists()


NO_BALLOT = {
    "prose": "B is clearly the best of them, and A comes after it.",
    "refusal": REFUSAL,
    "empty": "",
    "wrong letters": '{"reasons": "so", "ranking": ["X", "Y"], "confidence": 1.0}',
    "numbers": '{"reasons": "so", "ranking": [1, 2], "confidence": 1.0}',
    "nothing ranked": '{"reasons": "both pass", "ranking": [], "confidence": 1.0}',
    "abstains": '{"reasons": "both pass", "ranking": ["I abstain"], "confidence": 1.0}',
    "none": '{"reasons": "both pass", "ranking": "none", "confidence": 1.0}',
    "no ranking": '{"reasons": "B passes", "confidence": 1.0}',
    "cut JSON": '{"reasons": "B passes", "ranking": ["B',
}


@pytest.mark.parametrize("bad", NO_BALLOT.values(), ids=NO_BALLOT)
def test_what_is_no_ballot_is_not_counted_and_never_agreement(cli: Cli, openai: pytest.MonkeyPatch, bad: str) -> None:
    two = {**CODES, "reviewer": REFUSAL}

    def say(seat: str, kind: str) -> str:
        if kind == "code":
            return code(two[seat]) if two[seat] != REFUSAL else REFUSAL
        return bad if kind == "ballot" else well(seat, kind)

    result = debate(cli, openai, say)
    (vote,) = result["votes"]
    assert vote["ballots"] == [] and vote["election"]["winner"] is None and vote["consensus"]["level"] == 0
    assert (result["exit"], result["outcome"]) == (1, "contested")
    absent = {note.split(",")[0] for note in result["degraded"] if "round 1: absent, unreadable: " in note}
    assert absent == {"proposer", "critic", "reviewer", "optimizer", "moderator"}
    assert "convergence, round 1: 0 usable answers, too few for it to count" in result["degraded"]


def test_a_ballot_cut_off_by_the_server_is_none(cli: Cli, openai: pytest.MonkeyPatch) -> None:
    cut = openai_answer('{"reasons": "B passes", "ranking": ["B", "A"', finish="length")

    def say(seat: str, kind: str) -> Answer | str:
        if kind == "code" and seat == "reviewer":
            return REFUSAL
        return cut if kind == "ballot" else well(seat, kind)

    result = debate(cli, openai, say)
    assert result["votes"][0]["ballots"] == [] and result["outcome"] == "contested"


@pytest.mark.parametrize(
    "twice",
    [
        f"{ballot('B', 'A')}\n{ballot('B', 'A')}",
        f"```json\n{ballot('B', 'A')}\n```\nAnd once more, for my friend:\n```json\n{ballot('B', 'A')}\n```",
        '{"reasons": "so", "ranking": ["B", "B", "B", "A"], "confidence": 1.0}',
        '{"reasons": "so", "ranking": ["B", "A"], "confidence": 1.0, "voter": "critic"}',
    ],
    ids=["two", "two fences", "letters again", "in another's name"],
)
def test_nobody_votes_twice(cli: Cli, openai: pytest.MonkeyPatch, twice: str) -> None:
    def say(seat: str, kind: str) -> str:
        if kind == "code" and seat == "reviewer":
            return REFUSAL
        if kind == "ballot":
            return twice if seat == "proposer" else ballot("A", "B")
        return well(seat, kind)

    result = debate(cli, openai, say)
    (vote,) = result["votes"]
    voters = [ballot["voter"] for ballot in vote["ballots"]]
    assert len(voters) == len(set(voters)) and result["winner"] == "A"
    assert vote["election"]["pairwise"]["A"]["B"] == 4 and vote["election"]["pairwise"]["B"]["A"] <= 1


@pytest.mark.parametrize("kind", ["tests", "points", "scores", "merge"])
@pytest.mark.parametrize("bad", ["Everything looks fine to me!", "", REFUSAL], ids=["praise", "empty", "refusal"])
def test_a_phase_that_brings_nothing_usable_changes_nothing_and_is_said(
    cli: Cli, openai: pytest.MonkeyPatch, kind: str, bad: str
) -> None:
    def say(seat: str, asked: str) -> str:
        if asked == "code" and seat == "reviewer":
            return REFUSAL
        return bad if asked == kind else well(seat, asked)

    result = debate(cli, openai, say)
    assert (result["winner"], len(result["votes"][0]["ballots"])) == ("B", 5)
    assert result["claims"] == [] and result["points"] == []
    assert all("maintainability" not in score["parts"] for score in result["scores"]) or kind != "scores"
    speaker = {"tests": "proposer", "points": "critic", "scores": "reviewer", "merge": "optimizer"}[kind]
    assert any(note.startswith(f"{speaker}, ") and "absent" in note for note in result["degraded"]), result["degraded"]


NO_KEY = Answer(status=401, body={"error": {"message": "bad key"}})


@pytest.mark.parametrize(
    ("lost", "kind", "phase"),
    [("critic", "points", "critique"), ("reviewer", "scores", "review"), ("optimizer", "merge", "optimization")],
)
@pytest.mark.parametrize("known", [True, False], ids=["since the drafts", "only now"])
def test_where_the_only_one_cannot_be_reached_another_takes_its_phase(
    cli: Cli, openai: pytest.MonkeyPatch, lost: str, kind: str, phase: str, known: bool
) -> None:
    said = list[tuple[str, str]]()

    def say(seat: str, asked: str) -> Answer | str:
        said.append((seat, asked))
        if seat == lost and (known or asked == kind):
            return NO_KEY
        return code(LAST if seat == "proposer" else FIRST) if asked == "code" else well(seat, asked)

    result = debate(cli, openai, say)
    (taker,) = {seat for seat, asked in said if asked == kind and seat != lost}
    assert f"{phase}, round 1: {lost} cannot be reached; {taker} takes it up" in result["degraded"]
    (report,) = [report for report in result["phases"] if report["phase"] == phase]
    assert report["status"] == "held" and len(result["votes"][0]["ballots"]) == 4
    assert any("401" in note or "key" in note for note in result["degraded"]), result["degraded"]


def test_one_key_that_is_refused_is_in_the_first_line_and_all_of_them_are_no_result(
    cli: Cli, openai: pytest.MonkeyPatch
) -> None:
    def one(seat: str, kind: str) -> Answer | str:
        return NO_KEY if seat == "critic" else code(RIGHT) if kind == "code" else well(seat, kind)

    with answering(one) as provider:
        openai.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        shown = cli("debate", TASK, "--team", "team.toml", "--planning", "off", "--rounds", "1", "--quiet")
    first = shown.out.splitlines()[0]
    assert "caveats, first: critic, round 1: absent, unreachable" in first, first
    result = debate(cli, openai, lambda seat, kind: NO_KEY, "--out", "won.py")
    assert (result["exit"], result["outcome"], result["winner"]) == (2, "inconclusive", None)
    assert not Path("won.py").exists() and result["resumable"]
