"""Words match evidence: what is known of a result is said, no more; what no test touches is looked for."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from debate_script import QUIET, says
from debates import Quick, ballot, blind, code, held, points, scores, wrote
from test_debate_cli import calls, debated

from moot.protocols.debate.types import Checked, DebateRules

SLUG = (
    "Write slugify(title): lower case, words joined by hyphens, accents removed. "
    "slugify('Hello World') -> 'hello-world'"
)
PLAIN = "def slugify(title):\n    return '-'.join(title.lower().split())\n"
"""Passes the one example, and keeps accents."""
WHOLE = (
    "import unicodedata\n\n\ndef slugify(title):\n    text = unicodedata.normalize('NFKD', title)\n"
    "    return '-'.join(''.join(c for c in text if not unicodedata.combining(c)).lower().split())\n"
)
CAFE = "slugify('Café au lait') == 'cafe-au-lait'"


def test_one_example_that_passes_is_said_to_be_one_example(cli: Cli, tmp_path: Path) -> None:
    ran = debated(cli, tmp_path, says("code", code(PLAIN)), QUIET, task=SLUG)
    assert ran["outcome"] == "agreed" and ran["known"] == "passes the 1 example of the task; nothing else was tested"
    assert ran["untested"] == ["accents removed"]
    assert any("no test touches" in note and "accents removed" in note for note in ran["degraded"])
    (tmp_path / "replies.yaml").unlink()
    shown = cli("resume", ran["session_id"])
    assert shown.out.startswith("agreed A: passes the 1 example of the task; nothing else was tested")
    assert " right" not in shown.out and "wrong" not in shown.out


def test_a_test_of_each_requirement_is_written_before_a_debate_ends_on_one_example() -> None:
    """Nobody sees code, one seat thinks of accents, and two others find the same value: it counts, and is mended."""
    answers = {
        "code": [code(PLAIN), code(PLAIN), code(PLAIN), code(WHOLE)],
        "proposer tests": wrote(f"{CAFE}  # 3"), "tests": "TESTS: NONE", "blind": blind(n1="'cafe-au-lait'"),
        "points": points(), "scores": scores(), "merge": code(WHOLE), "ballot": ballot("A", "B"),
    }  # fmt: skip
    done = held(answers, sandbox=Quick(), task=SLUG)
    asked = next(call.prompt for call in done.asked if call.prompt.startswith("Write tests for"))
    assert all(words in asked for words in ("1. lower case", "2. words joined by hyphens", "3. accents removed"))
    assert PLAIN not in asked
    (claim,) = done.result.claims
    assert (claim.status, claim.requirement) == ("agreed", "accents removed")
    assert done.result.code == WHOLE and done.result.outcome == "agreed" and done.result.untested == ()
    assert done.result.known == "passes the 1 example of the task and the 1 test that seats agreed on"


def test_who_fails_a_test_that_seats_agreed_on_is_not_agreed_on() -> None:
    answers = {
        "code": code(PLAIN), "tests": wrote(CAFE), "points": points(), "scores": scores(), "merge": code(PLAIN),
        "reflect": "{}", "ballot": ballot("A", "B", "C"),
    }  # fmt: skip
    done = held(answers, sandbox=Quick(), task=SLUG, rules=DebateRules(lessons=0, max_rounds=1))
    assert done.result.outcome in ("chosen", "contested") and done.result.stop_reason != "alike_and_green"
    assert done.result.known == "passes the 1 example of the task and 0 of 1 test that seats agreed on"
    assert any(note.startswith("A fails 1 of 1 test that seats agreed on") for note in done.room.degraded)


def test_a_test_that_one_seat_alone_wrote_is_said_to_be_that() -> None:
    """Nobody else knows the value: it decides nothing, and it is not kept quiet."""
    answers = {"code": code(PLAIN), "proposer tests": wrote(CAFE), "tests": "TESTS: NONE", "blind": blind(n1="unknown")}
    done = held(answers, sandbox=Quick(), task=SLUG)
    assert done.result.outcome == "agreed" and done.result.untested == ()
    assert done.result.known == "passes the 1 example of the task and 0 of 1 test that one seat alone wrote"
    assert any(
        note.startswith("A fails 1 test that one seat alone wrote: slugify('Café") for note in done.room.degraded
    )


def test_three_examples_are_enough_to_end_early() -> None:
    task = f"{SLUG}\nslugify('A b') -> 'a-b'\nslugify('Été') -> 'ete'"
    done = held({"code": code(WHOLE)}, sandbox=Quick(), task=task)
    assert len(done.asked) == 3 and done.result.outcome == "agreed" and done.result.untested == ()
    assert done.result.known == "passes the 3 examples of the task; nothing else was tested"


def test_one_that_passes_alone_is_tested_further_too() -> None:
    rules = DebateRules(lessons=0, max_rounds=1, phases=("proposal", "convergence"))
    wrong = "def slugify(title):\n    return title\n"
    answers = {"code": code(wrong), "proposer code": code(PLAIN), "tests": wrote(CAFE), "ballot": ballot("A", "B")}
    done = held(answers, sandbox=Quick(), task=SLUG, rules=rules)
    assert done.result.outcome != "agreed" and [claim.status for claim in done.result.claims] == ["agreed"]


def test_where_no_tests_are_asked_for_it_ends_as_before() -> None:
    done = held({"code": code(PLAIN)}, sandbox=Quick(), task=SLUG, rules=DebateRules(lessons=0, enough_tests=0))
    assert len(done.asked) == 3 and done.result.untested == ("accents removed",)


def test_a_full_run_is_never_smaller_than_what_was_asked(cli: Cli, tmp_path: Path) -> None:
    result = debated(cli, tmp_path, says("code", code(PLAIN)), QUIET, task=SLUG)
    assert len(calls(cli, result)) <= result["calls_full_run"]


VALID = [("1s", 1), ("2m", 120), ("1h", 3600), ("90s", 90), ("3m", 180)]
DURATION = (
    "Write seconds(text): how many seconds a duration such as 1h has; whatever is no duration raises ValueError.\n"
)
REFUSE_ALL = "def seconds(text):\n    raise ValueError(text)\n"
MOST_VALID = "def seconds(text):\n    return {'1s': 1, '2m': 120, '1h': 3600, '90s': 90}.get(text, 0)\n"
EXAMPLES = "".join(f"seconds({text!r}) -> {value}\n" for text, value in VALID)
REFUSED = "".join(f"seconds({text!r}) raises ValueError\n" for text in ("", "x", "1", "h", "-1s"))
CASES = f"""import pytest
from solution import seconds


