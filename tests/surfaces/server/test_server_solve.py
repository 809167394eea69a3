"""Solve over HTTP: a protocol like the others, with tests, code that is there already, a branch and checks."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from option_worlds import commit
from serving_kit import serving
from solve_kit import RIGHT, TESTS, WRONG, code, reflection

from moot.core.types import ModelCall
from moot.testing import ActingModel, Line

TASK = "Write largest(numbers): the largest number of a list, or None."
SOLVE: dict[str, Any] = {
    "protocol": "solve",
    "input": {"task": TASK, "tests": {"test_solution.py": TESTS}},
    "models": "openai:fake",
}


def say(call: ModelCall) -> Line:
    return code(RIGHT) if call.seat == "coder" else reflection()


def test_a_task_is_solved(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            session = await client.begin(SOLVE)
            await client.until(session, "completed")
            found = (await client.get(f"/v1/debates/{session}/results")).json()
            assert (found["outcome"], found["result"]["path"], found["result"]["tests_given"]) == (
                "solved", "solution.py", True,
            )  # fmt: skip

    asyncio.run(scenario())


def test_code_that_is_there_is_run_first(tmp_path: Path) -> None:
    async def scenario() -> None:
        given = {**SOLVE, "input": {**SOLVE["input"], "start": WRONG, "path": "solution.py"}}
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            session = await client.begin(given)
            await client.until(session, "completed")
            found = (await client.get(f"/v1/debates/{session}/results")).json()["result"]
            assert [attempt["number"] for attempt in found["attempts"]] == [0, 1] and found["outcome"] == "solved"

    asyncio.run(scenario())


def test_a_branch_needs_a_server_that_allows_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        (tmp_path / "repo").mkdir()
        (tmp_path / "repo" / "read.me").write_text("A repository.\n")
        commit(tmp_path / "repo")
        wanted = {**SOLVE, "branch": True, "repo": str(tmp_path / "repo")}
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            for body in (wanted, {**SOLVE, "branch": True}, {**SOLVE, "repo": "/nowhere"}):
                answer = await client.post("/v1/debates", body)
                assert answer.status_code == 422 and "allow_local" in answer.text
        async with serving(tmp_path / "s.db", ActingModel(say), server__allow_local=True) as client:
            session = await client.begin(wanted)
            await client.until(session, "completed")
            found = (await client.get(f"/v1/debates/{session}/results")).json()["result"]
            assert found["branch"] == f"debate/{session}"
            assert (tmp_path / "repo" / ".git" / "refs" / "heads" / "debate" / session).is_file()

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.py"])
def test_a_path_stays_inside_the_session(tmp_path: Path, path: str) -> None:
    async def scenario() -> None:
        given = {**SOLVE, "input": {**SOLVE["input"], "start": WRONG, "path": path}}
        async with serving(tmp_path / "s.db", ActingModel(say)) as client:
            assert (await client.post("/v1/debates", given)).status_code == 422

    asyncio.run(scenario())
