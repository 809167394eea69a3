"""Where calls go: what was run decides what is asked next, and what was paid for is not lost."""

import pytest
from debates import FIRST, LAST, NO_EMPTY, RIGHT, Quick, code, held, points, scores, wrote

from moot.protocols.debate.types import DebateRules

OWN = DebateRules(lessons=0, max_rounds=1, planning="off", phases=("self_evolvement",), refinements=0)
QUIET = {"tests": "TESTS: NONE", "points": points(), "scores": scores()}
NTH = "Write nth(numbers, k): the k-th number of a list. nth([4, 5, 6], 2) -> 5"
FROM_ZERO = "def nth(numbers, k):\n    return numbers[k]\n"
FROM_ONE = "def nth(numbers, k):\n    return numbers[k - 1]\n"
CRASHES = "def nth(numbers, k):\n    return number[k]\n"
DOUBLED = "def nth(numbers, k):\n    return 2 * numbers[k]\n"
SEATS = ("generator", "generator", "generator", "generator", "generator")


def rules(**more: object) -> DebateRules:
    return OWN.model_copy(update=more)


def test_seats_of_one_model_do_not_write_the_same_tests_twice() -> None:
    done = held({**QUIET, "code": [code(RIGHT), code(LAST), code(FIRST)]}, rules=OWN, sandbox=Quick())
    asked = [call.temperature for call in done.asked if call.prompt.startswith("Write tests")]
    assert asked == [None, 0.8, 0.8]


def test_only_so_many_seats_write_tests_as_have_a_voice() -> None:
    done = held({**QUIET, "code": [code(RIGHT), code(LAST), code(FIRST)]}, rules=rules(voices=2), sandbox=Quick())
    assert sum(call.prompt.startswith("Write tests") for call in done.asked) == 2


def test_two_that_pass_alike_need_no_more_tests_when_the_third_fails_its_example() -> None:
    done = held({"code": [code(RIGHT), code(RIGHT), code(FIRST)]}, rules=OWN, sandbox=Quick())
    assert len(done.asked) == 3 and done.result.code == RIGHT


def test_more_drafts_are_drawn_one_by_one_until_two_pass_alike() -> None:
    answers = {**QUIET, "code": [code(FIRST), code(RIGHT), code(FIRST), code(RIGHT), code(LAST)]}
    done = held(answers, SEATS, rules(reserve=2), sandbox=Quick())
    assert [call.seat for call in done.asked] == ["generator", "generator-2", "generator-3", "generator-4"]
    assert done.result.code == RIGHT and done.result.baseline.calls == 3
    assert [call.temperature for call in done.asked] == [None, 0.8, 0.8, 0.8]


def test_a_draft_that_passes_comes_before_a_slip_that_is_mended() -> None:
    answers = {**QUIET, "code": [*[code(FROM_ZERO)] * 4, code(FROM_ONE)]}
    done = held(answers, SEATS, rules(reserve=2), sandbox=Quick(), task=NTH)
    assert done.result.code == FROM_ONE and len(done.result.candidates) == 5


def test_a_slip_is_mended_without_asking_anybody() -> None:
    done = held({**QUIET, "code": code(FROM_ZERO)}, rules=rules(anew=0), sandbox=Quick(), task=NTH)
    assert sum(call.prompt.startswith("Solve this task") for call in done.asked) == 3
    winner = next(c for c in done.result.candidates if c.id == done.result.winner)
    assert (winner.parent, winner.text, winner.checked.green) == ("A", "A, but with k - 1", True)


def test_a_slip_is_not_mended_where_something_passes() -> None:
    answers = {**QUIET, "code": [code(FROM_ZERO), code(FROM_ONE), code(FROM_ZERO)]}
    done = held(answers, rules=OWN, sandbox=Quick(), task=NTH)
    assert done.result.code == FROM_ONE and len(done.result.candidates) == 3


