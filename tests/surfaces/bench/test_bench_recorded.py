"""A benchmark on recorded models: tasks in the words of the pool, and what a run says when nobody answered."""

import gzip
import json
from pathlib import Path

import pytest
from bench_kit import ADD, DOUBLE, SQUARE, read_rows, run_bench, say, write_suite
from kit import run_moot

from moot.edge.models.pools import QWEN, find_data_folder

BARE, SHOWN = "Give double(n): two times n.", "Give double(n): two times n.\n\n    double(3) -> 6"
ARMS = ("--arm", "single", "--arm", "vote", "--answers", "3")


def write_pool(folder: Path) -> None:
    rows = [
        {"task_id": "double", "mode": "bare", "prompt": BARE, "drafts": [SQUARE, SQUARE, DOUBLE], "tests": []},
        {"task_id": "double", "mode": "examples", "prompt": SHOWN, "drafts": [SQUARE, DOUBLE, DOUBLE], "tests": []},
        {"task_id": "elsewhere", "mode": "examples", "prompt": "Give add(a, b).", "drafts": [ADD], "tests": []},
    ]
    with gzip.open(folder / QWEN, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.mark.parametrize(("flags", "words", "voted"), [((), SHOWN, True), (("--no-examples",), BARE, False)])
def test_a_recorded_model_is_asked_in_the_words_of_its_pool(
    tmp_path: Path, flags: tuple[str, ...], words: str, voted: bool
) -> None:
    """Two of the suite's three tasks are not in the pool: no model was ever asked them, so they are not wrong."""
    write_suite(tmp_path)
    write_pool(tmp_path)
    run = ("run", "custom", "tasks", "-m", "recorded:qwen", "--name", "one", *ARMS, *flags)
    done = run_moot(tmp_path, "bench", *run, MOOT_DATA=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "words of the tasks: as they were when the model was recorded" in done.stdout
    rows = read_rows(tmp_path)
    assert {(row["arm"], row["task"], row["right"]) for row in rows} == {
        ("single", "double", False),
        ("vote", "double", voted),
    }
    assert {row["prompt"] for row in rows} == {words} and {row["calls_failed"] for row in rows} == {0}
    again = run_moot(tmp_path, "bench", "run", "custom", "--name", "one", "--resume", MOOT_DATA=str(tmp_path))
    assert again.returncode == 0, again.stderr


def test_a_suite_that_a_pool_does_not_know_is_refused(tmp_path: Path) -> None:
    write_pool(tmp_path)
    (tmp_path / "tasks/other").mkdir(parents=True)
    (tmp_path / "tasks/other/task.md").write_text("Give other(n).")
    (tmp_path / "tasks/other/test_other.py").write_text("from solution import other\n")
    run = ("run", "custom", "tasks", "-m", "recorded:qwen")
    done = run_moot(tmp_path, "bench", *run, MOOT_DATA=str(tmp_path))
    assert done.returncode == 2 and "the pool qwen has no task of this suite" in done.stderr
    assert not (tmp_path / ".moot").exists()


def test_the_data_folder_does_not_hang_on_where_moot_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = find_data_folder({})
    monkeypatch.chdir(tmp_path)
    assert find_data_folder({}) == before and find_data_folder({"MOOT_DATA": "sets"}) == tmp_path / "sets"


def test_a_task_that_no_model_answered_is_wrong_and_said(tmp_path: Path) -> None:
    write_suite(tmp_path)
    entries = [
        {"contains": "add(a, b)", "reply": say(ADD), "always": True},
        {"contains": "double(n", "error": "refused", "always": True},
        {"contains": "neg(n)", "error": "refused", "always": True},
    ]
    (tmp_path / "replies.yaml").write_text(json.dumps(entries))
    run = ("run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", "script:replies.yaml")
    done = run_bench(tmp_path, *run)
    assert done.returncode == 0, done.stderr
    assert "single: no model answered on 2 tasks, counted as wrong: generator" in done.stdout


def test_empty_replies_are_no_wrong_answers(tmp_path: Path) -> None:
    write_suite(tmp_path)
    done = run_bench(tmp_path, "run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", "cmd:true")
    assert done.returncode == 0, done.stderr
    said = "no usable answer on 3 tasks, counted as wrong: generator, round 1: absent, unreadable: the reply is empty"
    assert f"single: {said}" in done.stdout


def test_a_run_without_a_verdict_has_measured_nothing(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text(json.dumps([{"reply": "none", "always": True}]))
    row = {
        "instance_id": "a__b-1", "repo": "a/b", "base_commit": "0" * 40, "problem_statement": "x", "patch": "",
        "test_patch": "", "FAIL_TO_PASS": "[]", "PASS_TO_PASS": "[]",
    }  # fmt: skip
    (tmp_path / "instances.jsonl").write_text(json.dumps(row) + "\n")
    run = ("run", "swe_bench", "instances.jsonl", "--repos", ".", "--arm", "single", "-m", "script:replies.yaml")
    done = run_bench(tmp_path, *run)
    assert done.returncode == 2 and done.stdout.startswith("Nothing was measured: no task has a verdict"), done.stderr


def test_a_model_that_cannot_be_opened_is_said_before_the_question(tmp_path: Path) -> None:
    done = run_bench(tmp_path, "quick", "-m", "script:nowhere.yaml")
    assert done.returncode == 2 and "nowhere.yaml" in done.stderr and not done.stdout
    assert not (tmp_path / ".moot").exists()


def test_an_estimate_counts_one_call_for_an_answer(tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "replies.yaml").write_text("[]")
    done = run_bench(tmp_path, "run", "custom", "tasks", "-m", "script:replies.yaml", "--estimate", "--json")
    arms = {arm["arm"]: arm for arm in json.loads(done.stdout)["arms"]}
    assert arms["single"]["calls"] == 3 and arms["adaptive"]["calls"] == 15 == arms["answers"]["calls"]
    assert arms["adaptive"]["calls_most"] > arms["adaptive"]["calls"]
