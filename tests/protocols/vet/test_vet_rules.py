"""Each rule of the two tables, in their order; and what the rules say of a text before any model is asked."""

import itertools
from typing import Literal, get_args

import pytest

from moot.protocols.vet.judgement import actionable, drop_empty_words, echoes, steps, substantial
from moot.protocols.vet.synthesis import FAILURE, PLANNING, FailureCase, PlanCase, matches_errors, of_failure, of_plan
from moot.routing.answer import Stakes

Severity = Literal["low", "medium", "high"]

PLAN_CASES: list[tuple[Stakes, Severity | None, float, bool, int, str]] = [
    # stakes, severity, confidence, actionable -> place of the rule, resolution
    ("high", None, 0.9, False, 0, "ESCALATE"),
    ("medium", None, 0.9, False, 0, "ESCALATE"),
    ("low", None, 0.9, False, 1, "PROCEED"),
    ("low", None, 0.0, False, 1, "PROCEED"),
    ("high", "high", 0.9, True, 2, "MODIFY"),
    ("medium", "high", 1.0, True, 2, "MODIFY"),
    ("low", "high", 1.0, True, 2, "MODIFY"),
    ("high", "high", 0.9, False, 3, "ESCALATE"),
    ("low", "high", 1.0, False, 3, "ESCALATE"),
    ("high", "medium", 0.9, True, 4, "MODIFY"),
    ("high", "low", 0.79, True, 4, "MODIFY"),
    ("high", "medium", 0.95, False, 5, "ESCALATE"),
    ("high", "low", 0.0, False, 5, "ESCALATE"),
    ("high", "low", 0.8, False, 6, "PROCEED"),
    ("medium", "low", 0.8, True, 6, "PROCEED"),
    ("low", "low", 0.8, False, 6, "PROCEED"),
    ("medium", "medium", 0.9, True, 7, "MODIFY"),
    ("low", "medium", 0.9, True, 7, "MODIFY"),
    ("medium", "medium", 0.9, False, 8, "ESCALATE"),
    ("low", "medium", 0.9, False, 9, "PROCEED"),
    ("medium", "low", 0.79, True, 10, "PROCEED"),
    ("low", "low", 0.0, False, 10, "PROCEED"),
]


@pytest.mark.parametrize(("stakes", "severity", "confidence", "can", "place", "resolution"), PLAN_CASES)
def test_the_first_rule_for_a_plan_that_fits_decides(
    stakes: Stakes, severity: Severity | None, confidence: float, can: bool, place: int, resolution: str
) -> None:
    rule = of_plan(PlanCase(stakes, severity, confidence, can))
    assert (PLANNING.index(rule), rule.resolution) == (place, resolution)


FAILURE_CASES: list[tuple[FailureCase, int, str]] = [
    (FailureCase(critic=False, substantial=True, alternatives=True), 0, "ESCALATE"),
    (FailureCase(True, should_escalate=True, substantial=True, alternatives=True), 1, "ESCALATE"),
    (FailureCase(True, substantial=True, matches_errors=True, alternatives=True), 2, "RETRY"),
    (FailureCase(True, substantial=True, blind_spot=True, matches_errors=True, alternatives=True), 3, "ESCALATE"),
    (FailureCase(True, matches_errors=True, alternatives=True), 3, "ESCALATE"),
    (FailureCase(True, substantial=True, blind_spot=True, alternatives=True), 4, "PIVOT"),
    (FailureCase(True, alternatives=True), 4, "PIVOT"),
    (FailureCase(True, substantial=True, blind_spot=True), 5, "ESCALATE"),
    (FailureCase(True), 5, "ESCALATE"),
]


@pytest.mark.parametrize(("case", "place", "resolution"), FAILURE_CASES)
def test_the_first_rule_for_a_failure_that_fits_decides(case: FailureCase, place: int, resolution: str) -> None:
    rule = of_failure(case)
    assert (FAILURE.index(rule), rule.resolution) == (place, resolution)


def test_every_rule_is_tested() -> None:
    assert {place for *_, place, _ in PLAN_CASES} == set(range(len(PLANNING)))
    assert {place for _, place, _ in FAILURE_CASES} == set(range(len(FAILURE)))


def test_no_case_at_high_stakes_proceeds_without_a_sure_advocate_and_a_calm_critic() -> None:
    sides = itertools.product((None, *get_args(Severity)), (0.0, 0.79, 0.8, 1.0), (True, False))
    passed = {
        (severity, confidence)
        for severity, confidence, can in sides
        if of_plan(PlanCase("high", severity, confidence, can)).resolution == "PROCEED"
    }
    assert passed == {("low", 0.8), ("low", 1.0)}


