"""A new folder in `moot/protocols` has its command, without a line anywhere else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DESCRIPTOR = '''
"""Echo: says what it was given."""
from moot.core.protocol import Protocol
from moot.core.room import Room
from moot.core.types import Result, Rules, Value


class EchoInput(Value):
    words: str


class EchoResult(Result):
    outcome: str


async def echo(given: EchoInput, rules: Rules, room: Room) -> EchoResult:
    return EchoResult(outcome=given.words)


PROTOCOL = Protocol(
    name="echo", summary="Say it again.", input=EchoInput, rules=Rules, result=EchoResult, run=echo,
)
'''
# The folder lies outside of the checkout; the package is told to look there too.
MOOT = """
import sys
import moot.protocols
moot.protocols.__path__.append(sys.argv[1])
from moot.surfaces.cli.app import run_app
run_app(sys.argv[2:])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "protocols" / "echo").mkdir(parents=True)
    (tmp_path / "protocols" / "echo" / "__init__.py").write_text(DESCRIPTOR)
    return tmp_path


def run_command(folder: Path, *words: str) -> str:
    command = [sys.executable, "-c", MOOT, str(folder / "protocols"), *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_help_lists_it(folder: Path) -> None:
    told = run_command(folder, "--help")
    assert told.index("Administration") < told.index("More protocols") < told.index("Say it again.")


def test_it_runs_and_is_replayed_and_exported(folder: Path) -> None:
    store = ("--store", str(folder / "s.db"))
    result = json.loads(run_command(folder, "echo", "hello", "--json", "--quiet", *store))
    assert result["outcome"] == "hello"
    assert json.loads(run_command(folder, "replay", result["session_id"], "--json", *store))["same"] is True
    assert "hello" in run_command(folder, "export", result["session_id"], "--format", "md", *store)


def test_a_gate_is_refused_where_it_has_none(folder: Path) -> None:
    command = [sys.executable, "-c", MOOT, str(folder / "protocols"), "echo", "hello", "--gate", "end"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert "echo has no gate 'end'; it has none" in done.stderr
