"""Kill -9 after every recorded step, resume: the same result, and nothing recorded is paid for twice."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kit import BAD, GOOD, NOTHING, SQLI, blue, run_moot, settled
from patience import PATIENCE, wait_for_file

STEPS = 17  # test_the_session_has_as_many_steps_as_we_kill_it_at keeps this true


def session(folder: Path) -> list[str]:
    """A session with all kinds of steps: a failed try, an unreadable reply, tests that are run, a rejected patch."""
    (folder / "app.py").write_text(BAD)
    (folder / "test_app.py").write_text("import app\n\ndef test_find():\n    assert app.find.__name__ == 'find'\n")
    (folder / "red.yaml").write_text(
        json.dumps(
            [
                {"error": {"kind": "rate_limited", "retry_after": 0.01}, "round": 1},
                {"reply": "The code seems fine.", "round": 1},
                {"reply": SQLI, "round": 1},
                {"reply": SQLI, "round": 2},
                {"reply": NOTHING, "round": 3},
            ]
        )
    )
    (folder / "blue.py").write_text(
        "import sys\nprompt = sys.stdin.read()\nopen('calls.log', 'a').write('blue\\n')\n"
        f"print({blue(GOOD)!r} if 'Round 2' in prompt else {blue(BAD)!r})\n"
    )
    seats = ["--seat", "red=script:red.yaml", "--seat", f"blue=cmd:{sys.executable} blue.py"]
    return ["harden", "app.py", "--tests", "test_app.py", *seats, "--json", "--quiet"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run_moot(folder, *session(folder))
    assert done.returncode == 0, done.stderr
    assert (folder / "calls.log").read_text() == "blue\n" * 2
    return settled(done.stdout)


def test_the_session_has_as_many_steps_as_we_kill_it_at(undisturbed: dict[str, object], tmp_path: Path) -> None:
    survived = run_moot(tmp_path, *session(tmp_path), kill_after=STEPS + 1)
    assert survived.returncode == 0 and json.loads(survived.stdout)["outcome"] == "hardened"
    assert undisturbed["final_code"] == GOOD and undisturbed["calls"] == 6


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_after_any_step_a_session_resumes_to_the_same_result(
    undisturbed: dict[str, object], tmp_path: Path, step: int, place: str
) -> None:
    killed = run_moot(tmp_path, *session(tmp_path), kill_after=step, MOOT_STORE=place)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json", MOOT_STORE=place).stdout)
    # The last step and the end are one transaction, unless the disk was quicker than the session.
    assert listed["status"] == "running" or (step, listed["status"]) == (STEPS, "completed")
    resumed = run_moot(tmp_path, "resume", listed["id"][:8], "--json", MOOT_STORE=place)
    assert resumed.returncode == 0, resumed.stderr
    assert settled(resumed.stdout) == undisturbed
    assert (tmp_path / "calls.log").read_text() == "blue\n" * 2, "no recorded call is paid for twice"


def test_the_same_input_and_script_twice_give_the_same_bytes(undisturbed: dict[str, object], tmp_path: Path) -> None:
    again = run_moot(tmp_path, *session(tmp_path))
    assert settled(again.stdout) == undisturbed


def test_a_changed_script_of_prompts_is_caught_on_resume(tmp_path: Path) -> None:
    """Input that changed under a session is refused, not mixed with what was recorded."""
    run_moot(tmp_path, *session(tmp_path), kill_after=STEPS - 2)
    store = tmp_path / "s.db"
    import sqlite3

    with sqlite3.connect(store) as db:
        db.execute("UPDATE debate_sessions SET config = replace(config, 'SELECT', 'DELETE')")
    db.close()
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    resumed = run_moot(tmp_path, "resume", listed["id"])
    assert resumed.returncode >= 2 and "Start a new session" in resumed.stderr


def ask_slowly(folder: Path) -> list[str]:
    """A session whose blue answers once there is a file `go`, or gives up once the session is gone."""
    (folder / "app.py").write_text(BAD)
    (folder / "red.yaml").write_text(json.dumps([{"reply": SQLI, "round": 1}, {"reply": NOTHING, "round": 2}]))
    (folder / "slow.py").write_text(
        "import os, pathlib, sys, time\nparent = os.getppid()\nsys.stdin.read()\nopen('asked', 'a').write('x')\n"
        f"while not pathlib.Path('go').exists() and os.getppid() == parent: time.sleep(0.01)\nprint({blue(GOOD)!r})\n"
    )
    return ["harden", "app.py", "--seat", "red=script:red.yaml", "--seat", f"blue=cmd:{sys.executable} slow.py"]


def interrupted(folder: Path, end: signal.Signals = signal.SIGINT) -> subprocess.CompletedProcess[str]:
    """The signal comes while blue is answering."""
    env = {**os.environ, "MOOT_STORE": str(folder / "s.db")}
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", *ask_slowly(folder)],
        cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for_file(folder / "asked")
    process.send_signal(end)
    out, err = process.communicate(timeout=PATIENCE)
    return subprocess.CompletedProcess([], process.returncode, out, err)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_saves_says_how_to_resume_and_exits_130(tmp_path: Path, end: signal.Signals) -> None:
    stopped = interrupted(tmp_path, end)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stdout.startswith("cancelled") and "moot resume " in stopped.stderr
    assert "Traceback" not in stopped.stderr
    session_id = stopped.stderr.rsplit("moot resume ", 1)[1].split()[0]
    (tmp_path / "go").touch()
    resumed = run_moot(tmp_path, "resume", session_id, "--json")
    result = json.loads(resumed.stdout)
    assert (resumed.returncode, result["outcome"], result["calls"]) == (0, "hardened", 3)
    assert (tmp_path / "asked").read_text() == "xx", "red was not asked again, blue was"


IN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "moot", *sys.argv[1:]])
"""


def test_a_session_whose_terminal_is_closed_is_paused(tmp_path: Path) -> None:
    """Its progress and its result can no longer be written."""
    terminal, inner = os.openpty()
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db")}
    process = subprocess.Popen(
        [sys.executable, "-c", IN_TERMINAL, *ask_slowly(tmp_path)],
        cwd=tmp_path, env=env, stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
    )  # fmt: skip
    os.close(inner)
    wait_for_file(tmp_path / "asked")
    os.close(terminal)
    assert process.wait(timeout=PATIENCE) == 130
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    assert listed["status"] == "paused"


def test_a_killed_session_is_listed_as_paused_and_says_how_to_continue(tmp_path: Path) -> None:
    assert interrupted(tmp_path, signal.SIGKILL).returncode == -signal.SIGKILL
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    assert listed["status"] == "running" and " paused " in run_moot(tmp_path, "list").stdout
    shown = run_moot(tmp_path, "show", listed["id"]).stdout
    assert "status paused" in shown and f"`moot resume {listed['id']}` continues it" in shown


def test_a_session_cannot_be_run_in_two_terminals_at_once(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "slow.py").write_text(
        "import os, sys, time\nsys.stdin.read()\nparent = os.getppid()\nopen('asked', 'w')\n"
        "while os.getppid() == parent: time.sleep(0.05)\n"
    )
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db")}
    first = subprocess.Popen(
        [sys.executable, "-m", "moot", "harden", "app.py", "-m", f"cmd:{sys.executable} slow.py"],
        cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for_file(tmp_path / "asked")
        (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
        second = run_moot(tmp_path, "resume", listed["id"])
        assert second.returncode == 3 and "running in another process" in second.stderr
    finally:
        first.kill()
        first.wait()
