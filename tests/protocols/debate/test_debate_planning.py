"""Plans are objects that later prompts hold and owners carry out; what a round missed changes what the next is told."""

import json

from debate_script import OPEN
from debates import LAST, RIGHT, Answers, ballot, code, held, points, scores

from moot.protocols.debate.types import DebateRules

PARTS = [
    {"id": "a", "title": "write the maximum", "owner": "proposer", "depends_on": [], "done_when": "it runs"},
    {"id": "b", "title": "handle the empty list", "owner": "critic", "depends_on": ["a"], "done_when": "None comes"},
]
MAXIMUM = "def maximum(numbers):\n    return max(numbers)\n"
MET = json.dumps({"verdicts": {"1": "met, it runs", "2": "met, it does"}})
WHOLE = "def largest(numbers):\n    return maximum(numbers) if numbers else None\n"


def rules(**more: object) -> DebateRules:
    given = {"lessons": 0, "max_rounds": 1, "drafts": 1, "refinements": 0, "phases": "proposal,convergence", **more}
    return DebateRules.model_validate(given)


def test_by_cpde_one_plans_and_the_owners_parts_are_joined_in_order() -> None:
    answers = {
        "moderator planning": json.dumps({"subtasks": PARTS}),
        "critic planning": code(WHOLE),
        "proposer planning": code(MAXIMUM),
        "code": code(LAST),
        "ballot": ballot("A"),
        "criteria": MET,
    }
    done = held(answers, rules=rules(planning="cpde"))
    plan = done.result.plan
    assert plan is not None and [each.owner for each in plan.subtasks] == ["proposer", "critic"]
    first = done.result.candidates[0]
    assert first.code.index("def maximum") < first.code.index("def largest") and first.checked.green
    second_part = next(p for p in done.prompts("planning", "critic") if "Do your subtask" in p)
    assert "Done so far" in second_part and "def maximum" in second_part and "b (yours)" in second_part
    assert "done when: None comes" in done.prompts("proposal")[0], "later prompts hold the plan"
    off = held({"code": code(LAST), "ballot": ballot("A")}, rules=rules(planning="off"))
    assert off.result.plan is None and "The plan:" not in off.prompts("proposal")[0]


def test_a_plan_that_cannot_be_carried_out_is_not_used_and_that_is_said() -> None:
    ring = [{**PARTS[0], "depends_on": ["b"]}, PARTS[1]]
    answers = {"planning": json.dumps({"subtasks": ring}), "code": code(RIGHT), "ballot": ballot("A")}
    done = held(answers, rules=rules(planning="cpde"))
    assert done.result.plan is None and done.result.winner == "A"
    assert any("no plan" in note for note in done.room.degraded)


def test_by_dpde_each_plans_its_part_and_who_yields_loses_the_overlap() -> None:
    mine = [{"id": "m", "title": "handle the empty list of numbers", "done_when": "None comes"}]
    answers = {
        "proposer planning": [
            json.dumps({"subtasks": [{"id": "p", "title": "write the maximum", "done_when": "it runs"}, *mine]}),
            json.dumps({"stances": {"1": "yield"}}),
            code(MAXIMUM),
        ],
        "critic planning": [json.dumps({"subtasks": mine}), json.dumps({"stances": {"1": "keep"}}), code(WHOLE)],
        "code": code(LAST),
        "ballot": ballot("A"),
        "criteria": MET,
    }
    done = held(answers, rules=rules(planning="dpde", drafts=2))
    plan = done.result.plan
    assert plan is not None and {each.title: each.owner for each in plan.subtasks} == {
        "write the maximum": "proposer",
        "handle the empty list of numbers": "critic",
    }
    assert "maximum" in done.result.candidates[0].code and done.result.candidates[0].checked.green


def test_a_simple_task_is_not_planned_unless_it_is_asked_for() -> None:
    done = held({"code": code(RIGHT)})
    assert done.result.plan is None and not done.prompts("planning")


def test_what_a_round_missed_is_told_to_the_next() -> None:
    answers: Answers = {
        "proposer code": code(LAST),
        "critic code": code("def largest(numbers):\n    return numbers[0] if numbers else None\n"),
        "code": "I cannot.",
        "points": points(),
        "scores": scores(),
        "merge": code(LAST),
        "tests": "TESTS: NONE",
        "ballot": lambda call: ballot(*("AB" if call.seat < "m" else "BA"), sure=0.2),
    }
    done = held(answers, rules=DebateRules(lessons=0, max_rounds=2, attempts=1, refinements=0), task=OPEN)
    compared = {each.phase: each.verdict for each in done.result.comparisons}
    assert compared["convergence"] == "worse" and done.result.rounds == 2
    first, second = (next(c.prompt for c in done.asked if c.phase == "convergence" and c.round == n) for n in (1, 2))
    assert "Name what you disagree about" in second and "Name what you disagree about" not in first


def test_the_vote_of_the_first_answers_is_kept_beside_a_plan_and_its_owners_still_draft() -> None:
    answers: Answers = {
        "moderator planning": json.dumps({"subtasks": PARTS}),
        "critic planning": code(WHOLE),
        "proposer planning": code(MAXIMUM),
        "code": code(LAST),
        "ballot": ballot("A"),
        "criteria": MET,
    }
    done = held(answers, rules=rules(planning="cpde", drafts=3))
    drafts = [candidate for candidate in done.result.candidates if candidate.seat != "plan"]
    assert [candidate.seat for candidate in drafts] == ["proposer", "critic", "reviewer"]
    assert done.result.baseline.calls == 3
    assert done.result.baseline.candidate in {candidate.id for candidate in drafts}
