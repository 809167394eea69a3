"""The panel's rules, each by a case: counting, rounds, changes of mind, absences, cuts, drift."""

import asyncio
import json
from collections.abc import Mapping, Sequence

import pytest

from moot.core.errors import ModelError
from moot.core.ports import Model
from moot.core.types import Limits, ModelCall, Reply
from moot.protocols.decide.ballots import Ballot, JudgeRebuttal
from moot.protocols.decide.cases import open_case, verdict
from moot.protocols.decide.questions.contexts import parse_spoken_question
from moot.protocols.decide.questions.panel import load_shipped_judges
from moot.protocols.decide.questions.values import Judge, PanelQuestion
from moot.protocols.decide.script import DecideInput, DecideResult, DecideRules, decide
from moot.protocols.decide.verdicts import JudgePosition, QuestionVerdict, drift, is_specific, second_position
from moot.runtime.room import LiveRoom
from moot.testing import Line, ScriptedModel, room

PANEL = ("risk", "value", "effort")
OPTIONS = ("A: Full offline", "B: Online only", "C: Limited offline")
ASKED = parse_spoken_question("Do we need offline work in v1?", OPTIONS)
WORDS = {
    "risk": "The risk is small.",
    "value": "Users gain most.",
    "effort": "The effort is small.",
    "security": "No data leaks.",
    "users": "People need it.",
}


def judges(*names: str) -> tuple[Judge, ...]:
    return tuple(load_shipped_judges()[name] for name in names or PANEL)


def ballot(seat: str, option: str) -> str:
    return json.dumps({"analysis": {"A": "fine"}, "reasons": WORDS[seat], "option": option, "confidence": "HIGH"})


def rebuttal(seat: str, option: str, convinced_by: str = "NONE", panel: Sequence[str] = PANEL) -> str:
    challenges = {other: f"{other} is wrong about it" for other in panel if other != seat}
    said = {"challenges": challenges, "reasons": WORDS[seat], "convinced_by": convinced_by, "option": option}
    return json.dumps(said)


def held(
    script: Mapping[str, Sequence[Line]],
    questions: Sequence[PanelQuestion] = (ASKED,),
    panel: Sequence[str] = PANEL,
    rules: DecideRules | None = None,
    limits: Limits | None = None,
    force: bool = False,
) -> tuple[DecideResult, ScriptedModel, LiveRoom]:
    model = ScriptedModel(script)
    live = room(dict.fromkeys(script, model), limits=limits)
    given = DecideInput(questions=tuple(questions), judges=judges(*panel), force_panel=force)
    return asyncio.run(decide(given, rules or DecideRules(), live)), model, live


def round_one(options: str, panel: Sequence[str] = PANEL) -> dict[str, list[Line]]:
    return {seat: [ballot(seat, option)] for seat, option in zip(panel, options, strict=True)}


def both_rounds(first: str, second: str, convinced: str = "sync bugs take weeks to show") -> dict[str, list[Line]]:
    return {
        seat: [ballot(seat, a), rebuttal(seat, b, convinced if a != b else "NONE")]
        for seat, a, b in zip(PANEL, first, second, strict=True)
    }


def sole(result: DecideResult) -> QuestionVerdict:
    (one,) = result.questions
    return one


# --- the two rounds


@pytest.mark.parametrize(
    ("options", "option", "agreement", "dissent"),
    [("AAA", "A", "UNANIMOUS", []), ("AAB", "A", "MAJORITY", ["effort"]), ("CBB", "B", "MAJORITY", ["risk"])],
)
def test_agreement_in_round_1_ends_it(options: str, option: str, agreement: str, dissent: list[str]) -> None:
    result, model, live = held(round_one(options))
    said = sole(result)
    assert (result.outcome, said.recommended_option, said.agreement) == ("RECOMMENDED", option, agreement)
    assert [entry.judge for entry in said.dissent] == dissent
    assert (said.consensus, said.confidence, said.rounds) == (True, "HIGH", 1)
    assert (live.ledger.calls, result.calls_full_run) == (3, 6)
    assert any("round 2 was skipped" in note for note in said.notes)
    model.assert_finished()


