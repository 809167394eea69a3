"""`moot guard`: a command runs only if it passes, and then as if nobody stood before it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from conftest import Cli
from fork_server import run_forked
from patience import PATIENCE
from terminals import answered_on_a_terminal
from vetkit import REMEDY, claim, objection

from moot.surfaces.cli.safety.child_process import run_through

GUARD = [sys.executable, "-m", "moot", "guard"]
REFUSED = 126


@pytest.fixture(autouse=True)
def memory_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("DISABLE_DEBATE", raising=False)
    monkeypatch.chdir(tmp_path)


def guard(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return run_forked(["guard", *arguments], Path.cwd(), os.environ, given=text)


def with_critic(folder: Path, monkeypatch: pytest.MonkeyPatch, reply: str) -> None:
    entries = [{"seat": "advocate", "reply": claim()}, {"seat": "critic", "reply": reply}]
    (folder / "replies.yaml").write_text(yaml.safe_dump(entries))
    monkeypatch.setenv("MOOT_MODEL", f"script:{folder / 'replies.yaml'}")


def victim(folder: Path) -> Path:
    path = folder / "victim.txt"
    path.write_text("still here")
    return path


def test_what_passes_runs_with_its_input_output_and_exit_code() -> None:
    done = guard("--", "cat", text="through\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "through\n", "")
    assert guard("--", "sh", "-c", "echo oops >&2; exit 7").returncode == 7
    assert guard("--", "echo one | tr o 0").stdout == "0ne\n"
    assert guard("--", "no-such-program").returncode == 127
    assert guard("--", "echo", "--debug", "--json").stdout == "--debug --json\n"
    assert guard("--", "sh", "-c", "kill -TERM $$").returncode == REFUSED  # `kill` is not let pass unasked


def test_nobody_at_a_terminal_means_no(tmp_path: Path) -> None:
    path = victim(tmp_path)
    done = guard("--", "rm", str(path))
    assert (done.returncode, path.exists()) == (REFUSED, True)
    assert "ESCALATE" in done.stderr and "no terminal to ask" in done.stderr


@pytest.mark.parametrize(
    ("reply", "code", "gone"),
    [(objection("low", ""), 0, True), (objection(), REFUSED, False), (objection("high", ""), REFUSED, False)],
)
def test_the_debate_decides(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: str, code: int, gone: bool
) -> None:
    with_critic(tmp_path, monkeypatch, reply)
    path = victim(tmp_path)
    ran = cli("guard", "--", "rm", str(path))
    assert (ran.code, not path.exists()) == (code, gone), ran.err
    if "MODIFY" in ran.err:
        assert REMEDY in ran.err


def test_a_dry_run_says_the_verdict_and_runs_nothing(cli: Cli, tmp_path: Path) -> None:
    path = victim(tmp_path)
    ran = cli("guard", "--dry-run", "--json", "--", "rm", str(path))
    told = json.loads(ran.out)
    assert (ran.code, path.exists(), told["resolution"], told["stakes"]) == (REFUSED, True, "ESCALATE", "high")
    assert told["degraded"]
    assert cli("guard", "--dry-run", "--", "touch", "new").code == 0 and not (tmp_path / "new").exists()


def test_the_switch_is_respected_and_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DISABLE_DEBATE", "1")
    path = victim(tmp_path)
    ran = cli("guard", "--", "rm", str(path))
    assert ran.code == 0 and not path.exists() and "switched off" in ran.err


def test_what_became_of_it_is_remembered(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DISABLE_DEBATE", "1")
    assert cli("guard", "--", "rm", "missing-file").code == 1
    (log,) = (tmp_path / "data").rglob("failures.jsonl")
    assert log.read_text().count('"attempt"') == 1
    (tmp_path / "missing-file").write_text("")
    assert cli("guard", "--", "rm", "missing-file").code == 0
    assert '"success"' in log.read_text()


def test_a_debate_learns_what_came_of_it(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_critic(tmp_path, monkeypatch, objection("low", ""))
    assert cli("guard", "--", "rm", str(victim(tmp_path))).code == 0
    assert '"outcome": "success"' in next((tmp_path / "data").rglob("debate-metrics.jsonl")).read_text()


def test_signals_reach_the_command(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text(
        # Blocked first: one that comes before it waits is not lost.
        "import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\n"
        "print('up', flush=True)\nsignal.sigwait([signal.SIGTERM])\nsys.exit(5)\n"
    )
    with subprocess.Popen([*GUARD, "--", sys.executable, "wait.py"], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stdout.readline() == "up\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=PATIENCE) == 5


def test_a_signal_that_comes_while_the_command_starts_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    start = subprocess.Popen

    def signalled(words: list[str]) -> "subprocess.Popen[bytes]":
        signal.raise_signal(signal.SIGUSR1)
        return start(words)

    monkeypatch.setattr(subprocess, "Popen", signalled)
    assert run_through(["sleep", "600"]) == (128 + signal.SIGUSR1, "")


@pytest.mark.parametrize(("said", "code", "gone"), [("y\n", 0, True), ("n\n", REFUSED, False), ("\n", REFUSED, False)])
def test_a_person_at_the_terminal_is_asked(tmp_path: Path, said: str, code: int, gone: bool) -> None:
    path = victim(tmp_path)
    ended, seen = answered_on_a_terminal([*GUARD, "--", "rm", str(path)], said)
    assert (ended, not path.exists()) == (code, gone), seen


@pytest.mark.parametrize("command", [["bash", "task.sh"], ["./task.sh"], ["make"], ["cd . && . ./task.sh"]])
def test_a_command_is_judged_by_the_script_that_it_runs(cli: Cli, tmp_path: Path, command: list[str]) -> None:
    path = victim(tmp_path)
    (tmp_path / "task.sh").write_text(f"#!/bin/sh\nrm {path}\n")
    (tmp_path / "task.sh").chmod(0o755)
    (tmp_path / "Makefile").write_text("all:\n\t./task.sh\n")
    done = guard("--", *command)
    assert (done.returncode, path.exists()) == (REFUSED, True)
    assert "runs task.sh; line 2: " in done.stderr and f"moot: deletes {path} (1 file, 10 B)" in done.stderr
    shown = cli("guard", "--dry-run", "--json", "--", *command)
    assert (
        json.loads(shown.out)["stakes"] == "high" and f"deletes {path} (1 file, 10 B)" in json.loads(shown.out)["notes"]
    )
    assert f"  deletes {path} (1 file, 10 B)" in cli("guard", "--dry-run", "--", *command).out


def test_a_script_that_does_no_harm_runs_at_once(tmp_path: Path) -> None:
    (tmp_path / "task.sh").write_text("echo done\n")
    done = guard("--", "bash", "task.sh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert guard("--", "bash", "missing.sh").returncode == REFUSED
