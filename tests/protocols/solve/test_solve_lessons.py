"""What one session learns another is told, and what came of it decides what the lesson is worth."""

import json
from pathlib import Path
from typing import Any

from conftest import Cli
from solve_kit import RIGHT, TESTS, WRONG, code, coder, reflection, reflector, world

LESSON = "Check whether the list is empty before taking the largest number of it in the function."
SMALLEST = "Write smallest(numbers): the smallest number of a list, or None where it is empty."
SMALLEST_TESTS = TESTS.replace("largest", "smallest").replace("== 3", "== 1")
CAREFUL = "def smallest(numbers):\n    return min(numbers, default=None)\n"
CARELESS = "def smallest(numbers):\n    return min(numbers)\n"


def first_session(cli: Cli, folder: Path) -> dict[str, Any]:
    ran = cli(*world(folder, *coder(code(WRONG), code(RIGHT)), *reflector(reflection())))
    return dict(json.loads(ran.out))


def second_session(cli: Cli, folder: Path, *more: str) -> dict[str, Any]:
    """A coder that thinks of the empty list only if it is told to."""
    entries = [*coder(code(CAREFUL), contains=LESSON), *coder(code(CARELESS))]
    command = world(folder, *entries, tests=SMALLEST_TESTS)
    command[1] = SMALLEST
    return dict(json.loads(cli(*command, "--attempts", "1", *more).out))


def test_a_lesson_of_one_session_changes_prompt_and_outcome_of_the_next(cli: Cli, tmp_path: Path) -> None:
    without = second_session(cli, tmp_path)
    assert (without["outcome"], without["lessons_told"]) == ("unsolved", [])
    first = first_session(cli, tmp_path)
    (learnt,) = first["lessons_learnt"]
    assert learnt["text"] == LESSON and "`largest`" not in learnt["text"], "without the task's own name"
    after = second_session(cli, tmp_path)
    assert (after["outcome"], after["code"]) == ("solved", CAREFUL)
    (told,) = after["lessons_told"]
    assert (told["id"], told["text"], told["verdict"]) == (learnt["id"], LESSON, "helped")
    kept = json.loads(cli("lessons", "show", learnt["id"], "--json").out)
    assert (kept["uses"], kept["helped"], kept["harmed"]) == (1, 1, 0)
    (origin,) = kept["origins"]
    assert origin["session_id"] == first["session_id"] and origin["agent"] == "reflector@script:replies.yaml"


def test_lessons_can_be_left_out(cli: Cli, tmp_path: Path) -> None:
    first_session(cli, tmp_path)
    result = second_session(cli, tmp_path, "--lessons", "0")
    assert (result["outcome"], result["lessons_told"]) == ("unsolved", [])


def test_a_lesson_after_which_nothing_passes_is_held_against_it(cli: Cli, tmp_path: Path) -> None:
    learnt = first_session(cli, tmp_path)["lessons_learnt"][0]
    command = world(tmp_path, *coder(code("smallest = None\n")), tests=SMALLEST_TESTS)
    command[1] = SMALLEST
    result = json.loads(cli(*command, "--attempts", "1").out)
    assert [told["verdict"] for told in result["lessons_told"]] == ["harmed"]
    assert json.loads(cli("lessons", "show", learnt["id"], "--json").out)["harmed"] == 1


def test_an_attempt_between_all_and_nothing_says_nothing_of_a_lesson(cli: Cli, tmp_path: Path) -> None:
    learnt = first_session(cli, tmp_path)["lessons_learnt"][0]
    command = world(tmp_path, *coder(code(CARELESS)), tests=SMALLEST_TESTS)
    command[1] = SMALLEST
    result = json.loads(cli(*command, "--attempts", "1").out)
    assert [told["verdict"] for told in result["lessons_told"]] == ["open"]
    assert json.loads(cli("lessons", "show", learnt["id"], "--json").out)["uses"] == 0


def test_a_reflection_after_which_nothing_got_better_is_no_lesson(cli: Cli, tmp_path: Path) -> None:
    entries = [*coder(code(WRONG), code(WRONG), code(WRONG)), *reflector(reflection(), reflection())]
    result = json.loads(cli(*world(tmp_path, *entries)).out)
    assert (result["outcome"], result["lessons_learnt"]) == ("unsolved", [])
    assert cli("lessons", "list").out.strip() == "no lessons"


def test_episodes_are_found_by_agent_session_and_likeness(cli: Cli, tmp_path: Path) -> None:
    first = first_session(cli, tmp_path)
    command = world(tmp_path, *coder(code("x = 1\n"), code("x = 2\n")), *reflector(reflection("Define the function.")))
    command[1] = "Turn a title into a slug for an address: slug('A b') -> 'a-b'"
    second = json.loads(cli(*command, "--attempts", "2").out)

    def found(*more: str) -> list[str]:
        return [e["session"] for e in json.loads(cli("lessons", "episodes", "--json", *more).out)]

    both = [second["session_id"], first["session_id"]]
    assert found() == both and found("--limit", "1") == both[:1]
    assert found("--for", "the smallest number of a list") == both[1:]
    assert found("--for", "an address with a title") == both[:1]
    assert found("--session", first["session_id"][:8]) == both[1:]
    assert found("--agent", "reflector") == both and found("--agent", "coder") == []
    (told,) = json.loads(cli("lessons", "episodes", "--session", first["session_id"], "--json").out)
    assert (told["attempt"], told["test_results"], told["confidence"]) == (1, "3 of 4 passed", 0.8)
    assert told["code"] == WRONG and "ValueError" in told["failure_analysis"] and told["time"] and told["turn"]