def test_limits_of_further_attempts() -> None:
    limits = {(rule.resolution, rule.limit) for rule in PLANNING} | {(rule.resolution, rule.limit) for rule in FAILURE}
    assert limits == {
        ("ESCALATE", None), ("PROCEED", None), ("PROCEED", 1), ("MODIFY", 1), ("MODIFY", 2), ("RETRY", 1), ("PIVOT", 1),
    }  # fmt: skip
    assert of_plan(PlanCase("low", "low")).limit == 1


@pytest.mark.parametrize(
    ("counter", "clear"),
    [
        ("Take a backup and restore it as a test first", "yes"),
        ("Use `git push --force-with-lease` instead", "yes"),
        ("Back up the table, then drop it at night", "yes"),
        ("Be careful: run it on staging first", "yes"),
        ("", "no"),
        ("none", "no"),
        ("N/A", "no"),
        ("no", "no"),
        ("it might not work", "no"),
        ("This may very not work", "no"),
        ("be careful", "no"),
        ("Please reconsider.", "no"),
        ("Proceed with caution", "no"),
        ("More testing is needed", "no"),
        ("Do not do it", "no"),
        ("Daylight hours only", "unclear"),
        ("A second pair of eyes on the query", "unclear"),
        ("Use staging", "unclear"),
    ],
)
def test_a_step_that_can_be_taken_is_actionable(counter: str, clear: str) -> None:
    assert actionable(counter) == clear


@pytest.mark.parametrize(
    ("diff", "clear"),
    [
        ("Caches the result instead of optimizing the query", "yes"),
        ("Uses another library for the parsing", "yes"),
        ("The client is replaced by a mock server", "yes"),
        ("", "no"),
        ("none", "no"),
        ("no difference", "no"),
        ("Only a typo is fixed", "no"),
        ("Increased the timeout to 60 s", "no"),
        ("Same approach with a minor tweak", "no"),
        ("We try again", "no"),
        ("changed the delimiter", "no"),
        ("Changed the delimiter.", "no"),
        ("A minor tweak, but with a new library", "unclear"),
        ("Decodes the bytes as latin-1", "unclear"),
    ],
)
def test_another_approach_is_substantial(diff: str, clear: str) -> None:
    assert substantial(diff, ("changed the delimiter",)) == clear


@pytest.mark.parametrize(
    ("one", "other", "echo"),
    [
        ("Sessions are cheap to rebuild", "sessions are cheap to rebuild!", True),
        ("Drop it, for sessions are cheap to rebuild", "Drop it; for sessions are cheap to rebuild", True),
        ("The migration is safe because we have a backup", "The migration is not safe because we have a backup", False),
        ("It is reversible because of the backup we have", "It is irreversible because of the backup we lack", False),
        ("Sessions are cheap to rebuild", "Carts are stored in that table", False),
        ("", "", False),
        ("!!!", "???", False),
    ],
)  # fmt: skip
def test_an_echo_is_the_same_sentence_again(one: str, other: str, echo: bool) -> None:
    assert echoes(one, other) is echo and echoes(other, one) is echo


@pytest.mark.parametrize("text", ["none", "None.", "N/A", "no blind spot", "NOTHING", "-", "no", " there are none "])
def test_nothing_is_nothing(text: str) -> None:
    assert drop_empty_words(text) == ""


@pytest.mark.parametrize("text", ["No backups exist", "nothing checks the encoding", "no one knows the password"])
def test_a_lack_is_not_nothing(text: str) -> None:
    assert drop_empty_words(text) == text


ENOENT = "ENOENT: no such file or directory, open '/a/b.txt'"


@pytest.mark.parametrize(
    ("pattern", "errors", "matches"),
    [
        ("Both attempts end in ENOENT: no such file or directory on open", (ENOENT, ENOENT), True),
        ("The file is always missing: no such file or directory (enoent) at open", (ENOENT,), True),
        ("The path is wrong each time", (ENOENT, ENOENT), False),
        ("ENOENT no such file or directory open", (ENOENT, "EACCES: permission denied"), False),
        ("EACCES permission denied", (ENOENT, "EACCES: permission denied"), False),
        ("EACCES permission denied", (ENOENT, "EACCES: permission denied", "EACCES: permission denied"), True),
        ("anything", (), False),
        ("", ("Exit code 1",), False),
        ("exit code 1 each time", ("Exit code 1", "Exit code 1"), False),
    ],
)
def test_a_pattern_matches_the_errors_it_names(pattern: str, errors: tuple[str, ...], matches: bool) -> None:
    assert matches_errors(pattern, errors) is matches


def test_a_counter_of_several_lines_is_several_changes() -> None:
    assert steps("1. Take a backup\n2) Test it\n\n- Go") == ("Take a backup", "Test it", "Go")
    assert steps("Take a backup") == ("Take a backup",)
