"""Inspect and Moot: its solver, its scorer, its logs of our runs, and its tasks at our chat endpoint."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from bench_kit import write_script, write_suite
from kit import run_moot
from patience import PATIENCE

from moot.core.errors import UsageError
from moot.surfaces.bench import inspect_log
from moot.surfaces.bench.rows import ArmPlan, BenchRow, RunPlan

needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="not run: Inspect is not installed (pip install 'moot[inspect]')"
)
BEGUN = datetime(2026, 1, 2, tzinfo=UTC)
TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from moot.surfaces.inspect_bridge import tests

DOUBLE = "from solution import double\\n\\ndef test_double():\\n    assert double(4) == 8\\n"
NEG = "def check(candidate):\\n    assert candidate(4) == -4\\n"

@task
def small():
    return Task(dataset=[
        Sample(id="double", input="Write double(n: int), which gives two times n.", target=DOUBLE),
        Sample(id="neg", input="Write neg(n): minus n.", target="", metadata={"tests": NEG, "entry_point": "neg"}),
    ], scorer=tests())
"""
ANSWERS = {
    "double(n": "def double(n: int):\n    return 2 * n\n",
    "neg(n)": "print('1 passed')\ndef neg(n):\n    return 0\n",
}


def write_world(folder: Path) -> dict[str, str]:
    (folder / "small.py").write_text(TASK)
    entries = [{"contains": words, "reply": f"```python\n{code}```", "always": True} for words, code in ANSWERS.items()]
    (folder / "replies.yaml").write_text(json.dumps(entries))
    (folder / "moot.toml").write_text("[debate]\nmax_rounds = 1\n")
    return {**os.environ, "MOOT_STORE": str(folder / "s.db"), "INSPECT_DISPLAY": "none", "INSPECT_LOG_DIR": "logs"}


def run_inspect(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c", "from inspect_ai._cli.main import main; main()", *words]
    return subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE)


def read_log(path: Path) -> Any:
    from inspect_ai.log import read_eval_log

    return read_eval_log(str(path))


def evaluate(folder: Path, env: dict[str, str], *words: str) -> dict[str, Any]:
    done = run_inspect(folder, "eval", "small.py", *words, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "logs").glob("*.eval")
    log = read_log(path)
    assert log.status == "success", log.error
    return {sample.id: sample for sample in log.samples}


@needs_inspect
def test_the_solver_debates_and_the_scorer_runs_the_samples_tests(tmp_path: Path) -> None:
    env = write_world(tmp_path)
    words = ("--solver", "moot/session", "-S", "model=script:replies.yaml")
    samples = evaluate(tmp_path, env, "--model", "mockllm/model", *words)
    right, wrong = samples["double"], samples["neg"]
    assert right.scores["tests"].value == "C" and right.scores["tests"].answer == ANSWERS["double(n"]
    # It prints that it passed, and it is wrong.
    assert wrong.scores["tests"].value == "I" and "1 of 1 hidden tests fail" in wrong.scores["tests"].explanation
    kept = right.metadata["moot"]
    assert kept["protocol"] == "debate" and kept["calls"] == kept["usage"]["script:replies.yaml"]["calls"] > 1
    spent = kept["usage"]["script:replies.yaml"]
    assert right.output.usage.total_tokens == spent["input_tokens"] + spent["output_tokens"] > 0
    shown = run_moot(tmp_path, "show", kept["session_id"], "--json")
    assert shown.returncode == 0 and json.loads(shown.stdout)["session"]["id"] == kept["session_id"]


@needs_inspect
def test_a_session_that_fails_is_an_error_of_the_sample_and_no_score(tmp_path: Path) -> None:
    env = write_world(tmp_path)
    words = ("--solver", "moot/session", "-S", "model=script:none.yaml")
    done = run_inspect(tmp_path, "eval", "small.py", "--model", "mockllm/model", *words, **env)
    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_log(path)
    assert log.status == "error" and "none.yaml" in str(log.error) + done.stderr
    assert not any(sample.scores for sample in log.samples or ())


