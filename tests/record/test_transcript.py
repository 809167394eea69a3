"""A session as a document begins with its result, whatever is known of it."""

import json
from pathlib import Path
from sqlite3 import connect

import pytest
from conftest import Cli
from kit import BAD


@pytest.fixture
def session(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    (tmp_path / "app.py").write_text(BAD)
    return str(json.loads(cli("harden", "app.py", "--no-llm", "--json").out)["session_id"])


def change_session(folder: Path, statement: str) -> None:
    with connect(folder / "s.db") as db:
        db.execute(statement)
    db.close()


FORMS = (("show",), ("export", "-f", "md"), ("export", "-f", "html"))


@pytest.mark.parametrize("words", FORMS)
def test_the_verdict_comes_first_then_the_steps(cli: Cli, session: str, words: tuple[str, ...]) -> None:
    shown = cli(words[0], session, *words[1:]).out
    assert 0 < shown.index("hardened: the last attack") < shown.index("VULN-001") < shown.index("Version 1")
    assert "SQL injection: query built by string formatting" in shown


@pytest.mark.parametrize("words", FORMS)
def test_a_result_that_no_longer_validates_is_shown_as_it_was_recorded(
    cli: Cli, tmp_path: Path, session: str, words: tuple[str, ...]
) -> None:
    change_session(tmp_path, "UPDATE debate_sessions SET outcome = json_remove(outcome, '$.result.stop_reason')")
    shown = cli(words[0], session, *words[1:]).out
    assert "hardened: the result as it was recorded" in shown and "rounds: 2" in shown and "Version 1" in shown


@pytest.mark.parametrize("words", FORMS)
def test_a_protocol_that_is_not_installed_is_no_obstacle(
    cli: Cli, tmp_path: Path, session: str, words: tuple[str, ...]
) -> None:
    change_session(tmp_path, "UPDATE debate_sessions SET protocol = 'elsewhere'")
    assert "this version cannot report it" in cli(words[0], session, *words[1:]).out


@pytest.mark.parametrize("words", FORMS)
def test_a_session_without_a_result_says_so(cli: Cli, tmp_path: Path, session: str, words: tuple[str, ...]) -> None:
    change_session(tmp_path, "UPDATE debate_sessions SET outcome = NULL, status = 'running'")
    shown = cli(words[0], session, *words[1:]).out
    assert "running: the session has no result yet" in shown and "Version 1" in shown
    change_session(tmp_path, "UPDATE debate_sessions SET status = 'failed'")
    shown = cli(words[0], session, *words[1:]).out
    assert "failed: a fault of Moot ended the session" in shown and f"moot resume {session}" in shown