def test_no_agreement_leads_to_round_2_where_each_reads_the_others() -> None:
    result, model, _ = held(both_rounds("ABC", "AAC"))
    said = sole(result)
    assert (said.outcome, said.recommended_option, said.agreement, said.rounds) == ("RECOMMENDED", "A", "MAJORITY", 2)
    assert [(c.judge, c.before, c.after, c.reason) for c in said.change_log] == [
        ("value", "B", "A", "sync bugs take weeks to show")
    ]
    assert said.perspectives["value"] == "Option A - Users gain most. (changed from B)"
    assert said.baseline == {"A": ("risk",), "B": ("value",), "C": ("effort",)}
    for call in model.asked[3:]:
        assert all(WORDS[seat] in call.prompt for seat in PANEL), "each reads itself and the others"
    model.assert_finished()


def test_still_no_agreement_is_contested_and_handed_to_the_user() -> None:
    result, _, _ = held(both_rounds("ABC", "ABC"))
    said = sole(result)
    assert (said.outcome, said.consensus, said.confidence) == ("CONTESTED", False, "REQUIRES_INPUT")
    assert said.recommended_option is None
    assert said.distribution == {"A": ("risk",), "B": ("value",), "C": ("effort",)}
    assert list(said.perspectives) == list(PANEL)
    assert "Which option would you like" in said.user_prompt and "[C] Limited offline" in said.user_prompt


@pytest.mark.parametrize(
    ("convinced", "accepted"),
    [
        ("", False), ("NONE", False), ("n/a", False), ("No change", False), ("the value judge's argument", False),
        ("Convinced by effort judge", False), ("I keep my position", False), ("sync bugs take weeks to show", True),
        ("effort's ROI analysis", True), ("the cost of migration", True),
    ],
)  # fmt: skip
def test_a_change_of_mind_must_say_what_convinced_it(convinced: str, accepted: bool) -> None:
    assert is_specific(convinced, (*PANEL, "A", "B")) == accepted
    result, _, live = held(both_rounds("ABC", "AAC", convinced))
    said = sole(result)
    assert said.outcome == ("RECOMMENDED" if accepted else "CONTESTED")
    assert bool(said.change_log) == accepted
    refused = [note for note in live.degraded if "did not say what convinced it: not accepted" in note]
    assert bool(refused) == (not accepted) and (accepted or refused[0].startswith("Q1: Value Judge"))
    if not accepted:
        assert (said.distribution["B"], said.positions[4].wanted) == (("value",), "A")


def test_a_refused_change_keeps_the_reasons_of_round_1() -> None:
    before = JudgePosition(judge="x", title="", stance="", round=1, option="B", reasons="first")
    said = JudgeRebuttal(challenges={"x": "y"}, reasons="second", option="A")
    after = second_position(before, said, ())
    assert (after.option, after.reasons, after.wanted) == ("B", "first", "A")


def test_a_judge_that_challenges_only_one_of_two_is_asked_again_and_then_stays_where_it_was() -> None:
    script = both_rounds("ABC", "AAC")
    lazy = json.dumps(
        {"challenges": {"risk": "too dark"}, "reasons": "Users.", "option": "A", "convinced_by": "sync bugs"}
    )
    script["value"] = [ballot("value", "B"), lazy, lazy]
    result, model, live = held(script)
    said = sole(result)
    assert (said.outcome, said.distribution["B"]) == ("CONTESTED", ("value",))
    assert any("does not challenge effort" in note for note in live.degraded)
    assert any("Value Judge was not heard in round 2" in note for note in said.notes)
    model.assert_finished()


def test_a_silent_judge_of_round_2_still_counts_with_what_it_said_in_round_1() -> None:
    script = both_rounds("ABC", "AAC")
    script["effort"] = [ballot("effort", "C"), ModelError("gone", kind="timeout")]
    said = sole(held(script)[0])
    assert (said.outcome, said.agreement, said.confidence) == ("RECOMMENDED", "MAJORITY", "MEDIUM")
    assert [entry.judge for entry in said.dissent] == ["effort"], "silence is not agreement"