@needs_inspect
def test_a_task_of_inspect_runs_against_the_chat_endpoint(tmp_path: Path) -> None:
    env = write_world(tmp_path)
    program = [sys.executable, "-m", "moot", "serve", "--port", "0", "--quiet"]
    serve_env = {**env, "MOOT_MODEL": "script:replies.yaml"}
    with subprocess.Popen(program, cwd=tmp_path, env=serve_env, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"(http://\S+)/\?token=(\S+)", server.stderr.readline())
            assert found is not None
            reach = {"MOOT_BASE_URL": f"{found[1]}/v1", "MOOT_API_KEY": found[2]}
            words = ("--model", "openai-api/moot/debate")
            samples = evaluate(tmp_path, {**env, **reach}, *words)
        finally:
            server.terminate()
            server.wait(PATIENCE)
    assert samples["double"].scores["tests"].value == "C" and samples["neg"].scores["tests"].value == "I"
    assert "def double" in samples["double"].output.completion
    assert samples["double"].model_usage["openai-api/moot/debate"].total_tokens > 0


@needs_inspect
def test_a_run_is_exported_as_a_log_that_inspect_reads(tmp_path: Path) -> None:
    write_suite(tmp_path)
    words = ("bench", "run", "custom", "tasks", "--name", "one", "--arm", "single", "--arm", "adaptive")
    ran = run_moot(tmp_path, *words, "-m", write_script(tmp_path), "--yes", "--json")
    assert ran.returncode == 0, ran.stderr
    done = run_moot(tmp_path, "bench", "export", "one", "--inspect", "logs/one.eval")
    assert done.returncode == 0, done.stderr
    log = read_log(tmp_path / "logs/one.eval")
    rows = [json.loads(line) for line in (tmp_path / ".moot/bench/one/rows.jsonl").read_text().splitlines()]
    assert log.status == "success" and {sample.id for sample in log.samples} == {row["task"] for row in rows}
    for row in rows:
        (sample,) = [sample for sample in log.samples if sample.id == row["task"]]
        score = sample.scores[row["arm"]]
        assert (score.value, score.answer, score.explanation) == (
            "C" if row["right"] else "I",
            row["answer"],
            row["why"],
        )
        assert (score.metadata["session"], score.metadata["calls"]) == (row["session"], row["calls"])
    for arm in log.results.scores:
        verdicts = [row["right"] for row in rows if row["arm"] == arm.name]
        assert arm.metrics["accuracy"].value == pytest.approx(sum(verdicts) / len(verdicts))
    dumped = run_inspect(tmp_path, "log", "dump", "logs/one.eval", **os.environ)
    assert json.loads(dumped.stdout)["eval"]["task"] == "moot/custom"
    again = run_moot(tmp_path, "bench", "export", "one", "--inspect", "logs/one.eval")
    assert again.returncode == 2 and "exists already" in again.stderr


def make_plan(*tasks: str) -> RunPlan:
    arms = (ArmPlan(name="single"), ArmPlan(name="adaptive"))
    return RunPlan(id="r1", name="one", suite="custom", tasks=tasks, digest="d", arms=arms, models=("script:a",))


def make_row(task: str, arm: str, right: bool | None) -> BenchRow:
    return BenchRow(suite="custom", task=task, arm=arm, right=right, prompt="Do it.", answer="done", why="because")


@needs_inspect
def test_a_row_without_a_verdict_is_unscored_and_a_run_that_lacks_rows_is_no_success() -> None:
    rows = [make_row("a", "single", True), make_row("a", "adaptive", None), make_row("b", "single", False)]
    log = inspect_log.build_log(make_plan("a", "b"), rows, BEGUN)
    assert log.status == "cancelled" and log.results.completed_samples == 2
    assert [sorted(sample.scores) for sample in log.samples] == [["single"], ["single"]]
    assert log.samples[0].metadata["unscored"] == {"adaptive": "because"}
    single, adaptive = log.results.scores
    assert single.metrics["accuracy"].value == 0.5 and single.metrics["stderr"].value == pytest.approx(0.5)
    assert adaptive.metrics == {} and adaptive.unscored_samples == 1


def test_an_export_that_cannot_be_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [make_row("a", "single", True)]
    monkeypatch.setattr(inspect_log, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'moot\[inspect\]'"):
        inspect_log.export_run(make_plan("a"), rows, tmp_path / "one.eval", BEGUN)
    monkeypatch.setattr(inspect_log, "find_spec", lambda name: object())
    with pytest.raises(UsageError, match=r"write .*one\.eval"):
        inspect_log.export_run(make_plan("a"), rows, tmp_path / "one.json", BEGUN)
    with pytest.raises(UsageError, match="no rows yet"):
        inspect_log.export_run(make_plan("a"), [], tmp_path / "one.eval", BEGUN)
