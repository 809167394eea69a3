"""`recorded:` models: whole debates out of a pool, in the same order after a crash, and a refusal for all it lacks."""

import asyncio
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from asking import a_call
from kit import run_moot, settled

from moot.core.errors import ModelError, UsageError
from moot.core.ports import Model
from moot.core.types import ModelCall
from moot.edge.models import find_cost, list_status, open_model
from moot.edge.models.pools import QWEN, SOLUTIONS, TASKS, TEAMS, AgentTask, complete_solution, open_pool

DATA = Path(__file__).parents[3] / (os.environ.get("MOOT_DATA") or "../shared/data")
needs_pools = pytest.mark.skipif(
    not all((DATA / name).is_file() for name in (QWEN, TASKS, SOLUTIONS)),
    reason=f"not run: {QWEN}, {TASKS} and {SOLUTIONS} are not in MOOT_DATA",
)
TASK = "Write double(n): twice the number n. It may be negative."
RIGHT, WRONG = "def double(n):\n    return 2 * n\n", "def double(n):\n    return n * n\n"
SLOW = "def double(n):\n    return n + n\n"
TESTS = [[["double(3)", "6"], ["double(-1)", "-2"]], [], [["double(3)", "6"]], [["double(5)", "10"]]]
HIDDEN = "from solution import double\n\n\ndef test_double():\n    assert double(7) == 14\n"


ONE_BY_ONE = "[debate]\nreserve = 4\n"


def write_pool(folder: Path, *drafts: str, tests: Any = TESTS, task: str = TASK) -> None:
    row = {"task_id": "own/1", "mode": "bare", "entry_point": "double", "prompt": task, "drafts": drafts}
    with gzip.open(folder / QWEN, "wt", encoding="utf-8") as file:
        file.write(json.dumps({**row, "tests": tests, "right": [draft != WRONG for draft in drafts]}) + "\n")


def run_debate(folder: Path, *more: str, task: str = TASK, **how: Any) -> dict[str, Any]:
    (folder / "hidden.py").write_text(HIDDEN)
    words = ("debate", task, "-m", "recorded:qwen", "--hidden-tests", "hidden.py", "--json", *more)
    ran = run_moot(folder, *words, MOOT_DATA=str(folder), **how)
    return {**(json.loads(ran.stdout) if ran.stdout else {}), "exit": ran.returncode, "told": ran.stderr}


def ask_model(name: str, env: dict[str, str], *calls: ModelCall) -> list[str]:
    async def ask() -> list[str]:
        model = open_model(name, env=env, timeout=5.0)
        return [await say(model, call) for call in calls]

    return asyncio.run(ask())


async def say(model: Model, call: ModelCall) -> str:
    try:
        return (await model.reply(call)).text
    except ModelError as error:
        assert error.kind == "refused" and not error.retryable
        return f"refused: {error}"


def draft_call(task: str = TASK, seat: str = "proposer", **more: Any) -> ModelCall:
    words = f"Solve this task in python.\n\n```text\n{task}\n```\n\nAnswer.\n\nAPPROACH: <how>\nLIMITS: <where>\n\n"
    return a_call(f"{words}```python\n<the complete code of solution.py>\n```", seat=seat, phase="proposal", **more)


def test_a_debate_takes_its_drafts_and_tests_out_of_the_pool_in_their_order(tmp_path: Path) -> None:
    write_pool(tmp_path, WRONG, RIGHT, SLOW, RIGHT, RIGHT)
    result = run_debate(tmp_path)
    first = [candidate["text"] for candidate in result["candidates"][:3]]
    assert first == [f"recorded draft {number} of 5" for number in (1, 2, 3)]
    assert [candidate["code"] for candidate in result["candidates"][:3]] == [WRONG, RIGHT, SLOW]
    assert {claim["call"] for claim in result["claims"]} <= {"double(3)", "double(-1)", "double(5)"} and result[
        "claims"
    ]
    assert result["code"] in (RIGHT, SLOW) and result["hidden"]["outcomes"][0]["status"] == "passed"
    spent = result["usage"]["recorded:qwen"]
    assert spent["usd"] == 0 and spent["input_tokens"] > 100 and spent["output_tokens"] > 10


