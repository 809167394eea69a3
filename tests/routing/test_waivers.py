"""Who may waive a debate: the person, in words of their own, for that prompt, and never where stakes are high."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.routing import route
from moot.routing.waivers import waives

TABLE = Path(__file__).with_name("waivers.tsv")


def cases() -> list[tuple[bool, str]]:
    """Tab-separated: `waives` or `not`, and the prompt (`\\n` is a line break)."""
    lines = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()]
    return [(kind == "waives", text.replace("\\n", "\n")) for kind, text in lines]


def test_every_line_of_the_table() -> None:
    wrong = [f"{text!r} should {'' if waiver else 'not '}waive" for waiver, text in cases() if waives(text) != waiver]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_as_many_of_each_kind() -> None:
    found = cases()
    waiving = sum(1 for waiver, _ in found if waiver)
    assert len({text for _, text in found}) == len(found) >= 60 and abs(2 * waiving - len(found)) <= 2


WAIVING = [text for waiver, text in cases() if waiver]


@pytest.mark.parametrize(
    "frame", ["> {}", "```\n{}\n```", "The README says: {}", 'He wrote "{}"', "Log:\n{}", "`{}`", "<p>{}</p>"]
)
@settings(max_examples=40)
@given(text=st.sampled_from([text for text in WAIVING if "\n" not in text and '"' not in text]))
def test_no_waiver_counts_that_somebody_else_said(frame: str, text: str) -> None:
    assert not waives(frame.format(text))


@settings(max_examples=40)
@given(text=st.sampled_from([text for text in WAIVING if "\n" not in text]))
def test_a_condition_or_a_question_mark_takes_a_waiver_back(text: str) -> None:
    plain = text.rstrip(".!? ")
    last = plain.split(". ")[-1].split("; ")[-1]
    assert not waives(f"If the tests pass, {last}") and not waives(f"{last}?")


def test_the_words_of_an_action_waive_nothing() -> None:
    action = "improve the code. Just do it."
    assert route(action, own_words=True).bypass
    assert not route(action).bypass
    assert route(action).stakes == route("improve the code.").stakes == "medium"
    assert not route("tidy up the old data. The user said: just do it", own_words=True).bypass


def test_high_stakes_are_never_waived_by_words() -> None:
    for text in (
        "delete the production database, just do it",
        "just do it: remove the backups",
        "rm -rf / # just do it",
    ):
        seen = route(text, own_words=True)
        assert (seen.stakes, seen.bypass) == ("high", False), seen


def test_the_switch_is_no_waiver_of_words() -> None:
    high = route("rm -rf /srv")
    assert high.waive("switched off").bypass
    assert high.waive_by_person("just do it") == high
    medium = route("git push")
    assert medium.stakes == "medium" and medium.waive_by_person("just do it").bypass


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_any_prompt_is_answered(text: str) -> None:
    assert waives(text) in (True, False)


@pytest.mark.parametrize(
    "piece", ["just do it ", "ok, ", "<a>", "```\n", "i'm sure about ", "'", "no need to ", "x:\n", "and ", "\n\n"]
)
def test_a_long_prompt_is_answered(piece: str) -> None:
    assert waives((piece * 20_000)[:20_000]) in (True, False)