@pytest.mark.parametrize(("wrong", "shown"), [(DOUBLED, False), (CRASHES, True)], ids=["a wrong value", "an error"])
def test_a_wrong_value_is_shown_without_its_code_and_an_error_with_it(wrong: str, shown: bool) -> None:
    answers = {**QUIET, "code": [code(wrong), code(wrong), code(wrong), code(FROM_ONE)]}
    done = held(answers, rules=OWN, task=NTH)
    again = done.asked[3]
    assert "nth([4, 5, 6], 2)" in again.prompt.split("failed", 1)[-1] and (wrong in again.prompt) is shown
    assert again.temperature == 0.8 and done.result.code == FROM_ONE


def test_another_reading_that_gains_nothing_is_set_aside() -> None:
    answers = {**QUIET, "code": [code(DOUBLED), code(DOUBLED), code(DOUBLED), code(CRASHES)]}
    done = held(answers, rules=OWN, sandbox=Quick(), task=NTH)
    assert done.result.candidates[3].dropped.startswith("passes no more than A") and done.result.winner == "A"


def test_a_repair_that_was_cut_short_does_not_take_the_place_of_what_was_run() -> None:
    """Three answers, three seats that write tests, and one repair of two: the fifth call is the last."""
    answers = {
        "code": [code(NO_EMPTY), code(NO_EMPTY), code(LAST), code("def largest(numbers):\n    return 7\n")],
        "tests": wrote("largest([]) == None", "largest([3, 1]) == 3"),
    }
    done = held(answers, rules=rules(refinements=1), sandbox=Quick(), calls=7)
    assert (done.result.outcome, done.result.code) == ("budget_exhausted", NO_EMPTY)
    assert done.result.candidates[3].dropped.startswith("cut short before it was run")


def test_a_draft_gets_the_imports_of_the_task_s_own_code() -> None:
    task = 'from typing import List\n\n\ndef total(numbers: List[int]) -> int:\n    """total([1, 2]) -> 3"""\n'
    text = "def total(numbers: List[int]) -> int:\n    return sum(numbers)\n"
    done = held({**QUIET, "code": code(text)}, rules=OWN, task=task)
    assert done.result.stop_reason == "alike_and_green"
    assert done.result.code.startswith("from typing import List\n")


def test_tests_are_asked_for_the_function_that_the_task_names() -> None:
    task = "Write nth(numbers, k): the k-th number of a list, counted from 1."
    answers = {
        "code": [code(FROM_ONE), code(FROM_ZERO), code(FROM_ZERO)],
        "tests": wrote("nth([4, 5], 1) == 4", "f(1) == 1"),
    }
    done = held(answers, rules=OWN, sandbox=Quick(), task=task)
    asked = next(call.prompt for call in done.asked if call.prompt.startswith("Write tests"))
    assert "nth(2) == 4" in asked and "f(2)" not in asked.replace("nth(2)", "")
    assert [claim.call for claim in done.result.claims] == ["nth([4, 5], 1)"] and done.result.code == FROM_ONE


def test_an_improvement_that_is_the_same_code_is_none() -> None:
    task = "Write nth(numbers, k): the k-th number of a list, counted from 1."
    held_phases = DebateRules(lessons=0, max_rounds=1, planning="off", phases=("proposal", "optimization"), attempts=1)
    done = held({"code": code(FROM_ONE), "merge": code(FROM_ONE)}, rules=held_phases, sandbox=Quick(), task=task)
    assert done.result.candidates[-1].dropped == "the same code as A" and done.result.winner == "A"


@pytest.mark.parametrize(("value", "claims"), [("5", []), ("6", ["invalid"])])
def test_an_example_of_the_task_that_seats_write_once_more_is_no_test_beside_it(value: str, claims: list[str]) -> None:
    answers = {**QUIET, "tests": f"TESTS:\n- nth([4,5,6], 2) == {value}", "code": code(FROM_ONE)}
    done = held(answers, rules=OWN, sandbox=Quick(), task=NTH)
    assert [claim.status for claim in done.result.claims] == claims
    assert done.result.known == "passes the 1 example of the task; nothing else was tested"
