"""The class of a question alone, and the user's own choice: recorded once, shown from then on."""

import asyncio
import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli
from panels import COLOUR, SCOPE, data, script
from patience import PATIENCE

from moot.core.errors import UsageError
from moot.edge.store import SqlStore
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.surfaces.history.choices import choose
from moot.surfaces.session.settings import Settings
from moot.testing import FrozenClock


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    (tmp_path / "q.yaml").write_text(SCOPE)
    return tmp_path


# --- classify


def test_classify_says_class_confidence_and_words(cli: Cli, asked: Path) -> None:
    ran = cli("classify", "Is the export in scope for v1?")
    assert (ran.code, ran.out.strip()) == (0, "Q1: SCOPE_CRITICAL (HIGH: in scope, scope, v1)")
    one = data(cli("classify", "Which colour? Is it in scope?", "--json").out)
    assert (one["classification"], one["compound"], one["matched_indicator"]) == ("UX_PREFERENCE", True, "colour")
    assert "COMPOUND" in one["notes"][0]  # type: ignore[index]


def test_classify_reads_files_and_stdin(cli: Cli, asked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (asked / "both.yaml").write_text(f"{SCOPE}\n---\n{COLOUR}")
    both = data(cli("classify", "both.yaml", "--json").out)
    assert [c["question_id"] for c in both["classifications"]] == ["SQ-1", "UX-1"]  # type: ignore[attr-defined]
    assert both["summary"] == {"SCOPE_CRITICAL": 1, "UX_PREFERENCE": 1, "TECH_DEFAULT": 0, "BUSINESS_RULE": 0}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Which database?\nWho approves a refund?\n")))
    lines = cli("classify", "-").out.splitlines()
    assert [line.split()[1] for line in lines] == ["TECH_DEFAULT", "BUSINESS_RULE"]
    assert cli("classify", "  ").code == 2 and cli("classify", "x" * 5000).code == 0


# --- choose


@pytest.fixture
def contested(cli: Cli, asked: Path) -> str:
    ran = cli("decide", "q.yaml", "-m", script(asked, "ABC", "ABC"), "--json")
    assert ran.code == 1
    return str(data(ran.out)["session_id"])


def test_a_choice_is_recorded_once_with_who_and_when_and_shown_from_then_on(
    cli: Cli, contested: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ada")
    made = cli("choose", contested[:8], "sq-1", "b", "--reason", "We ship in May.", "--json")
    choice = data(made.out)["choice"]
    assert made.code == 0 and isinstance(choice, dict)
    assert (choice["option"], choice["reason"], choice["by"]) == ("B", "We ship in May.", "ada")
    assert choice["at"].startswith("20") and choice["at"].endswith("+00:00")
    again = cli("resume", contested, "--json")
    result = data(again.out)
    assert (again.code, result["outcome"], result["choice"]) == (0, "CONTESTED", choice)
    shown = cli("show", contested).out
    assert f"Option B, chosen by ada at {choice['at']}: We ship in May." in shown
    assert "ada chose B" in cli("resume", contested).out.splitlines()[0]
    twice = cli("choose", contested, "SQ-1", "A", "--reason", "No, A.")
    assert twice.code == 2 and f"ada chose B at {choice['at']}" in twice.err
    assert data(cli("resume", contested, "--json").out)["choice"] == choice


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SQ-1", "D", "--reason", "x"], "has no option 'D'; its options are A, B, C"),
        (["SQ-9", "A", "--reason", "x"], "no question 'SQ-9' in that session; its questions are SQ-1"),
        (["SQ-1", "A", "--reason", " "], "needs a reason"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(cli: Cli, contested: str, arguments: list[str], said: str) -> None:
    ran = cli("choose", contested, *arguments)
    assert ran.code == 2 and said in ran.err
    assert data(cli("resume", contested, "--json").out)["choice"] is None


def test_there_is_nothing_to_choose_where_the_judges_agreed(cli: Cli, asked: Path) -> None:
    done = data(cli("decide", "q.yaml", "-m", script(asked, "AAA"), "--json").out)
    ran = cli("choose", str(done["session_id"]), "SQ-1", "B", "--reason", "x")
    assert ran.code == 2 and "is RECOMMENDED, not CONTESTED" in ran.err
    (asked / "app.py").write_text("x = 1\n")
    other = data(cli("harden", "app.py", "--json").out)
    assert (
        "only sessions of `decide` have something to choose"
        in cli("choose", str(other["session_id"]), "Q", "A", "--reason", "x").err
    )
    assert "no session" in cli("choose", "ffffffff", "Q", "A", "--reason", "x").err


def test_on_a_terminal_a_contested_question_is_answered_on_the_spot(asked: Path) -> None:
    model = script(asked, "ABC", "ABC")
    env = {**os.environ, "MOOT_STORE": str(asked / "s.db"), "TERM": "dumb"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "decide", "q.yaml", "-m", model],
        cwd=asked, env=env, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(theirs)
    os.write(ours, b"c\nSmall and soon.\n")
    seen = b""
    while b"chosen by" not in seen:
        seen += os.read(ours, 4096)
    _, err = process.communicate(timeout=PATIENCE)
    os.close(ours)
    assert process.returncode == 0, err
    assert b"option C, Drafts; chosen by" in seen


def test_of_two_choices_at_once_one_is_made(contested: str, tmp_path: Path) -> None:
    async def both() -> list[QuestionVerdict | BaseException]:
        stores = [SqlStore(Settings.load({}).store) for _ in range(2)]
        try:
            made = [choose(s, FrozenClock(), contested, "SQ-1", o, "x") for s, o in zip(stores, "AB", strict=True)]
            return await asyncio.gather(*made, return_exceptions=True)
        finally:
            for store in stores:
                await store.aclose()

    done = asyncio.run(both())
    assert {type(one) for one in done} == {UsageError, QuestionVerdict}, done
    assert any("was already decided" in str(one) for one in done)
