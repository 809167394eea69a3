"""Adaptive spending: a debate asks more only while evidence is missing, and says what its choice rests on."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import QUIET, TESTS, Entry, says
from debate_script import world as fixed_world
from debates import FIRST, LAST, RIGHT, TASK, ballot, blind, code, held, points, scores, team, wrote
from debates import TESTS as GIVEN
from test_debate_cli import calls, story

from moot.core.types import Answer, ModelCall
from moot.evidence.trials.selection import (
    DraftRun,
    Prediction,
    Rating,
    estimate_confidence,
    find_smallest_difference,
    near_tie,
    prefer_first,
    rate_drafts,
)
from moot.evidence.trials.signatures import calls_from_signature, calls_of_drafts, find_common_function
from moot.protocols.debate.types import DebateRules
from moot.testing import FrozenClock, Line

BARE = "Write largest(numbers): the largest number of a list, or None for an empty one."
SMALLEST = "def largest(numbers):\n    return min(numbers, default=None)\n"


def debated(cli: Cli, folder: Path, *answers: list[Entry], more: tuple[str, ...] = (), **kind: Any) -> dict[str, Any]:
    ran = cli(*fixed_world(folder, *answers, more=("--json", *more), spend="auto", **kind))
    assert ran.out, ran.err
    return {**json.loads(ran.out), "exit": ran.code}


def test_two_drafts_that_pass_and_behave_alike_cost_two_calls(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(RIGHT)), tests=TESTS)
    assert (result["exit"], result["outcome"], result["stop_reason"]) == (0, "agreed", "alike_and_green")
    assert (result["calls"], result["grade"], result["sure"]) == (2, "tested", None)
    skipped = {p["phase"]: p["said"] for p in result["phases"] if p["status"] == "skipped"}
    assert skipped["critique"] == skipped["convergence"] == "A passes your tests and the task's examples"
    assert skipped["proposal"] == "the drafts are the proposals"


def test_drafts_go_on_one_at_a_time_until_one_passes(cli: Cli, tmp_path: Path) -> None:
    wrong = [{**entry, "always": False} for entry in says("code", code(LAST), code(FIRST), code(LAST), code(SMALLEST))]
    result = debated(cli, tmp_path, [*wrong, *says("code", code(RIGHT))], tests=TESTS)
    assert (result["exit"], result["code"], result["calls"]) == (0, RIGHT, 5)
    assert result["why"] == "1 of 5 drafts pass your tests and the task's examples" and result["grade"] == "tested"
    assert [c["dropped"] for c in result["candidates"]][:2] == [
        "passes fewer of your tests and the task's examples than E"
    ] * 2


@pytest.mark.parametrize(("seconds", "edition", "drafts"), [(1.0, 3, 3), (30.0, 3, 4), (30.0, 2, 3)])
def test_drafts_of_a_slow_model_are_asked_for_in_pairs(seconds: float, edition: int, drafts: int) -> None:
    """The time of a reply is the recorded one: two at once take half the time, and one may be wasted."""
    clock = FrozenClock()

    def answer(call: ModelCall) -> Line:
        clock.seconds += seconds
        return next(replies)

    replies = iter([code(SMALLEST), code(SMALLEST), code(RIGHT), code(RIGHT)])
    rules = DebateRules.model_validate({"lessons": 0, "planning": "off", "edition": edition})
    done = held({"code": answer}, rules=rules, seats=team("proposer"), tests=GIVEN, clock=clock)
    assert (len(done.asked), done.result.code) == (drafts, RIGHT)


def test_an_effort_is_a_cap(cli: Cli, tmp_path: Path) -> None:
    result = debated(
        cli, tmp_path, says("code", code(LAST)), says("merge", code(LAST)), QUIET, tests=TESTS, more=("--effort", "6")
    )
    drafts = [call for call in calls(cli, result) if call["phase"] == "self_evolvement"]
    assert (len(drafts), result["outcome"], result["exit"]) == (4, "unresolved", 1)
    bare = debated(cli, tmp_path, [*says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT))], QUIET,
                   task=BARE, more=("--max-calls", "6"))  # fmt: skip
    assert (bare["calls"], bare["outcome"], bare["resumable"]) == (6, "chosen", False), "it ends within the budget"


def test_passing_drafts_that_differ_are_told_apart_by_blind_tests(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT))]
    tests = says("tests", wrote("largest([3, 1]) == 3", "largest([5, 2, 4]) == 5", "largest([1, 2]) == 2"))
    result = debated(cli, tmp_path, drafts, tests, task=TASK)
    assert (result["exit"], result["code"], result["calls"]) == (0, RIGHT, 4)
    asked = [c["prompt"] for c in calls(cli, result) if c["prompt"].startswith("Write tests")]
    assert len(asked) == 2 and all("def largest" not in prompt for prompt in asked), "tests are written blind"
    assert result["why"] == (
        "2 of 2 drafts pass the task's examples; of these, 1 of 2 drafts behave exactly like it; "
        "it meets 6 of 6 values that seats predicted without seeing code"
    )


def test_without_examples_the_drafts_and_blind_tests_choose_and_nothing_is_called_tested(
    cli: Cli, tmp_path: Path
) -> None:
    drafts = [*says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT))]
    tests = says("tests", wrote("largest([3, 1]) == 3", "largest([]) == None", "largest([1, 2]) == 2"))
    result = debated(cli, tmp_path, drafts, tests, task=BARE)
    assert (result["code"], result["outcome"], result["stop_reason"]) == (RIGHT, "chosen", "evidence")
    assert (result["exit"], result["tested"], result["grade"]) == (4, False, "agreed")
    assert 0.5 < result["sure"] <= 0.9 and result["calls"] <= 20
    best = result["ratings"][0]
    assert best["met"] == best["of"] and best["alike"] > best["drafts"] / 2
    shown = cli("show", result["session_id"]).out
    assert "not tested by you, agreed by evidence; right in" in " ".join(shown.split())
    assert "behave alike" in shown and "predictions met" in shown


def test_three_drafts_alike_end_it_without_examples(cli: Cli, tmp_path: Path) -> None:
    tests = says("tests", wrote("largest([3, 1]) == 3"))
    result = debated(cli, tmp_path, says("code", code(RIGHT)), tests, task=BARE)
    assert (result["calls"], result["grade"], result["exit"]) == (4, "agreed", 4)


def test_inputs_come_from_the_signature_where_nobody_writes_a_test(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT))]
    result = debated(cli, tmp_path, drafts, says("tests", "TESTS: NONE"), task=BARE, more=("--effort", "8"))
    assert (result["code"], result["grade"]) == (RIGHT, "agreed")
    assert "largest([3, 1, 2])" in result["candidates"][0]["checked"]["answers"]


def test_code_that_returns_nothing_is_an_opinion(cli: Cli, tmp_path: Path) -> None:
    silent = says("code", code("def largest(numbers):\n    raise NotImplementedError\n"))
    result = debated(cli, tmp_path, silent, says("tests", "TESTS: NONE"), task=BARE, more=("--effort", "4"))
    assert (result["grade"], result["sure"], result["exit"]) == ("opinion", None, 2)


def test_no_model_argues_against_evidence_unless_asked_for() -> None:
    answers = {
        "code": [code(LAST), code(FIRST)] * 10,
        "tests": "TESTS: NONE",
        "blind": blind(n1="2"),
        "points": points(),
        "scores": scores(),
        "reflect": "{}",
        "merge": code(LAST),
        "ballot": ballot("A", "B"),
    }
    rules = DebateRules(lessons=0, effort=8, planning="off")
    one = held(answers, rules=rules, task=BARE, seats=team("proposer", "critic", "reviewer"))
    assert {call.phase for call in one.asked} == {"self_evolvement"}
    said = {p.phase: p.said for p in one.result.phases if p.status == "skipped"}
    assert said["critique"] == "all seats are one model: its opinions add nothing to the evidence"
    mixed = (*team("proposer", model="m"), *team("critic", "reviewer", model="n"))
    two = held(answers, rules=rules, task=BARE, seats=mixed)
    assert {call.phase for call in two.asked} == {"self_evolvement"}
    said = {p.phase: p.said for p in two.result.phases if p.status == "skipped"}
    assert said["critique"].startswith("the evidence speaks for")
    asked_for = held(answers, rules=rules.model_copy(update={"argue_below": 0.8}), task=BARE, seats=mixed)
    assert {"critique", "convergence"} <= {call.phase for call in asked_for.asked}


def test_different_models_argue_where_nothing_could_be_compared() -> None:
    silent = ["def largest(numbers):\n    raise NotImplementedError\n", "def largest(numbers):\n    raise KeyError\n"]
    answers = {"code": [code(each) for each in silent] * 4, "tests": "TESTS: NONE", "points": points(),
               "scores": scores(), "reflect": "{}", "merge": code(LAST), "ballot": ballot("A", "B")}  # fmt: skip
    mixed = (*team("proposer", model="m"), *team("critic", "reviewer", model="n"))
    rules = DebateRules(lessons=0, effort=4, planning="off")
    argued = held(answers, rules=rules, task=BARE, seats=mixed)
    assert {"critique", "convergence"} <= {call.phase for call in argued.asked}


def test_a_session_from_before_argues_as_it_did() -> None:
    recorded = DebateRules().model_dump()
    del recorded["argue_below"]
    assert DebateRules.model_validate(recorded).argue_below == 0.8
    assert DebateRules(effort=8).argue_below == DebateRules.model_validate({"timeout": 9}).argue_below == 0.0


def test_a_near_tie_is_settled_by_the_smallest_call_asked_without_values() -> None:
    answers = {
        "code": [code(LAST), code(FIRST), code(LAST), code(FIRST), code(FIRST), code(LAST)],
        "tests": "TESTS: NONE",
        "blind": blind(n1="1"),
    }
    done = held(answers, rules=DebateRules(lessons=0, effort=11, planning="off"), task=BARE, seats=team("proposer"))
    asked = [call.prompt for call in done.asked if call.prompt.startswith("What must these")]
    assert asked and all("def largest" not in prompt for prompt in asked)
    assert len(done.asked) <= 11 and done.result.claims[-1].by[0].startswith("proposer (")


def test_a_near_tie_goes_to_the_first_draft() -> None:
    ratings = [rate("B", 1.0), rate("C", 0.95), rate("A", 0.9)]
    assert [rating.name for rating in prefer_first(ratings, "A")] == ["A", "B", "C"]
    assert prefer_first([rate("B", 1.0), rate("A", 0.89)], "A")[0].name == "B", "it is clearly behind"
    assert prefer_first([rate("B", 1.0, alike=2), rate("A", 0.95)], "A")[0].name == "B", "more behave like the other"
    assert prefer_first([rate("B", 0.0), rate("A", 0.0)], "A")[0].name == "B", "neither returned a value"
    assert prefer_first([], "A") == ()


@pytest.mark.parametrize(("edition", "winner"), [(3, FIRST), (2, LAST)])
def test_a_result_says_that_a_near_tie_went_to_the_first_draft(edition: int, winner: str) -> None:
    """The second draft meets one more of 31 values."""
    both = [f"largest([{n}]) == {n}" for n in range(30)]
    answers = {"code": [code(FIRST), code(LAST)], "tests": wrote(*both, "largest([1, 2]) == 2")}
    rules = DebateRules.model_validate({"lessons": 0, "planning": "off", "effort": 3, "edition": edition})
    result = held(answers, rules=rules, task=BARE, seats=team("proposer")).result
    assert result.code == winner
    dropped = next(candidate.dropped for candidate in result.candidates if candidate.dropped)
    assert dropped.startswith("nearly tied with A") == (edition == 3)


def test_a_seat_asked_again_is_another_voice() -> None:
    answers = {
        "code": [code(LAST), code(FIRST), code(RIGHT)] * 7,
        "tests": wrote("largest([3, 1]) == 3"),
        "blind": blind(n1="3"),
    }
    done = held(answers, rules=DebateRules(lessons=0, planning="off"), task=BARE, seats=team("proposer"))
    claim = done.result.claims[0]
    assert claim.by[:2] == ("proposer", "proposer (2)") and claim.status == "agreed"
    assert done.result.calls <= 20 and done.result.code == RIGHT


def test_a_rule_of_fixed_spending_is_kept() -> None:
    assert DebateRules().adaptive and not DebateRules(drafts=5).adaptive and not DebateRules(spend="fixed").adaptive
    later = ("spend", "effort", "edition")
    recorded = {name: value for name, value in DebateRules().model_dump().items() if name not in later}
    assert not DebateRules.model_validate(recorded).adaptive, "a session from before goes on as it began"


def test_an_unfinished_adaptive_debate_resumes_to_the_same_result(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(LAST), seat="proposer"), *says("code", code(RIGHT))]
    tests = says("tests", wrote("largest([3, 1]) == 3", "largest([1, 2]) == 2"))
    whole = debated(cli, tmp_path, drafts, tests, task=BARE)
    cut = debated(cli, tmp_path, drafts, tests, task=BARE, more=("--max-tokens", "1500"))
    assert cut["outcome"] == "budget_exhausted"
    again = cli("resume", cut["session_id"], "--max-tokens", "900000", "--json")
    resumed = json.loads(again.out)
    for name in ("code", "winner", "ratings", "sure", "grade", "calls"):
        assert resumed[name] == whole[name], name
    assert cli("replay", cut["session_id"]).code == 0 and story(cli, cut["session_id"])


# The rule itself


def run(name: str, **answers: str) -> DraftRun:
    kinds = {f"f({call[1:]})": text for call, text in answers.items()}
    return DraftRun(
        name,
        {
            call: Answer(kind="error", text="ValueError") if text == "!" else Answer(kind="value", text=text)
            for call, text in kinds.items()
        },
    )


def rate(name: str, score: float, alike: int = 1) -> Rating:
    return Rating(name=name, score=score, company=1, met=0, of=0, answered=1, alike=alike, drafts=3)


def predict(*said: tuple[str, str]) -> list[Prediction]:
    return [Prediction(call=call, expected=value, voice=f"v{n}") for n, (call, value) in enumerate(said)]


def order(runs: list[DraftRun], said: list[Prediction]) -> list[str]:
    return [rating.name for rating in rate_drafts(runs, said)]


def test_company_decides_without_predictions_and_ties_go_to_the_first() -> None:
    a, b, c = run("A", _1="1", _2="2"), run("B", _1="1", _2="3"), run("C", _1="1", _2="3")
    assert order([a, b, c], []) == ["B", "C", "A"]
    assert order([b, a], []) == ["B", "A"] and order([a, b], []) == ["A", "B"]


def test_predictions_that_others_meet_outweigh_company() -> None:
    wrong = [run(name, _1="1", _2="9") for name in "AB"]
    right = run("C", _1="1", _2="2")
    assert order([*wrong, right], predict(("f(2)", "2"), ("f(2)", "2"), ("f(2)", "2")))[0] == "C"


def test_a_lone_wild_prediction_does_not_overturn_many() -> None:
    many = [run(name, _1="1", _2="2", _3="3") for name in "ABCDEFG"]
    lone = run("H", _1="7", _2="8", _3="9")
    said = predict(("f(1)", "1"), ("f(2)", "2"), ("f(3)", "9"))
    assert order([*many, lone], said)[0] == "A"


def test_code_that_only_fails_is_never_chosen_over_code_that_answers() -> None:
    failing = [run(name, _1="!", _2="!") for name in "ABC"]
    assert order([*failing, run("D", _1="1", _2="!")], [])[0] == "D"
    assert order(failing, [])[0] == "A", "if all fail, the first stands"


def test_nothing_to_compare_is_no_evidence() -> None:
    (only,) = rate_drafts([DraftRun("A", {})], [])
    assert (only.answered, only.of, only.alike) == (0.0, 0, 1)


@pytest.mark.parametrize(("text", "other", "same"), [("0.1", "0.10000000001", True), ("[1]", "(1,)", False)])
def test_values_are_compared_as_in_tests(text: str, other: str, same: bool) -> None:
    first = rate_drafts([run("A", _1=text), run("B", _1=other)], [])[0]
    assert (first.alike == 2) is same


def test_the_smallest_difference_has_values_on_both_sides() -> None:
    a, b = run("A", _12345="1", _7="2", _0="!"), run("B", _12345="9", _7="3", _0="4")
    assert find_smallest_difference(a, b) == "f(7)"
    assert find_smallest_difference(a, a) == ""
    assert near_tie(rate_drafts([a, b], []), [a, b]) is None, "one of them fails more often"
    c = run("C", _12345="1", _7="2", _0="4")
    assert near_tie(rate_drafts([b, c], []), [b, c]) == ("B", "C") and near_tie(rate_drafts([a, a], []), [a, a]) is None


def test_confidence_grows_with_evidence_and_never_claims_certainty() -> None:
    def sure(alike: int, met: int) -> float:
        return estimate_confidence(
            Rating(name="A", score=1, company=1, met=met, of=10, answered=1, alike=alike, drafts=10)
        )

    grid = [[sure(alike, met) for met in range(11)] for alike in range(1, 11)]
    assert all(row == sorted(row) for row in grid) and all(list(c) == sorted(c) for c in zip(*grid, strict=True))
    assert grid[0][0] < 0.35 and max(max(row) for row in grid) <= 0.9


def test_calls_are_made_from_types_names_and_doctests() -> None:
    typed = "from typing import List\n\ndef f(names: List[str], k: int = 1) -> str:\n    return names[0]\n"
    assert calls_from_signature(typed, "f")[:2] == ("f([])", "f(['a'])")
    assert calls_from_signature("def f(text, n):\n    return text * n\n", "f")[1] == "f('a', 2)"
    assert calls_from_signature("def f(*rest):\n    return rest\n", "f") == calls_from_signature("def f(:", "f") == ()
    doctest = 'def f(x):\n    """\n    >>> f(41)\n    42\n    """\n    return x + 1\n'
    assert calls_of_drafts([doctest], "")[0] == "f(41)"
    assert find_common_function(["def a(): 0\ndef b(): 0\n", "def b(): 0\n", "no code ("]) == "b"
