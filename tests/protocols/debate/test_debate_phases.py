"""Each phase has an effect: switched off, the same team with the same answers ends elsewhere."""

import json
from typing import Any

import pytest
from debates import FIRST, LAST, NO_EMPTY, RIGHT, TESTS, ballot, blind, code, held, points, scores, wrote

from moot.protocols.debate.types import PHASES, DebateRules, Phase

QUIET = {"tests": "TESTS: NONE", "points": points(), "scores": scores(), "merge": code(LAST)}


def without(*phases: Phase, **more: object) -> DebateRules:
    held = tuple(phase for phase in PHASES if phase not in (*phases, "adversarial"))
    return DebateRules.model_validate({"lessons": 0, "phases": held, "max_rounds": 1, **more})


def only(*phases: Phase, **more: object) -> DebateRules:
    return without(*(phase for phase in PHASES if phase not in phases), **more)


def test_answers_that_behave_alike_and_pass_end_it_before_anybody_argues() -> None:
    done = held({"code": code(RIGHT)})
    result = done.result
    assert (result.outcome, result.stop_reason, result.rounds) == ("agreed", "alike_and_green", 1)
    assert len(done.asked) == 3 and result.code == RIGHT and result.calls_full_run > 3
    skipped = {report.phase: report.said for report in result.phases if report.status == "skipped"}
    assert skipped["critique"] == skipped["convergence"] == "all behave alike and pass their tests"
    assert result.baseline.agreement == 1.0 and not result.flips.harmed


WRONG = "def largest(numbers):\n    return min(numbers, default=None)\n"


def test_answers_that_fail_an_example_do_not_keep_the_others_from_ending_it() -> None:
    codes = {"proposer code": code(WRONG), "critic code": code(f"{WRONG}\n"), "code": code(RIGHT)}
    done = held(codes, rules=DebateRules(lessons=0, drafts=5))
    result = done.result
    assert (result.outcome, result.stop_reason, result.winner) == ("agreed", "alike_and_green", "C")
    assert len(done.asked) == 5 and result.why.startswith("3 of 5 answers behave alike, the others fail tests")
    said = {report.phase: report.said for report in result.phases if report.status == "skipped"}
    assert said["critique"] == "3 of 5 behave alike and pass their tests"


def test_two_of_five_that_pass_are_not_enough_to_end_it() -> None:
    codes = {"proposer code": code(RIGHT), "critic code": code(RIGHT), "code": code(WRONG), **QUIET}
    done = held({**codes, "tests": "TESTS: NONE", "ballot": ballot("A", "B")}, rules=without("optimization", drafts=5))
    assert done.result.stop_reason != "alike_and_green" and done.prompts("convergence")


def test_drafts_are_made_apart_and_only_the_first_of_a_model_is_cold() -> None:
    done = held({"proposer code": code(RIGHT, "take-max"), "code": code(RIGHT, "other")})
    drafts = [call for call in done.asked if call.phase == "self_evolvement"]
    assert [call.temperature for call in drafts] == [None, 0.8, 0.8]
    assert all("take-max" not in call.prompt and "other" not in call.prompt for call in drafts)


def test_self_evolvement_repairs_what_its_own_tests_break() -> None:
    answers = {
        **QUIET,
        "code": [code(NO_EMPTY), code(NO_EMPTY), code(LAST), code(RIGHT)],
        "tests": wrote("largest([]) == None", "largest([3, 1]) == 3"),
        "ballot": ballot("A", "B", "C"),
    }
    on = held(answers, rules=without("critique", "review", "optimization"))
    assert (on.result.code, on.result.stop_reason) == (RIGHT, "alike_and_green")
    assert {claim.status for claim in on.result.claims} == {"agreed"}
    mending = next(p for p in on.prompts("self_evolvement") if "Mend it." in p)
    assert "largest([]) must give None" in mending
    off = held(answers, rules=without("self_evolvement", "critique", "review", "optimization"))
    assert off.result.code != RIGHT