def test_killed_and_resumed_it_gives_every_seat_the_same_draft_again(tmp_path: Path) -> None:
    task = f"{TASK} double(3) == 6"  # no draft of the first two passes it: more are asked for, one by one
    drafts = WRONG, f"{WRONG}\n# 2\n", f"{WRONG}\n# 3\n", f"{WRONG}\n# 4\n", RIGHT, SLOW
    write_pool(tmp_path, *drafts, task=task)
    (tmp_path / "moot.toml").write_text(ONE_BY_ONE)
    whole = settled(json.dumps(run_debate(tmp_path, "--drafts", "2", task=task)))
    assert {candidate["code"] for candidate in whole["candidates"]} >= {drafts[0], drafts[3]}
    for kill in range(2, 14, 2):
        folder = tmp_path / str(kill)
        folder.mkdir()
        write_pool(folder, *drafts, task=task)
        (folder / "moot.toml").write_text(ONE_BY_ONE)
        assert run_debate(folder, "--drafts", "2", task=task, kill_after=kill)["exit"] not in (0, 1)
        (listed,) = json.loads(run_moot(folder, "list", "--json").stdout)
        again = run_moot(folder, "resume", listed["id"], "--json", MOOT_DATA=str(folder))
        told = settled(again.stdout)
        assert told["candidates"] and told == {name: whole[name] for name in told}, kill


def test_a_pool_run_dry_leaves_seats_absent_and_says_so(tmp_path: Path) -> None:
    write_pool(tmp_path, RIGHT, tests=[])
    result = run_debate(tmp_path)
    assert len({candidate["code"] for candidate in result["candidates"]}) == 1
    dry = "draft 2 of own/1 was asked for, and the pool 'qwen' has 1"
    assert any("absent, refused" in note and dry in note for note in result["degraded"])
    assert any("tests reply 1 of own/1 was asked for, and the pool 'qwen' has 0" in note for note in result["degraded"])


@pytest.mark.parametrize("task", ["Write triple(n).", f"{TASK} Zero is an error.", f"{TASK}\n```\n{TASK}"])
def test_a_task_that_is_not_word_for_word_in_the_pool_gets_no_answer(tmp_path: Path, task: str) -> None:
    write_pool(tmp_path, RIGHT, RIGHT, RIGHT)
    result = run_debate(tmp_path, task=task)
    assert result["exit"] == 2 and result["candidates"] == [] and result["code"] == ""
    assert any("the task of this question is not in the pool 'qwen'" in note for note in result["degraded"])


def test_what_mends_or_judges_other_work_is_refused(tmp_path: Path) -> None:
    task = f"{TASK} double(3) == 6"
    write_pool(tmp_path, WRONG, WRONG, WRONG, WRONG, WRONG, WRONG, WRONG, tests=[[]] * 10, task=task)
    result = run_debate(tmp_path, "--spend", "fixed", task=task)
    codes = [candidate["code"] for candidate in result["candidates"] if candidate["text"].startswith("recorded")]
    assert set(codes) == {WRONG} and len(codes) < 7 and result["exit"] == 1
    assert any("a pool has drafts and tests only, nothing for this question" in note for note in result["degraded"])


def test_every_session_begins_with_the_first_draft_and_skips_what_was_answered(tmp_path: Path) -> None:
    write_pool(tmp_path, WRONG, RIGHT, SLOW)
    env = {"MOOT_DATA": str(tmp_path)}

    async def numbers(skipped: int) -> list[str]:
        model = open_model("recorded:qwen", env=env, timeout=5.0)
        for _ in range(skipped):
            model.skip(draft_call())
        async with asyncio.TaskGroup() as group:
            said = [group.create_task(say(model, draft_call(seat=f"s{number}"))) for number in range(3)]
        return [task.result().partition("\n")[0] for task in said]

    every = [f"APPROACH: recorded draft {number} of 3" for number in (1, 2, 3)]
    assert asyncio.run(numbers(0)) == every == asyncio.run(numbers(0))
    after = asyncio.run(numbers(2))
    assert after[0] == every[2] and all("refused: " in text for text in after[1:])


def test_a_complaint_about_a_reply_takes_no_draft_of_another_seat(tmp_path: Path) -> None:
    write_pool(tmp_path, WRONG, RIGHT)
    call = draft_call()
    again = call.model_copy(
        update={"prompt": f"{call.prompt}\n\nYour last reply could not be used: why. Answer again."}
    )
    first, refused, second = ask_model(
        "recorded:qwen", {"MOOT_DATA": str(tmp_path)}, call, again, draft_call(seat="critic")
    )
    assert WRONG in first and "has no second one" in refused and RIGHT in second


