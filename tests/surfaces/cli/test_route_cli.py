"""`moot route` as a person and a script call it."""

import io
import json
import sys

import pytest
from conftest import Cli


@pytest.fixture(autouse=True)
def switched_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISABLE_DEBATE", raising=False)


def test_the_router_speaks_json(cli: Cli) -> None:
    told = json.loads(cli("route", "git push --force", "--json").out)
    assert told == {
        "class": "ACTION", "stakes": "high", "bypass": False, "security": False,
        "reason": "`git push --force` rewrites what others have", "triggers": ["destructive: git push --force"],
    }  # fmt: skip
    assert json.loads(cli("route", "--json", "what is a mutex?").out)["class"] == "ANSWER"


def test_the_router_speaks_to_people(cli: Cli) -> None:
    ran = cli("route", "drop the table users")
    assert ran.code == 0 and ran.out.splitlines()[0].startswith("ACTION, stakes high, debate first")
    assert "no debate" in cli("route", "ls").out


def test_one_answer_for_each_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"ls\nrm x\n\nwhat is x\r\nr\0m y\n\xff\xfe\n" + b"x " * 200_000 + b"\nlast"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    told = [json.loads(line) for line in cli("route", "--stdin", "--json").out.splitlines()]
    assert [t["class"] for t in told[:5]] == ["ACTION", "ACTION", "ANSWER", "ANSWER", "ACTION"]
    assert [t["stakes"] for t in told[:5]] == ["low", "high", "low", "low", "high"]
    assert len(told) == 8


def test_a_text_or_stdin_but_not_both(cli: Cli) -> None:
    assert cli("route").code == 2 and cli("route", "ls", "--stdin").code == 2
    assert cli("route", "ls", "--nonsense").code == 2


def test_the_switch_shows(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DISABLE_DEBATE", "1")
    told = json.loads(cli("route", "rm x", "--json").out)
    assert (told["bypass"], told["stakes"]) == (True, "high") and "MOOT_DISABLE_DEBATE" in told["reason"]
