"""Kill -9 after every recorded step of a debate, resume: the same resolution, and every line in the memory once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import kit
import pytest
import yaml
from kit import settled
from patience import PATIENCE, wait_for_file
from vetkit import ACTION, UNCLEAR, blind_spot, claim, diagnosis, objection, opinion, rejoinder

PLAN = ["vet", ACTION, "--rounds", "2"]
FAILURE = ["vet", "--failure", "import the list", "--attempt", "a", "--error", "E1", "--attempt", "b", "--error", "E2"]
PLAN_REPLIES = {
    "advocate": ["hm", claim(), claim(0.9, "Carts were moved")],
    "critic": [objection("high", UNCLEAR), "", rejoinder("hold", "medium")],
    "judge": [opinion(True)],
}
FAILURE_REPLIES = {
    "advocate": [diagnosis("Decodes the bytes as latin-1")],
    "critic": ["", blind_spot()],
    "judge": [opinion(True)],
}
PLAN_STEPS, FAILURE_STEPS = 8, 5  # the first test keeps these true
KILLS = [("plan", step) for step in range(1, PLAN_STEPS + 1)] + [("fail", s) for s in range(1, FAILURE_STEPS + 1)]


def run_moot(folder: Path, *arguments: str, kill_after: int = 0) -> subprocess.CompletedProcess[str]:
    return kit.run_moot(folder, *arguments, kill_after=kill_after, MOOT_VET_MEMORY=str(folder / "memory"))


def session(folder: Path, kind: str) -> list[str]:
    replies = PLAN_REPLIES if kind == "plan" else FAILURE_REPLIES
    entries = [{"seat": seat, "reply": text} for seat, texts in replies.items() for text in texts]
    (folder / "replies.yaml").write_text(yaml.safe_dump(entries))
    return [*(PLAN if kind == "plan" else FAILURE), "-m", "script:replies.yaml", "--json", "--quiet"]


def remembered(folder: Path) -> dict[str, int]:
    """How many lines each file of the memory has."""
    files = (folder / "memory").iterdir()
    return {"day" if path.suffix == ".md" else path.stem: len(path.read_text().splitlines()) for path in files}


Ends = dict[str, tuple[dict[str, Any], dict[str, int]]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Ends:
    ends = {}
    for kind, resolution in (("plan", "MODIFY"), ("fail", "RETRY")):
        folder = tmp_path_factory.mktemp(kind)
        done = run_moot(folder, *session(folder, kind))
        assert done.returncode == 1, done.stderr
        ends[kind] = (settled(done.stdout), remembered(folder))
        assert ends[kind][0]["resolution"] == resolution
    return ends


@pytest.mark.parametrize(("kind", "steps"), [("plan", PLAN_STEPS), ("fail", FAILURE_STEPS)])
def test_the_debate_has_as_many_steps_as_we_kill_it_at(
    undisturbed: Ends, tmp_path: Path, kind: str, steps: int
) -> None:
    survived = run_moot(tmp_path, *session(tmp_path, kind), kill_after=steps + 1)
    assert (survived.returncode, settled(survived.stdout)) == (1, undisturbed[kind][0])
    assert undisturbed["plan"][1] == {"debate-metrics": 2, "day": 7}
    assert undisturbed["fail"][1] == {"debate-metrics": 2, "day": 7, "failures": 2}


@pytest.mark.parametrize(("kind", "step"), KILLS)
def test_killed_after_any_step_a_debate_resumes_to_the_same_resolution(
    undisturbed: Ends, tmp_path: Path, kind: str, step: int
) -> None:
    killed = run_moot(tmp_path, *session(tmp_path, kind), kill_after=step)
    assert killed.returncode == -signal.SIGKILL and not (tmp_path / "memory").exists()
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    for _ in range(2):  # the second time there is nothing left to do, and nothing is written twice
        resumed = run_moot(tmp_path, "resume", listed["id"][:8], "--json")
        assert resumed.returncode == 1, resumed.stderr
        assert settled(resumed.stdout) == undisturbed[kind][0]
    assert remembered(tmp_path) == undisturbed[kind][1]


DIES = """
import os, signal, sys
from moot.edge.files import lines
from moot.__main__ import run

left, write = int(sys.argv[1]), lines.Locked.write

def write_and_die(self, text):
    global left
    left -= 1
    if left == 0 and sys.argv[2] == "torn":
        os.write(self._handle, text.encode()[: len(text) // 2])
    elif left >= 0:
        write(self, text)
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

lines.Locked.write = write_and_die
sys.exit(run(sys.argv[3:], debug=False))
"""


@pytest.mark.parametrize("write", [1, 2, 3])
def test_killed_after_any_write_to_the_memory_nothing_is_doubled(undisturbed: Ends, tmp_path: Path, write: int) -> None:
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db"), "MOOT_VET_MEMORY": str(tmp_path / "memory")}
    command = [sys.executable, "-c", DIES, str(write), "whole", *session(tmp_path, "fail")]
    assert subprocess.run(command, cwd=tmp_path, env=env, capture_output=True).returncode == -signal.SIGKILL
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    assert settled(run_moot(tmp_path, "resume", listed["id"], "--json").stdout) == undisturbed["fail"][0]
    assert remembered(tmp_path) == undisturbed["fail"][1]


def test_killed_in_the_middle_of_a_write_the_line_is_written_again(undisturbed: Ends, tmp_path: Path) -> None:
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db"), "MOOT_VET_MEMORY": str(tmp_path / "memory")}
    command = [sys.executable, "-c", DIES, "2", "torn", *session(tmp_path, "fail")]
    assert subprocess.run(command, cwd=tmp_path, env=env, capture_output=True).returncode == -signal.SIGKILL
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    run_moot(tmp_path, "resume", listed["id"], "--json")
    stats = json.loads(run_moot(tmp_path, "vet", "stats", "--json").stdout)
    assert (stats["debates"], stats["unreadable"]) == (1, 1)


def test_ctrl_c_exits_130_and_nothing_is_remembered_until_it_is_carried_on(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        "import pathlib, sys, time\nasked = sys.stdin.read()\npathlib.Path('asked').touch()\n"
        "while not pathlib.Path('go').exists(): time.sleep(0.01)\n"
        f"print({claim()!r} if 'Speak for it' in asked else {objection('low', '')!r})\n"
    )
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db"), "MOOT_VET_MEMORY": str(tmp_path / "memory")}
    command = [sys.executable, "-m", "moot", "vet", ACTION, "-m", f"cmd:{sys.executable} slow.py"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for_file(tmp_path / "asked")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, err
    assert out.startswith("ESCALATE") and "moot resume " in err and not (tmp_path / "memory").exists()
    (tmp_path / "go").touch()
    resumed = run_moot(tmp_path, "resume", err.rsplit("moot resume ", 1)[1].split()[0], "--json")
    assert (resumed.returncode, json.loads(resumed.stdout)["resolution"]) == (0, "PROCEED")
    assert remembered(tmp_path) == {"debate-metrics": 2, "day": 7}