def test_a_round_2_in_which_nobody_is_heard_decides_nothing() -> None:
    gone = ModelError("gone", kind="timeout")
    script: dict[str, list[Line]] = {seat: [ballot(seat, o), gone] for seat, o in zip(PANEL, "ABC", strict=True)}
    result, _, live = held(script)
    assert (result.outcome, sole(result).confidence) == ("INSUFFICIENT_DATA", "LOW")
    assert live.failed_at is not None


def test_one_round_only_when_the_rules_say_so() -> None:
    result, model, _ = held(round_one("ABC"), rules=DecideRules(max_rounds=1))
    assert (result.outcome, result.calls_full_run) == ("CONTESTED", 3)
    model.assert_finished()


# --- judges that are away


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ([ModelError("slow", kind="timeout")], "timed out"),
        ([ModelError("down", kind="auth")], "could not be reached"),
        ([ModelError("no", kind="refused")], "refused to answer"),
        (["I cannot help.", "I really cannot."], "gave no readable recommendation"),
        (["", ""], "gave no readable recommendation"),
    ],
)
def test_the_panel_goes_on_without_an_absent_judge_and_says_so(line: list[Line], why: str) -> None:
    result, _, live = held({**round_one("ABB"), "risk": line})
    said = sole(result)
    assert (said.outcome, said.recommended_option, said.agreement) == ("RECOMMENDED", "B", "UNANIMOUS")
    assert said.confidence == "MEDIUM"
    note = f"Risk Judge {why} - only 2 perspectives available"
    assert note in said.notes and note in said.degraded and f"Q1: {note}" in live.degraded


def test_two_judges_that_disagree_have_their_second_round() -> None:
    script = {
        seat: [ballot(seat, o), rebuttal(seat, o, panel=("value", "effort"))]
        for seat, o in (("value", "A"), ("effort", "B"))
    }
    result, model, _ = held({"risk": [ModelError("slow", kind="timeout")], **script})
    assert (result.outcome, sole(result).distribution) == ("CONTESTED", {"A": ("value",), "B": ("effort",)})
    model.assert_finished()


@pytest.mark.parametrize(("present", "option"), [(("effort",), "C"), ((), None)])
def test_one_judge_or_none_is_insufficient(present: tuple[str, ...], option: str | None) -> None:
    script = {seat: [ballot(seat, "C")] if seat in present else [ModelError("x", kind="auth")] for seat in PANEL}
    result, _, _ = held(script)
    said = sole(result)
    assert (result.outcome, said.confidence, said.recommended_option) == ("INSUFFICIENT_DATA", "LOW", option)
    assert not said.consensus and said.agreement == "NONE"


def test_a_seat_without_a_model_is_an_absent_judge() -> None:
    result, _, live = held({"value": [ballot("value", "A")], "effort": [ballot("effort", "A")]})
    assert (result.outcome, result.calls_full_run) == ("RECOMMENDED", 4)
    assert any("Risk Judge has no model" in note for note in live.degraded)


def test_a_bad_reply_is_clarified_once() -> None:
    result, _, live = held({**round_one("AAA"), "value": ["Option A or B", ballot("value", "A")]})
    assert sole(result).agreement == "UNANIMOUS" and live.ledger.calls == 4
    assert any("value, round 1: first reply unreadable" in note for note in live.degraded)
    wrong, _, _ = held({**round_one("AAA"), "value": [ballot("value", "D"), ballot("value", "Option A or Option B")]})
    assert len(sole(wrong).positions) == 2, "a letter that does not exist is never guessed at"


# --- who is asked


def test_a_question_of_another_class_is_not_put_before_the_panel() -> None:
    question = parse_spoken_question("What colour has the button?", ["red", "blue"])
    result, model, _ = held({}, [question])
    said = sole(result)
    assert (result.outcome, said.panel, said.classification.classification) == ("NO_PANEL", False, "UX_PREFERENCE")
    assert "classed UX_PREFERENCE: no panel was asked" in said.notes
    assert (model.asked, said.recommended_option) == ([], None)
    forced, _, _ = held(round_one("AAB"), [question], force=True)
    assert forced.outcome == "RECOMMENDED" and any("was forced" in note for note in sole(forced).notes)