def test_the_form_is_the_one_that_is_asked_for(tmp_path: Path) -> None:
    write_pool(tmp_path, "```\nodd\n```", RIGHT)
    schema = {"properties": {"tests": {"type": "array", "items": {"type": "string"}}}}
    other = {"properties": {"answers": {"type": "object"}}}
    asked = f"Write tests.\n\n```text\n{TASK}\n```"
    fenced, tests, refused = ask_model(
        "recorded:qwen", {"MOOT_DATA": str(tmp_path)}, draft_call(), a_call(asked, json_schema=schema),
        a_call(asked, json_schema=other),
    )  # fmt: skip
    assert fenced == "APPROACH: recorded draft 1 of 2\nLIMITS: NONE\n\n````python\n```\nodd\n```\n````"
    assert json.loads(tests) == {"tests": ["double(3) == 6", "double(-1) == -2"]}
    assert refused.startswith("refused: ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recorded:qwen", f"{QWEN} is not in '.*'; set MOOT_DATA"),
        ("recorded:humaneval/five-strong", f"{TASKS} is not in "),
        ("recorded:gpt", "unknown pool 'gpt'; known are qwen, humaneval/AGENT, humaneval/five-strong"),
        ("recorded:none.jsonl.gz", "the pool 'none.jsonl.gz' does not exist"),
    ],
)
def test_a_pool_that_is_not_here_is_named_before_anything_starts(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        open_model(name, env={"MOOT_DATA": str(tmp_path)}, timeout=1.0)
    (status,) = [status for status in list_status({"MOOT_DATA": str(tmp_path)}) if status.name == "recorded"]
    assert not status.usable and "set MOOT_DATA" in status.note
    assert find_cost(name, {}, 1000, 1000) == 0.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b'{"task_id": "a", "prompt": "b"}\n', "line 1 of .* is no row of a pool: drafts"),
        (b'{"task_id": "a", "prompt": "b", "drafts": ["c"]}\n{"task', "cannot be read after line 2"),
    ],
)
def test_a_broken_pool_is_no_pool(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "own.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(UsageError, match=said):
        open_pool(str(path), {})
    path.write_bytes(gzip.compress(content)[:-4])
    with pytest.raises(UsageError):
        open_pool(str(path), {})


def test_an_agent_that_went_on_and_one_that_wrote_anew_both_give_a_program() -> None:
    head = "import math\n\n\ndef help_me(n):\n    return n\n\n\n"
    task = AgentTask(task_id="t", prompt=f'{head}def twice(n):\n    """Twice."""\n', entry_point="twice")
    for solution in ("    return help_me(n) * 2\n", "def twice(n):\n    return help_me(n) + help_me(n)\n"):
        names: dict[str, Any] = {}
        exec(complete_solution(task, solution), names)
        assert names["twice"](4) == 8
        assert complete_solution(task, solution).count("def twice") == 1


@needs_pools
def test_the_real_pools_answer_all_their_tasks() -> None:
    env = {"MOOT_DATA": str(DATA)}
    pool = open_pool("qwen", env)
    assert len(pool.tasks) == 538 and {len(task.drafts) for task in pool.tasks.values()} == {20}
    texts = list(pool.tasks)
    said = ask_model("recorded:qwen", env, *(draft_call(text) for text in texts))
    assert all(pool.tasks[text].drafts[0].strip() in reply for text, reply in zip(texts, said, strict=True))
    strong = open_pool("humaneval/five-strong", env)
    assert len(strong.tasks) == 164 and {len(task.drafts) for task in strong.tasks.values()} == {5}
    alone = open_pool(f"humaneval/{TEAMS['five-strong'][1]}", env)
    assert all(strong.tasks[text].drafts[1] == task.drafts[0] for text, task in alone.tasks.items())
    with pytest.raises(UsageError, match="has no solutions of 'gpt-9'; known are five-strong, six-weak, agentcoder"):
        open_pool("humaneval/gpt-9", env)


@needs_pools
def test_a_debate_of_five_published_agents_passes_the_hidden_tests(tmp_path: Path) -> None:
    with gzip.open(DATA / TASKS, "rt", encoding="utf-8") as lines:
        row = json.loads(next(lines))
    (tmp_path / "hidden.py").write_text(row["test"])
    model = "recorded:humaneval/five-strong"
    words = ("debate", row["prompt"], "-m", model, "--hidden-tests", "hidden.py", "--drafts", "5", "--json")
    result = json.loads(run_moot(tmp_path, *words, MOOT_DATA=str(DATA)).stdout)
    assert result["outcome"] == "agreed" and result["hidden"]["outcomes"][0]["status"] == "passed"
    assert "has_close_elements" in result["code"] and result["usage"][model]["usd"] == 0
