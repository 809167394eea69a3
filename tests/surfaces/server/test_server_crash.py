"""Servers killed -9 at random moments, eighty of them: every session ends as if nothing had happened, nothing
recorded is asked again, the gate is decided once, and the chain holds."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from kit import settled

HERE = Path(__file__).parent
KILLS = 15  # on each store; `benchmarks.run_fleet` kills 200 times


def killed(folder: Path, store: str, seed: int, kills: int) -> list[dict[str, Any]]:
    program = [sys.executable, str(HERE / "killed_server.py"), store, str(seed), str(kills)]
    paths = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("undisturbed")
    (ran,) = killed(folder, str(folder / "s.db"), 0, 0)
    return ran


def test_killed_at_random_every_session_ends_as_if_undisturbed(
    undisturbed: dict[str, Any], place: str, tmp_path: Path
) -> None:
    runs = killed(tmp_path, place, 2026, KILLS)
    assert sum(ran["killed"] for ran in runs) >= KILLS
    for ran in runs:
        assert settled(ran["result"]) == settled(undisturbed["result"])
        assert ran["flaws"] == []
        assert (ran["decided"], ran["gates"]) == (1, [["approved", "local"]])
        assert ran["approved"].count(200) <= 1 and set(ran["approved"]) <= {200, 409}
        assert sorted(name for _, name in ran["recorded"]) == sorted(name for _, name in undisturbed["recorded"])
        for server, name in ran["recorded"]:
            life = ran["servers"].index(server)
            asked = [ran["servers"].index(who) for who, what in ran["asked"] if what == name]
            assert asked.count(life) == 1 and max(asked) == life, (name, "was asked again after it was recorded")
