"""What a person reads of a debate: who won and why, its page, and what the next team is built by."""

import json
from pathlib import Path

import pytest
from conftest import Cli, Ran
from debate_script import OPEN, QUIET, TWO, says, world
from debates import LAST, RIGHT, TASK, ballot, blind, code, points
from test_debate_cli import debated


@pytest.fixture
def shown(cli: Cli, tmp_path: Path) -> Ran:
    """Everything at once: an assumption, a disputed test, a breaking test, ballots with one dissenter."""
    dissent = says("ballot", ballot("A", "B", why="the last is what was meant"), seat="critic")
    breaking = says("points", points(("A", "disagree", "odd"), breaking=["largest([2, 9]) == 2"]), seat="critic")
    answers = [TWO, breaking, QUIET, says("blind", blind(n1="9")), dissent, says("ballot", ballot("B", "A"))]
    more = ("--rounds", "1", "--voting", "condorcet")
    return cli(*world(tmp_path, *answers, task=OPEN, more=more))


def test_a_person_reads_who_won_why_by_which_ballots_and_at_what_cost(shown: Ran) -> None:
    lines = shown.out.splitlines()
    known = "; passes the 3 examples of the task; nothing else was tested; 5 caveats, first: reviewer"
    assert lines[0].startswith("contested B: ") and known in lines[0]
    for words in (
        "\ncondorcet over 5 ballots",
        "skipped: the task is simple",
        "off: switched off",
        "- A by proposer (self_evolvement): 3 of 3 tests",
        "set aside: the same code as A",
        "T1 largest([2, 9]) == 2 (disputed: seats say different things of it)",
        "Ballots, round 1, counted by condorcet",
        "- moderator: B > A (0.90) it passes",
        "Dissent",
        "- critic prefers A: the last is what was meant",
        "return numbers[0] if numbers else None",
        "only 2 of 3 independent answers came",
        " saved",
        "passes the tests everybody saw, the result passes them: the debate changed nothing",
        "script:replies.yaml: ",
    ):
        assert words in shown.out, words
    rows = [line.split() for line in lines]
    assert ["beats", "A", "B"] in rows and ["A", "-", "1"] in rows and ["B", "4", "-"] in rows


def test_a_debate_is_listed_and_its_page_tells_it_all(cli: Cli, shown: Ran) -> None:
    (listed,) = json.loads(cli("list", "--json").out)
    assert (listed["protocol"], listed["status"]) == ("debate", "completed")
    assert "debate" in cli("list").out and "contested" in cli("list").out
    page = cli("show", listed["id"]).out
    for words in ("Write largest(numbers)", "proposer", "convergence", "the last is what was meant"):
        assert words in page, words


def test_who_was_right_is_kept_and_the_next_team_is_built_by_it(cli: Cli, tmp_path: Path) -> None:
    drafts = [*says("code", code(LAST), seat="critic"), *says("code", code(RIGHT))]
    answers = [drafts, QUIET, says("merge", code(RIGHT)), says("ballot", ballot("A"))]
    result = debated(cli, tmp_path, *answers, task=f"{TASK} largest([5, 2]) -> 5")
    assert result["flips"]["result"] is True
    built = cli("team", "build", "--task", TASK, "--model", "script:replies.yaml")
    assert "8 earlier results" in built.err, "one for each first answer, and one for each ballot"
