"""Kill -9 after every recorded step of a solve, resume: the same result, and lessons are judged and learnt once."""

import json
import signal
from pathlib import Path

import pytest
from kit import run_moot, settled
from solve_kit import REFUSAL, RIGHT, WORSE, WRONG, code, coder, reflection, reflector, world

STEPS = 32  # test_the_session_has_as_many_steps keeps this true
ADVICE = "Think of the empty list and of one number before writing a loop over numbers"


def session(folder: Path) -> list[str]:
    """All kinds of steps: a lesson that is told, an unreadable reply, three attempts, a lesson that is learnt."""
    run_moot(folder, "lessons", "add", ADVICE)
    return world(
        folder,
        *coder(code(WORSE), REFUSAL, code(WRONG), code(RIGHT)),
        *reflector(reflection("Use the function of the language that finds the largest number."), reflection()),
    )


def lessons(folder: Path) -> list[tuple[object, ...]]:
    told = json.loads(run_moot(folder, "lessons", "list", "--json").stdout)
    return sorted((lesson["text"], lesson["helped"], lesson["harmed"], len(lesson["origins"])) for lesson in told)


Undisturbed = tuple[dict[str, object], list[tuple[object, ...]]]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    done = run_moot(folder, *session(folder))
    assert done.returncode == 0, done.stderr
    return settled(done.stdout), lessons(folder)


def test_the_session_has_as_many_steps(undisturbed: Undisturbed, tmp_path: Path) -> None:
    survived = run_moot(tmp_path, *session(tmp_path), kill_after=STEPS + 1)
    assert survived.returncode == 0 and settled(survived.stdout) == undisturbed[0]
    assert undisturbed[0]["outcome"] == "solved" and undisturbed[0]["calls"] == 6
    assert [entry[1:3] for entry in undisturbed[1] if entry[0] == ADVICE] == [(0, 1)], "judged by attempt 1 alone"
    assert len(undisturbed[1]) == 3


@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_after_any_step_it_resumes_to_the_same_result(
    undisturbed: Undisturbed, tmp_path: Path, step: int
) -> None:
    killed = run_moot(tmp_path, *session(tmp_path), kill_after=step)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == ""
    (listed,) = json.loads(run_moot(tmp_path, "list", "--json").stdout)
    resumed = run_moot(tmp_path, "resume", listed["id"][:8], "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert settled(resumed.stdout) == undisturbed[0]
    assert lessons(tmp_path) == undisturbed[1]
    episodes = json.loads(run_moot(tmp_path, "lessons", "episodes", "--json").stdout)
    assert [episode["attempt"] for episode in episodes] == [2, 1]
