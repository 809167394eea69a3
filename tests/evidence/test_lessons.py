"""Lessons: general, merged by what they say, told apart by what they forbid, worth what they did."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.experience import Origin
from moot.evidence.lessons.general import generalise_text
from moot.evidence.lessons.lesson import credit_lesson, fits, merge_lessons, new_lesson, rate_lesson, same_advice
from moot.evidence.lessons.words import gist

NOW = datetime(2026, 11, 15, tzinfo=UTC)
EMPTY = (
    "Check for an empty list before indexing it.",
    "Guard against empty input before taking the first element.",
    "Verify that the array is not empty before you access an index.",
    "Don't forget to handle empty sequences before reading elements.",
)
PAIRS = (
    ("Use floor division for whole results", "Never use floor division for whole results"),
    ("Use bound queries instead of string formatting", "Use string formatting instead of bound queries"),
    ("Sort the input before comparing", "Do not sort the input before comparing"),
    ("Mutate the argument in place", "Avoid mutating the argument in place"),
    ("Cache the result of the lookup", "You must not cache the result of a lookup"),
    ("Round after the last step", "It is wrong to round after the last step"),
)  # fmt: skip


@pytest.mark.parametrize("one", EMPTY)
@pytest.mark.parametrize("other", EMPTY)
def test_paraphrases_are_one_lesson(one: str, other: str) -> None:
    assert same_advice(gist(one), gist(other))


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_advice_and_its_negation_are_two(one: str, other: str) -> None:
    assert not same_advice(gist(one), gist(other))
    assert same_advice(gist(one), gist(one.lower() + "!"))


@pytest.mark.parametrize("text", EMPTY)
def test_the_negation_of_a_paraphrase_stays_apart(text: str) -> None:
    assert not same_advice(gist("Never check for an empty list before indexing it."), gist(text))


def test_different_causes_are_different_lessons() -> None:
    assert not same_advice(gist("Strip whitespace before comparing strings"), gist(EMPTY[0]))


@given(st.text(max_size=200), st.text(max_size=200))
def test_likeness_is_symmetric_and_never_fails(one: str, other: str) -> None:
    assert same_advice(gist(one), gist(other)) == same_advice(gist(other), gist(one))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`has_close_elements` must check the empty list", "the function must check the empty list"),
        ("hasCloseElements(numbers, 0.5) compared neighbours only", "the function compared neighbours only"),
        ("In src/app/main.py the loop starts at 117", "In the file the loop starts at a figure"),
        ("return None for `None`, not 0", "return None for None, not 0"),
        ("solve crashed on line 31 of the file", "the function crashed on a figure of the file"),
        ('the "ValueError" of parse_int', "the function of the name"),
    ],
)
def test_a_lesson_keeps_no_name_of_its_task(text: str, expected: str) -> None:
    assert generalise_text(text, ["solve"]) == expected


def test_a_lesson_said_again_keeps_its_wording_and_gains_an_origin() -> None:
    first = new_lesson(EMPTY[0], Origin(session_id="a"), NOW)
    again = new_lesson(EMPTY[1], Origin(session_id="b"), NOW + timedelta(days=10))
    both = merge_lessons(first, again)
    assert both.text == EMPTY[0] and both.wordings == (EMPTY[1],) and both.id == first.id
    assert [origin.session_id for origin in both.origins] == ["a", "b"]
    assert both.expires_at == again.expires_at


def test_what_happened_next_decides_what_a_lesson_is_worth() -> None:
    lesson = new_lesson(EMPTY[0], Origin(), NOW)
    good = credit_lesson(credit_lesson(lesson, helped=True, now=NOW), helped=True, now=NOW)
    bad = credit_lesson(lesson, helped=False, now=NOW)
    assert rate_lesson(good, NOW) > rate_lesson(lesson, NOW) > rate_lesson(bad, NOW)
    assert rate_lesson(good, NOW + timedelta(days=91)) == 0.0
    later = credit_lesson(lesson, helped=True, now=NOW + timedelta(days=80))
    assert rate_lesson(later, NOW + timedelta(days=91)) > 0.0


def test_a_lesson_fits_the_task_that_speaks_of_its_matter() -> None:
    lesson = new_lesson(EMPTY[0], Origin(), NOW)
    near, far = gist("Return the first element of a list, or None if it is empty"), gist("Parse a date from text")
    assert fits(lesson, near, lambda _: 1.0, NOW) > fits(lesson, far, lambda _: 1.0, NOW) == 0.0


@pytest.mark.parametrize(
    ("text", "category"),
    [("Bind the parameters of the query", "security"), ("Never mutate it", "anti_pattern"), (EMPTY[0], "debugging")],
)
def test_categories(text: str, category: str) -> None:
    assert new_lesson(text, Origin(), NOW).category == category
