"""A task of a megabyte: prompts hold what fits, say what does not, and so does the result."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Cli
from debate_script import OPEN, QUIET, TWO, says
from debate_script import world as debate_world
from debates import ballot
from panels import PANEL, SCOPE, entry, write_script
from panels import ballot as judged
from solve_kit import RIGHT, TASK, WRONG, code, coder, reflection, reflector
from solve_kit import world as solve_world

MEGABYTE = 1_000_000
FILLER = "The list may hold numbers of any kind, and the order of them says nothing. "
ALLOWED = 2000
"""Tokens; a prompt holds at most twice as many characters as seven for two tokens, whatever else is in it."""


def large(text: str) -> str:
    return f"{text}\n\n" + FILLER * (MEGABYTE // len(FILLER))


def asked(cli: Cli, result: dict[str, Any]) -> list[str]:
    told = json.loads(cli("show", result["session_id"], "--json").out)
    return [step["value"]["call"]["prompt"] for step in told["steps"] if step["name"].startswith("ask ")]


@pytest.fixture(autouse=True)
def small_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_PROMPT_TOKENS", str(ALLOWED))


def check(cli: Cli, result: dict[str, Any], note: str) -> None:
    prompts = asked(cli, result)
    assert prompts and max(map(len, prompts)) < 2 * ALLOWED * 3.5
    assert all("[cut here: " in text and "more characters]" in text for text in prompts)
    assert any(note in said for said in result["degraded"]), result["degraded"]


def test_solve_shows_what_fits(cli: Cli, tmp_path: Path) -> None:
    words = solve_world(tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(reflection()))
    result = json.loads(cli(*[large(TASK) if word == TASK else word for word in words]).out)
    assert (result["outcome"], result["examples"]) == ("solved", 1)
    check(cli, result, "the seats did not see everything: the task: ")


def test_debate_shows_what_fits(cli: Cli, tmp_path: Path) -> None:
    more = ("--json", "--rounds", "1")
    ran = cli(*debate_world(tmp_path, TWO, QUIET, says("ballot", ballot("B", "A")), task=large(OPEN), more=more))
    result = json.loads(ran.out)
    assert result["winner"] == "B" and len(result["votes"][0]["ballots"]) == 5
    check(cli, result, "the seats did not see everything: the task: ")


@pytest.mark.parametrize(("part", "note"), [("question_text", "the question: "), ("spec_context", "the context: ")])
def test_decide_shows_what_fits(cli: Cli, tmp_path: Path, part: str, note: str) -> None:
    given = yaml.safe_load(SCOPE)
    given["debate_context"][part] = large(given["debate_context"][part])
    (tmp_path / "q.yaml").write_text(json.dumps(given))
    model = write_script(tmp_path, [entry(seat, 1, judged(seat, "A")) for seat in PANEL])
    ran = cli("decide", "q.yaml", "-m", model, "--json")
    assert ran.out, ran.err
    result = json.loads(ran.out)
    assert (result["outcome"], result["recommended_option"]) == ("RECOMMENDED", "A")
    check(cli, result, note)


def test_a_task_that_fits_is_whole_and_nothing_is_said(cli: Cli, tmp_path: Path) -> None:
    result = json.loads(cli(*solve_world(tmp_path, *coder(code(RIGHT)))).out)
    (prompt,) = asked(cli, result)
    assert result["degraded"] == [] and TASK in prompt and "cut here" not in prompt
