"""A store whose name was mistyped is not made by the command that looks into it."""

import os

import pytest
from conftest import Cli

LOOKING = [
    "list", "show 1", "watch 1", "audit 1", "export 1", "replay 1", "diff 1 2", "fork 1 --at 2", "delete 1",
    "clean", "resume 1", "choose 1 Q1 A --reason r", "gate list", "gate approve 1",
    "lessons list", "lessons export", "admin token list",
]  # fmt: skip


@pytest.mark.parametrize("words", LOOKING)
def test_a_missing_store_is_said_and_not_made(cli: Cli, words: str) -> None:
    ran = cli(*words.split(), "--store", "typo.db")
    assert ran.code == 2, ran.err + ran.out
    assert "there is no store typo.db" in ran.err and not os.path.exists("typo.db")


def test_a_command_that_adds_to_a_store_may_make_it(cli: Cli) -> None:
    made = cli("admin", "token", "create", "ci", "--scope", "read", "--store", "new.db")
    assert made.code == 0 and os.path.exists("new.db"), made.err