@pytest.mark.parametrize(("text", "value"), {VALID!r})
def test_reads(text, value):
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "x", "1", "h", "-1s"])
def test_else(text):
    with pytest.raises(ValueError):
        seconds(text)
"""


@pytest.mark.parametrize("given", ["examples", "tests"])
def test_who_refuses_everything_does_not_lead_over_who_solves_most(cli: Cli, tmp_path: Path, given: str) -> None:
    first = [*says("code", code(REFUSE_ALL), seat="proposer"), *says("code", code(MOST_VALID))]
    more: dict[str, Any] = {"task": DURATION + EXAMPLES + REFUSED} if given == "examples" else {"tests": CASES}
    more.setdefault("task", DURATION)
    answers = [first, QUIET, says("merge", code(REFUSE_ALL)), says("ballot", ballot("A", "B", "C"))]
    result = debated(cli, tmp_path, *answers, more=("--drafts", "2", "--rounds", "1"), **more)
    ran = {c["id"]: (c["checked"]["passed"], c["checked"]["of"]) for c in result["candidates"][:2]}
    assert ran == {"A": (5, 10), "B": (4, 10)}
    assert (result["winner"], result["baseline"]["candidate"]) == ("B", "B") and result["outcome"] == "unresolved"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"passed": 4, "worth": 4.0}, {"passed": 5, "worth": 0.0}),
        ({"passed": 10, "worth": 10.0, "green": True}, {"passed": 4, "worth": 4.0}),
        ({"passed": 5, "worth": 4.0}, {"passed": 4, "worth": 4.0}),
    ],
)
def test_worth_comes_before_the_number_that_pass(better: dict[str, Any], worse: dict[str, Any]) -> None:
    assert Checked(of=10, **better).rank > Checked(of=10, **worse).rank


def test_hidden_tests_are_passed_or_failed_and_nothing_is_called_right(cli: Cli, tmp_path: Path) -> None:
    hidden = "from solution import slugify\n\n\ndef test_hidden():\n    assert slugify('É') == 'e'\n"
    (tmp_path / "hidden.py").write_text(hidden)
    replies = json.dumps([*says("code", code(PLAIN)), *QUIET])
    (tmp_path / "replies.yaml").write_text(replies)
    ran = cli(
        "debate", SLUG, "--planning", "off", "-m", "script:replies.yaml", "--hidden-tests", "hidden.py", "--quiet"
    )
    assert ran.out.startswith("agreed A: passes the 1 example of the task and 0 of 1 hidden test; caveat: ")
    told = "the vote of the first answers fails the hidden tests, the result fails them: the debate changed nothing"
    assert told in ran.out