def test_proposal_alone_makes_the_drafts_where_nobody_evolved_any() -> None:
    on = held({**QUIET, "code": code(RIGHT)}, rules=without("self_evolvement"))
    assert on.result.winner == "A" and {c.phase for c in on.result.candidates} == {"proposal"}
    off = held({**QUIET, "code": code(RIGHT)}, rules=without("self_evolvement", "proposal"))
    assert (off.result.outcome, off.result.winner, len(off.asked)) == ("inconclusive", None, 0)


BROKEN_BY_CRITIC = {
    **QUIET,
    "proposer code": code(LAST),
    "critic code": code(LAST),
    "reviewer code": code(RIGHT),
    "critic points": points(("A", "disagree", "it takes the last"), breaking=["largest([3, 1]) == 3"]),
    "blind": blind(n1="3"),
    "ballot": ballot("A", "C"),
}


def test_a_breaking_test_that_others_find_too_brings_the_majority_down() -> None:
    on = held(BROKEN_BY_CRITIC, rules=without("review", "optimization"))
    (claim,) = [claim for claim in on.result.claims if claim.origin == "breaking"]
    assert claim.status == "agreed" and set(claim.by) > {"critic"}
    assert on.result.winner == "C" and on.result.code == RIGHT and on.result.stop_reason == "tests"
    off = held(BROKEN_BY_CRITIC, rules=without("critique", "review", "optimization"))
    assert off.result.code == LAST


def test_a_breaking_test_that_one_seat_wrote_before_from_the_words_is_weighed_too() -> None:
    early = {"proposer tests": wrote("largest([3, 1]) == 3"), "tests": "TESTS: NONE", "blind": blind(n1="unknown")}
    done = held({**BROKEN_BY_CRITIC, **early}, rules=without("review", "optimization"))
    (claim,) = done.result.claims
    assert claim.status == "agreed" and set(claim.by) == {"proposer", "critic"} and done.result.code == RIGHT


def test_a_breaking_test_nobody_else_finds_changes_nothing() -> None:
    lies = {**BROKEN_BY_CRITIC, "critic points": points(breaking=["largest([3, 1]) == 1"])}
    done = held({**lies, "reviewer code": code(RIGHT)}, rules=without("review", "optimization"))
    (claim,) = [claim for claim in done.result.claims if claim.origin == "breaking"]
    assert claim.status == "disputed" and set(claim.against) >= {"proposer"}
    assert done.result.code == LAST, "two of three behave so, and no valid test speaks against them"


def test_a_breaking_test_against_the_task_s_own_example_is_not_even_asked_about() -> None:
    lies = {**BROKEN_BY_CRITIC, "critic points": points(breaking=["largest([1, 3]) == 1"])}
    done = held(lies, rules=without("review", "optimization"))
    assert done.result.claims == () and not [call for call in done.asked if call.prompt.startswith("What must")]


def test_review_scores_decide_between_equals_and_come_from_what_was_run() -> None:
    answers = {**QUIET, "proposer code": code(LAST), "critic code": code(FIRST + "\n"), "reviewer code": "I cannot."}
    answers |= {"ballot": "I abstain.", "scores": scores(A=0.1, B=0.9)}
    task = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([7]) -> 7"
    on = held(answers, rules=without("critique", "optimization"), task=task)
    assert on.result.winner == "B"
    score = on.result.scores[1]
    assert "correctness" in score.measured and score.parts["correctness"] == 1.0, "a run comes before a reviewer"
    off = held(answers, rules=without("critique", "review", "optimization"), task=task)
    assert off.result.winner == "A"


def test_optimization_makes_one_better_solution_and_the_lock_keeps_out_a_worse_one() -> None:
    answers = {**QUIET, "code": [code(NO_EMPTY), code(LAST), code(LAST)], "merge": code(RIGHT), "ballot": ballot("A")}
    given: dict[str, Any] = {"tests": TESTS, "task": TASK_WITH_MORE}
    on = held(answers, rules=without("self_evolvement", "critique", "review"), **given)
    assert on.result.code == RIGHT and on.result.candidates[-1].phase == "optimization"
    merging = on.prompts("optimization")[0]
    assert "gives" in merging and "differ; decide by the task" in merging
    off = held(answers, rules=without("self_evolvement", "critique", "review", "optimization"), **given)
    assert off.result.code != RIGHT
    worse = held({**answers, "merge": code(NO_EMPTY), "reflect": "{}"}, rules=on_rules(), **given)
    assert worse.result.candidates[-1].dropped and worse.result.code == LAST