def test_an_adviser_is_asked_only_where_there_is_no_panel() -> None:
    question = parse_spoken_question("What colour has the button?", ["red", "blue"])
    advice = json.dumps({"reasons": "It stands out.", "option": "red"})
    result, model, _ = held(
        {**round_one("AAA"), "advisor": [advice]}, [ASKED, question.model_copy(update={"id": "Q2"})]
    )
    first, second = result.questions
    assert (first.outcome, second.outcome, second.recommended_option) == ("RECOMMENDED", "NO_PANEL", "A")
    assert (second.confidence, second.perspectives) == ("LOW", {"advisor": "Option A - It stands out."})
    model.assert_finished()


def test_questions_run_side_by_side_in_one_round() -> None:
    second = ASKED.model_copy(update={"id": "Q2", "text": "Do we need export?"})
    script: dict[str, list[Line]] = {
        "risk": [ballot("risk", "A"), ballot("risk", "A"), rebuttal("risk", "A")],
        "value": [ballot("value", "A"), ballot("value", "B"), rebuttal("value", "B")],
        "effort": [ballot("effort", "A"), ballot("effort", "C"), rebuttal("effort", "C")],
    }
    result, model, _ = held(script, [ASKED, second])
    assert [v.outcome for v in result.questions] == ["RECOMMENDED", "CONTESTED"] and result.outcome == "CONTESTED"
    assert [call.round for call in model.asked] == [1] * 6 + [2] * 3
    model.assert_finished()


class Together(Model):
    """Answers only when everybody has been asked."""

    name = "fake:together"

    def __init__(self, count: int) -> None:
        self.left, self.all_here = count, asyncio.Event()

    async def reply(self, call: ModelCall) -> Reply:
        self.left -= 1
        if not self.left:
            self.all_here.set()
        await self.all_here.wait()
        return Reply(text=ballot(call.seat, "A"), model=self.name)

    def skip(self, call: ModelCall) -> None:
        raise AssertionError("nothing is replayed here")

    async def aclose(self) -> None:
        raise AssertionError("nobody opened it")


def test_all_judges_of_all_questions_are_asked_at_once() -> None:
    async def both() -> DecideResult:
        live = room(dict.fromkeys(PANEL, Together(6)), limits=Limits(call_timeout=5))
        questions = (ASKED, ASKED.model_copy(update={"id": "Q2"}))
        return await decide(DecideInput(questions=questions, judges=judges()), DecideRules(), live)

    assert [v.agreement for v in asyncio.run(both()).questions] == ["UNANIMOUS", "UNANIMOUS"]


def test_more_judges_can_sit() -> None:
    panel = ("risk", "value", "effort", "security", "users")
    result, _, _ = held(round_one("AAABA", panel), panel=panel)
    assert (sole(result).agreement, len(sole(result).distribution["A"])) == ("MAJORITY", 4)


def test_round_1_prompts_hold_nobody_elses_words_and_name_the_stance() -> None:
    _, model, _ = held(both_rounds("ABC", "ABC"))
    for call in model.asked[:3]:
        others = [words for seat, words in WORDS.items() if seat != call.seat]
        assert not any(words in call.prompt + call.system for words in others)
        assert (
            load_shipped_judges()[call.seat].stance in call.system
            and load_shipped_judges()[call.seat].aim in call.system
        )
        assert all(option.split(": ")[1] in call.prompt for option in OPTIONS)


def test_context_that_does_not_fit_is_cut_and_that_is_said() -> None:
    long = ASKED.model_copy(update={"context": "word " * 2000})
    _, model, live = held(round_one("AAA"), [long], limits=Limits(prompt_tokens=100))
    assert "[cut here:" in model.asked[0].prompt and len(model.asked[0].prompt) < 3000
    assert any("the judges did not see everything: the context: " in note for note in live.degraded)


