"""How long a command takes from nothing to its end, beside an interpreter that does nothing."""

import argparse
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import BenchFigure, compare_times, report_figures

RUNS = 15
ONE_FILE = """import sqlite3


def find(db: sqlite3.Connection, name: str):
    return db.execute(f"select * from users where name = '{name}'")
"""
HOOK_CALL = json.dumps(
    {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git status"}}
)
HELLO = json.dumps(
    {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}},
    }
)  # fmt: skip
MOOT = str(Path(sys.executable).with_name("moot"))


@dataclass(frozen=True)
class Command:
    label: str
    words: tuple[str, ...]
    target_ms: float | None = None
    given: str = ""
    """What it reads on standard input."""
    to_first_line: bool = False
    """Measure until its first line, instead of until its end."""


COMMANDS = (
    Command("python -c pass", (sys.executable, "-c", "pass")),
    Command("moot --version", (MOOT, "--version"), 150),
    Command("moot hook pre-tool-use, bypassed", (MOOT, "hook", "pre-tool-use", "--client", "claude"), 80, HOOK_CALL),
    Command("moot route COMMAND", (MOOT, "route", "rm -rf build", "--json")),
    Command("moot route REQUEST", (MOOT, "route", "delete the old logs", "--json")),
    Command("moot mcp, to the answer of initialize", (MOOT, "mcp"), 1000, f"{HELLO}\n", to_first_line=True),
    Command("moot harden one_file --no-llm", (MOOT, "harden", "one_file.py", "--no-llm"), 700),
)


def median_ms(command: Command, folder: Path) -> float | str:
    """Cold for the command, warm for the disk: the first run is not counted."""
    # A home of its own, so that neither settings nor sessions of the user play a part.
    env = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data")}
    times: list[float] = []
    for _ in range(RUNS + 1):
        began = time.perf_counter()
        try:
            process = subprocess.Popen(command.words, cwd=folder, env=env, text=True, stdin=-1, stdout=-1, stderr=-1)
        except OSError as problem:
            return f"does not start: {problem.strerror}"
        with process:
            if command.to_first_line:
                assert process.stdin and process.stdout
                process.stdin.write(command.given)
                process.stdin.flush()
                process.stdout.readline()
                times.append((time.perf_counter() - began) * 1000)
            _, said = process.communicate("" if command.to_first_line else command.given)
        if not command.to_first_line:
            times.append((time.perf_counter() - began) * 1000)
        # 1 is how a command says that it found something.
        if process.returncode not in (0, 1):
            return f"ends with {process.returncode}: {said.strip().splitlines()[-1:]}"
    return statistics.median(times[1:])


def line(command: Command, measured: float | str) -> str:
    if isinstance(measured, str):
        return f"| {command.label} | {measured} | |"
    if command.target_ms is None:
        return f"| {command.label} | {measured:.0f} | |"
    verdict = "met" if measured < command.target_ms else "missed"
    return f"| {command.label} | {measured:.0f} | < {command.target_ms:.0f}: {verdict} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("command", nargs="*", help="commands to measure instead, each one argument")
    given = [Command(text, tuple(shlex.split(text))) for text in options.parse_args().command]
    print("| command | median ms | target |\n|---|---:|---|")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "one_file.py").write_text(ONE_FILE)
        measured = dict[str, float | str]()
        for command in (COMMANDS[0], *given) if given else COMMANDS:
            measured[command.label] = median_ms(command, Path(folder))
            print(line(command, measured[command.label]))
    if not given:
        report_figures("startup", list_figures(measured))


def list_figures(measured: dict[str, float | str]) -> list[BenchFigure]:
    """A command that does not start has no time; the run then fails."""
    times = {label: value if isinstance(value, float) else math.nan for label, value in measured.items()}
    bare = COMMANDS[0].label
    return [compare_times(label, value, "ms", bare, times[bare]) for label, value in times.items() if label != bare]


if __name__ == "__main__":
    main()