TASK_WITH_MORE = (
    "Write largest(numbers): the largest number of a list, or None for an empty one.\n"
    "largest([1, 3]) -> 3\nlargest([5, 2]) -> 5\n"
)


def on_rules() -> DebateRules:
    return without("self_evolvement", "critique", "review", attempts=1)


def test_adversarial_hardens_the_leader_before_the_vote() -> None:
    shell = "import os\n\n\ndef show(name):\n    return os.popen('ls ' + name).read()\n"
    task = "Write show(name): the listing of a folder."
    answers = {**QUIET, "code": code(shell), "ballot": ballot("A")}
    rules = without("self_evolvement", "critique", "review", "optimization", adversarial=True)
    on = held(answers, rules=rules, task=task, roles=("proposer", "critic"))
    report = next(report for report in on.result.phases if report.phase == "adversarial")
    assert report.status == "held" and "findings" in report.said
    off = held(answers, rules=without("self_evolvement", "critique", "review", "optimization"), task=task)
    assert "popen" in off.result.code
    assert "popen" not in on.result.code and on.result.winner == "C"
    assert next(c for c in on.result.candidates if c.id == "B").dropped == "the same code as A, which C replaces"


def test_convergence_counts_ballots_between_those_whom_tests_do_not_tell_apart() -> None:
    answers = {**QUIET, "proposer code": code(LAST), "critic code": code(FIRST), "reviewer code": "I cannot."}
    answers["ballot"] = ballot("B", "A", why="the first is cheaper")
    task = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([7]) -> 7"
    on = held(answers, rules=without("critique", "review", "optimization"), task=task)
    (vote,) = on.result.votes
    assert on.result.winner == "B" and len(vote.ballots) == 5 and vote.election.pairwise["B"]["A"] == 5
    assert vote.conflict == "correctness" and on.result.stop_reason == "consensus"
    off = held(answers, rules=without("critique", "review", "optimization", "convergence"), task=task)
    assert off.result.winner == "A" and off.result.votes == ()


def test_dissent_is_kept_with_its_reason() -> None:
    answers = {**QUIET, "proposer code": code(LAST), "critic code": code(FIRST), "reviewer code": "I cannot."}
    answers |= {"ballot": ballot("B", "A"), "critic ballot": ballot("A", "B", why="the last is what was meant")}
    task = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([7]) -> 7"
    done = held(answers, rules=without("critique", "review", "optimization"), task=task)
    assert done.result.dissent == ("critic prefers A: the last is what was meant",)


QUESTION = '{"questions": [{"question": "What comes of an empty list?", "category": "edge_cases", "priority": "high"}]}'


@pytest.mark.parametrize(
    ("quote", "person", "source"),
    [
        ("or None for an empty one", None, "task"),
        ("as everybody knows it should be", None, "assumption"),
        ("", "None, please", "person"),
    ],
)
def test_dehallucination_answers_with_a_source_or_marks_an_assumption(
    quote: str, person: str | None, source: str
) -> None:
    async def answer(questions: object) -> list[str]:
        return [person or ""]

    said = json.dumps({"answers": [{"quote": quote, "answer": "None.", "confidence": 0.95}]})
    answers = {"questions": [QUESTION, '{"questions": []}'], "answers": said, "code": code(RIGHT)}
    done = held(answers, rules=DebateRules(lessons=0, clarify="always"), person=answer if person else None)
    (cleared,) = done.result.clarifications
    assert cleared.source == source and cleared.answer == (person or "None.")
    draft = done.prompts("self_evolvement")[0]
    assert "What comes of an empty list?" in draft and cleared.answer in draft
    assert ("(assumed)" in draft) == (source == "assumption") == bool(done.result.assumptions)
    off = held({"code": code(RIGHT)}, rules=without("dehallucination", clarify="always"))
    assert "What comes of an empty list?" not in off.prompts("self_evolvement")[0]


def test_a_simple_task_is_not_questioned_unless_it_is_asked_for() -> None:
    done = held({"code": code(RIGHT)})
    assert done.result.phases[0].status == "skipped" and done.result.phases[0].said == "the task is simple"
