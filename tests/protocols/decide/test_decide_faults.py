"""A real OpenAI-compatible server that mixes good replies with bad ones: every weakness is named, none decides."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Cli, Ran
from fake_provider import Answer, Asked, FakeProvider, openai_answer, serving
from panels import PANEL, SCOPE, ballot, rebuttal

REFUSAL = "I'm sorry, but I cannot help with that."
PROSE = "I believe Option A is the way to go here, since it has the least risk."
HALF = ballot("risk", "A")[:30]
Lines = Mapping[str, Sequence[Answer]]


class Judges(FakeProvider):
    """Answers by who is asked: the judge's title stands in the system prompt. The last answer is repeated."""

    def __init__(self, lines: Lines) -> None:
        super().__init__([openai_answer("")])
        self.lines = {seat: list(answers) for seat, answers in lines.items()}

    def take(self, asked: Asked) -> Answer:
        super().take(asked)
        text = json.dumps(asked.body)
        seat = next(seat for seat in PANEL if f"You are the {seat.title()} Judge on a panel" in text)
        left = self.lines[seat]
        return left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def panel(lines: Lines) -> Iterator[Judges]:
    with serving(Judges(lines)) as provider:
        yield provider


Decide = Callable[[Lines], tuple[Ran, dict[str, object], Judges]]


@pytest.fixture
def decided(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    monkeypatch.setenv("MOOT_RETRIES", "0")
    (tmp_path / "q.yaml").write_text(SCOPE)

    def run(lines: Lines) -> tuple[Ran, dict[str, object], Judges]:
        with panel(lines) as provider:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
            ran = cli("decide", "q.yaml", "-m", "openai:any", "--json", "--call-timeout", "5")
        return ran, dict(json.loads(ran.out)), provider

    return run


def says(*texts: str) -> list[Answer]:
    return [openai_answer(text) for text in texts]


def good(seat: str, option: str, after: str = "") -> list[Answer]:
    return says(ballot(seat, option), rebuttal(seat, after or option))


@pytest.mark.parametrize(
    ("bad", "note"),
    [
        (says(REFUSAL), "risk, round 1: absent, unreadable"),
        (says(""), "risk, round 1: absent, unreadable: the reply is empty"),
        (says(ballot("risk", "D")), "there is no option 'D'"),
        (says(ballot("risk", "A or B")), "it names A and B"),
        (says(ballot("risk", "none of them")), "it names no option"),
        (says(PROSE), "risk, round 1: absent, unreadable"),
        ([openai_answer(HALF, finish="length")], "cut off"),
        ([openai_answer(None, refusal="no")], "risk, round 1: absent"),
        ([Answer(status=500, body={"error": {"message": "boom"}})], "risk, round 1: absent, unreachable"),
        ([Answer(body="<html>not an api</html>")], "risk, round 1: absent, unreachable"),
        ([Answer(trouble="reset")], "risk, round 1: absent, unreachable"),
    ],
    ids=["refusal", "empty", "wrong-letter", "both", "none", "prose", "cut-off", "refused", "500", "html", "reset"],
)
def test_one_bad_judge_is_left_out_and_named_and_the_others_decide(
    decided: Decide, bad: list[Answer], note: str
) -> None:
    ran, result, _ = decided({"risk": bad, "value": good("value", "B"), "effort": good("effort", "B")})
    assert (ran.code, result["outcome"], result["recommended_option"]) == (0, "RECOMMENDED", "B")
    assert result["distribution"] == {"B": ["value", "effort"]} and result["confidence"] == "MEDIUM"
    assert any(note in weak for weak in result["degraded"]), result["degraded"]  # type: ignore[attr-defined]
    assert any("only 2 perspectives available" in weak for weak in result["notes"])  # type: ignore[attr-defined]


@pytest.mark.parametrize("bad", [REFUSAL, "", ballot("risk", "D"), ballot("risk", "A or B"), PROSE])
def test_one_clarification_is_enough_when_the_second_reply_is_good(decided: Decide, bad: str) -> None:
    ran, result, provider = decided({seat: says(bad, ballot(seat, "A")) for seat in PANEL})
    assert (ran.code, result["agreement"], result["calls"]) == (0, "UNANIMOUS", 6)
    assert len([w for w in result["degraded"] if "asked again" in w]) == 3  # type: ignore[attr-defined]
    again = [json.dumps(asked.body) for asked in provider.asked if "could not be used" in json.dumps(asked.body)]
    assert len(again) == 3


def test_a_judge_that_never_answers_is_gone_on_without(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "q.yaml").write_text(SCOPE)
    monkeypatch.setenv("OPENAI_API_KEY", "test-key-0123456789")
    lines = {"risk": [Answer(trouble="hang")], "value": good("value", "B"), "effort": good("effort", "B")}
    with panel(lines) as provider:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
        ran = cli("decide", "q.yaml", "-m", "openai:any", "--json", "--call-timeout", "1")
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"]) == (0, "RECOMMENDED")
    assert "Risk Judge timed out - only 2 perspectives available" in result["notes"]


def test_all_bad_is_insufficient_never_agreement(decided: Decide) -> None:
    ran, result, _ = decided({seat: says(REFUSAL) for seat in PANEL})
    assert (ran.code, result["outcome"], result["recommended_option"]) == (2, "INSUFFICIENT_DATA", None)
    assert len([w for w in result["degraded"] if "gave no readable recommendation" in w]) == 3  # type: ignore[attr-defined]


def test_round_2_with_a_silent_convert_and_a_drifting_judge_stays_contested(decided: Decide) -> None:
    convert = rebuttal("value", "A", "NONE")
    meek = json.dumps(
        {
            "challenges": {"risk": "I agree.", "value": "It costs too much work."},
            "reasons": "As the risk judge I keep it.",
            "option": "C",
        }
    )
    ran, result, _ = decided(
        {
            "risk": good("risk", "A"),
            "value": says(ballot("value", "B"), convert),
            "effort": says(ballot("effort", "C"), meek),
        }
    )
    weak = "\n".join(result["degraded"])  # type: ignore[arg-type]
    assert (ran.code, result["outcome"], result["change_log"]) == (1, "CONTESTED", [])
    assert "Value Judge wanted to change from B to A and did not say what convinced it" in weak
    assert "effort, round 2: stance drift, it agrees with risk instead of challenging it" in weak
    assert "effort, round 2: stance drift, it speaks as the Risk Judge" in weak


def test_a_judge_that_only_answers_in_round_1_keeps_its_word(decided: Decide) -> None:
    lines = {"risk": says(ballot("risk", "A"), REFUSAL), "value": good("value", "B"), "effort": good("effort", "C")}
    ran, result, _ = decided(lines)
    assert (ran.code, result["outcome"]) == (1, "CONTESTED")
    assert result["distribution"] == {"A": ["risk"], "B": ["value"], "C": ["effort"]}
    assert any("Risk Judge was not heard in round 2" in w for w in result["degraded"])  # type: ignore[attr-defined]


def test_the_server_is_given_a_schema_that_names_the_options(decided: Decide) -> None:
    _, _, provider = decided({seat: good(seat, "A") for seat in PANEL})
    body = json.dumps(provider.asked[0].body)
    assert '"enum": ["A", "B", "C"]' in body and '"required": ["analysis", "reasons", "option", "confidence"]' in body
