"""Kill -9 after every recorded step of a panel, resume: the same result, the same files, no judge asked twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kit import run_moot, settled
from panels import PANEL, SCOPE, ballot, rebuttal
from patience import PATIENCE, wait_for_file

TESTS = Path(__file__).resolve().parents[2]
STEPS = 8  # three ballots, one of them asked for twice, three rebuttals


def session(folder: Path) -> list[str]:
    """Contested, with an unreadable reply, a failed try and a change of mind on the way."""
    (folder / "q.yaml").write_text(SCOPE)
    seats = []
    for seat, option, after in zip(PANEL, "ABC", "ACB", strict=True):
        first = [{"round": 1, "reply": "Option A or Option B"}] if seat == "value" else []
        failed = [{"round": 1, "error": {"kind": "rate_limited", "retry_after": 0.01}}] if seat == "risk" else []
        replies = [
            *failed,
            *first,
            {"round": 1, "reply": ballot(seat, option)},
            {"round": 2, "reply": rebuttal(seat, after, "the sync of drafts takes a month")},
        ]
        (folder / f"{seat}.yaml").write_text(json.dumps(replies))
        seats += ["--seat", f"{seat}=script:{seat}.yaml"]
    return ["decide", "q.yaml", *seats, "--feature-dir", "fd", "--json", "--quiet"]


def files(folder: Path, session_id: str) -> dict[str, str]:
    place = folder / "fd" / "sadd"
    return {path.name: path.read_text().replace(session_id, "ID") for path in place.iterdir()}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], dict[str, str]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run_moot(folder, *session(folder))
    assert done.returncode == 1, done.stderr
    return settled(done.stdout), files(folder, json.loads(done.stdout)["session_id"])


def test_there_are_as_many_steps_as_we_kill_it_at(tmp_path: Path) -> None:
    survived = run_moot(tmp_path, *session(tmp_path), kill_after=STEPS + 1)
    assert (survived.returncode, json.loads(survived.stdout)["calls"]) == (1, 7)


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_after_any_step_a_panel_resumes_to_the_same_result(
    undisturbed: tuple[dict[str, object], dict[str, str]], tmp_path: Path, step: int
) -> None:
    killed = run_moot(tmp_path, *session(tmp_path), kill_after=step)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    resumed = run_moot(tmp_path, "resume", listed["id"][:8], "--json")
    assert resumed.returncode == 1, resumed.stderr
    assert settled(resumed.stdout) == undisturbed[0]
    assert files(tmp_path, listed["id"]) == undisturbed[1]


def test_a_choice_survives_and_is_the_last_word(tmp_path: Path) -> None:
    done = json.loads(run_moot(tmp_path, *session(tmp_path)).stdout)
    chosen = run_moot(tmp_path, "choose", done["session_id"], "SQ-1", "C", "--reason", "soon")
    assert chosen.returncode == 0, chosen.stderr
    again = run_moot(tmp_path, "resume", done["session_id"], "--json")
    assert (again.returncode, json.loads(again.stdout)["choice"]["option"]) == (0, "C")
    exported = json.loads(run_moot(tmp_path, "export", done["session_id"]).stdout)
    assert [step["name"] for step in exported["steps"] if step["seq"] < 0] == ["choose SQ-1"]


def test_ctrl_c_keeps_what_was_said_exits_130_and_resumes(tmp_path: Path) -> None:
    """Two judges have answered, the third is thinking."""
    (tmp_path / "q.yaml").write_text(SCOPE)
    replies = [{"seat": seat, "reply": ballot(seat, "A")} for seat in ("risk", "value")]
    (tmp_path / "fast.yaml").write_text(json.dumps(replies))
    (tmp_path / "slow.py").write_text(
        "import pathlib, sys, time\nsys.stdin.read()\nopen('asked', 'a').write('x')\n"
        f"while not pathlib.Path('go').exists(): time.sleep(0.01)\nprint({ballot('effort', 'B')!r})\n"
    )
    seats = ["-m", "script:fast.yaml", "--seat", f"effort=cmd:{sys.executable} slow.py"]
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "decide", "q.yaml", *seats, "--json"],
        cwd=tmp_path, env={**os.environ, "MOOT_STORE": str(tmp_path / "s.db")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_file(tmp_path / "asked")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    stopped = json.loads(out)
    assert (process.returncode, stopped["outcome"], stopped["stop_reason"]) == (
        130,
        "INSUFFICIENT_DATA",
        "cancelled",
    ), err
    assert stopped["distribution"] == {"A": ["risk", "value"]} and "stopped; continue with: moot resume" in err
    (tmp_path / "go").touch()
    resumed = run_moot(tmp_path, "resume", stopped["session_id"], "--json")
    result = json.loads(resumed.stdout)
    assert (resumed.returncode, result["outcome"], result["agreement"], result["calls"]) == (
        0,
        "RECOMMENDED",
        "MAJORITY",
        3,
    )
    assert (tmp_path / "asked").read_text() == "xx"
