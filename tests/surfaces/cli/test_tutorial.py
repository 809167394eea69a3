"""The tutorial runs what it shows, and leaves nothing behind."""

import io
import json
import os
import sys
import tempfile
from pathlib import Path

import pytest
from conftest import Cli


class Typed(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_the_tutorial_runs_all_six_verbs_and_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    before = dict(os.environ)
    ran = cli("tutorial", "--yes")
    assert ran.code == 0, ran.out[-500:]
    for said in (
        "hardened: ",
        "solved by attempt 2",
        "agreed D",
        "no_objections: ",
        "MODIFY (high stakes)",
        "RECOMMENDED: ",
    ):
        assert said in ran.out
    assert ran.out.count("\n$ moot ") == ran.out.count("\nLook at: ") == 6
    assert json.loads(cli("list", "--json").out) == [] and "this tutorial are not kept" in ran.out
    assert os.environ == before and Path.cwd() == tmp_path
    assert not list(Path(tempfile.gettempdir()).glob("moot-tutorial-*/replies.yaml"))


@pytest.mark.parametrize(("typed", "ran"), [("q\n", 0), ("", 0), ("\nq\n", 1)])
def test_q_and_the_end_of_the_input_leave(typed: str, ran: int, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Typed(io.BytesIO(typed.encode())))
    left = cli("tutorial")
    assert (left.code, left.out.count("hardened: ")) == (0, ran)
    assert "2 of 6" not in left.out


def test_without_a_terminal_it_says_how_to_run_through(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    refused = cli("tutorial")
    assert refused.code == 2 and "--yes" in refused.err
