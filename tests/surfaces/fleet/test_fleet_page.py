"""The page about fleets is true: its program and its commands are run on a real one."""

import re
import sys
from pathlib import Path

import pytest
from conftest import Cli
from fleetkit import Fleet

PAGE = Path(__file__).parents[3] / "docs" / "fleet.md"


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def commands(name: str) -> list[list[str]]:
    """The arguments of each `moot NAME` on the page."""
    lines = "\n".join(blocks("sh")).splitlines()
    return [line.split()[1:] for line in lines if line.startswith(f"moot {name}")]


def test_the_program_hands_a_session_to_the_fleet_and_the_commands_show_it(
    fleet: Fleet, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    (program,) = blocks("py")
    (session_id,) = fleet.enroll([fleet.plan("drop table t")], put=False)
    monkeypatch.setenv("MOOT_STORE", fleet.store)
    monkeypatch.setenv("SESSION", session_id)
    exec(compile(program, str(PAGE), "exec"), {})
    assert fleet.sql("SELECT lock, priority FROM procrastinate_jobs") == [(session_id, 5)]
    (worker,) = commands("worker")
    fleet.worker(*worker[1:])
    fleet.wait_for_end([session_id])
    shown = [cli(*words) for words in commands("fleet")]
    assert [ran.code for ran in shown] == [0, 0] and all("blue-1" in ran.out for ran in shown)


@pytest.mark.parametrize("command", ["worker", "fleet"])
def test_without_the_extra_one_line_says_how_to_get_it(command: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("procrastinate", "psycopg"):
        monkeypatch.setitem(sys.modules, package, None)
    ran = cli(command, "--store", "postgresql://moot@nowhere/moot")
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1 and "pip install 'moot[postgres]'" in ran.err