def test_reasons_that_do_not_fit_into_round_2_are_cut_and_that_is_said() -> None:
    script = both_rounds("ABC", "ABC")
    long = json.dumps({"analysis": {}, "reasons": "it saves weeks. " * 200, "option": "A", "confidence": "high"})
    script["risk"][0] = long
    _, model, live = held(script, limits=Limits(prompt_tokens=1600))
    asked = next(call for call in model.asked if call.seat == "value" and call.round == 2)
    assert "[cut here: " in asked.prompt
    assert any(
        note.startswith("value, round 2, did not see everything: the reasons of risk: 1400 of ")
        for note in live.degraded
    )


# --- cut short


@pytest.mark.parametrize(
    ("calls", "outcomes"),
    [
        (0, ["INSUFFICIENT_DATA", "INSUFFICIENT_DATA"]),
        (2, ["INSUFFICIENT_DATA", "INSUFFICIENT_DATA"]),
        (4, ["RECOMMENDED", "INSUFFICIENT_DATA"]),
        (6, ["RECOMMENDED", "INSUFFICIENT_DATA"]),
        (8, ["RECOMMENDED", "INSUFFICIENT_DATA"]),
        (9, ["RECOMMENDED", "CONTESTED"]),
    ],
)
def test_a_spent_budget_keeps_what_was_decided_and_claims_no_more(calls: int, outcomes: list[str]) -> None:
    second = ASKED.model_copy(update={"id": "Q2"})
    script: dict[str, list[Line]] = {
        seat: [ballot(seat, "A"), ballot(seat, option), rebuttal(seat, option)]
        for seat, option in zip(PANEL, "ABC", strict=True)
    }
    result, _, live = held(script, [ASKED, second], limits=Limits(max_calls=calls))
    assert [v.outcome for v in result.questions] == outcomes
    assert result.stop_reason == ("decided" if calls == 9 else "budget_exhausted")
    assert (calls == 9) or any(note.startswith("budget exhausted") for note in live.degraded)
    if calls == 8:
        assert result.questions[1].distribution, "what round 1 said is kept"


def test_a_case_without_any_answer_is_insufficient() -> None:
    assert verdict(open_case(ASKED, 1000, forced=False)).outcome == "INSUFFICIENT_DATA"


# --- drift


@pytest.mark.parametrize(
    ("seat", "reasons", "challenges", "sign"),
    [
        ("risk", "As the value judge, I see risk.", {}, "it speaks as the Value Judge"),
        ("risk", "I am an optimistic judge and see no risk.", {}, "it speaks as the Value Judge"),
        ("risk", "Everything is great and everybody will love it.", {}, "nothing in its reply is about"),
        ("effort", "It is the nicest.", {}, "nothing in its reply is about"),
        ("risk", "The risk is high.", {"value": "I agree with the value judge."}, "it agrees with value"),
        ("risk", "The risk is high.", {"value": "No objections."}, "it agrees with value"),
        ("risk", "The risk is high.", {"value": "I agree, but it ignores outages."}, ""),
        ("risk", "The value judge overlooks the risk.", {}, ""),
        ("value", "Users gain most.", {}, ""),
        ("effort", "Two weeks of work.", {}, ""),
        ("effort", "", {}, "it gave no reasons"),
    ],
)
def test_a_judge_that_leaves_its_stance_is_noted(
    seat: str, reasons: str, challenges: dict[str, str], sign: str
) -> None:
    judge = load_shipped_judges()[seat]
    position = JudgePosition(
        judge=seat, title="", stance="", round=1, option="A", reasons=reasons, challenges=challenges
    )
    signs = drift(judge, position, [other for other in judges() if other != judge])
    assert (signs == []) if not sign else (len(signs) == 1 and sign in signs[0])


def test_drift_reaches_degraded_and_the_vote_still_counts() -> None:
    script = round_one("AAA")
    script["risk"] = [Ballot(reasons="Everybody will love it.", option="A")]
    result, _, live = held(script)
    assert sole(result).agreement == "UNANIMOUS"
    assert any("Q1: risk, round 1: stance drift" in note for note in live.degraded)
