"""`moot bench` by its own door: arms, equal cost, resume, what is refused."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from bench_kit import read_rows, run_bench, say, settle_rows, strip_measured, write_script, write_suite
from bench_references import REFERENCES
from kit import in_store, run_moot
from patience import wait_until

import moot

if TYPE_CHECKING:
    from fleetkit import Fleet

RUN = ("run", "custom", "tasks", "--name", "one", "--at-once", "2")


def set_up(folder: Path) -> None:
    write_suite(folder)
    write_script(folder)


def count_sessions(folder: Path) -> int:
    return len(in_store(str(folder / "s.db"), lambda store: store.sessions(limit=100)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    set_up(folder)
    done = run_bench(folder, *RUN, "-m", "script:replies.yaml")
    assert done.returncode == 0, done.stderr
    return folder


def test_every_task_of_every_arm_is_a_session_with_a_verdict_by_hidden_tests(whole: Path) -> None:
    rows = {(row["arm"], row["task"]): row for row in read_rows(whole)}
    assert len(rows) == 12
    assert {task: rows["single", task]["right"] for task in ("add", "double", "neg")} == {
        "add": True, "double": False, "neg": False,
    }  # fmt: skip
    assert all(rows["adaptive", task]["right"] for task in ("add", "double", "neg"))
    assert "all tests passed" in rows["single", "neg"]["answer"] and "assert" in rows["single", "neg"]["why"]
    shown = run_bench(whole, "report", "one")
    assert shown.returncode == 0 and "single" in shown.stdout
    session = rows["adaptive", "add"]["session"]
    assert run_moot(whole, "show", session).returncode == 0
    assert run_moot(whole, "audit", session, "--verify").returncode == 0


def test_a_vote_spends_on_average_what_the_debate_spent(whole: Path) -> None:
    rows = read_rows(whole)
    calls = {
        arm: sum(row["calls"] for row in rows if row["arm"] == arm) for arm in ("adaptive", "vote", "vote+examples")
    }
    assert calls["adaptive"] == calls["vote"] == calls["vote+examples"] > 3
    figures = json.loads((whole / ".moot/bench/one/report.json").read_text())
    assert figures["unequal"] == [] and figures["complete"]


def test_a_vote_of_twenty_asks_twenty_times_and_finds_the_majority(tmp_path: Path) -> None:
    set_up(tmp_path)
    words = ("run", "custom", "tasks", "--name", "one", "--arm", "vote", "--answers", "20", "-m", "script:replies.yaml")
    assert run_bench(tmp_path, *words).returncode == 0
    assert [(row["calls"], row["answers"], row["right"]) for row in read_rows(tmp_path)] == [(20, 20, True)] * 3


def test_arms_of_one_vote_share_their_session(whole: Path) -> None:
    rows = {(row["arm"], row["task"]): row["session"] for row in read_rows(whole)}
    assert rows["vote", "add"] == rows["vote+examples", "add"] != rows["adaptive", "add"]


def kill_and_resume(folder: Path, point: int, *words: str) -> None:
    killed = run_bench(folder, *words, kill_after=point)
    assert killed.returncode in (0, -9)
    if (folder / ".moot/bench/one/run.json").exists():
        done = run_bench(folder, "run", "custom", "--name", "one", "--resume", "--at-once", "2")
    else:
        done = run_bench(folder, *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("point", random.Random(21).sample(range(1, 95), 6))
def test_killed_at_any_point_and_resumed_the_report_is_the_same(whole: Path, tmp_path: Path, point: int) -> None:
    set_up(tmp_path)
    kill_and_resume(tmp_path, point, *RUN, "-m", "script:replies.yaml")
    assert settle_rows(read_rows(tmp_path)) == settle_rows(read_rows(whole))
    reports = [json.loads((each / ".moot/bench/one/report.json").read_text()) for each in (tmp_path, whole)]
    assert strip_measured(reports[0]) == strip_measured(reports[1])
    assert count_sessions(tmp_path) == count_sessions(whole) == 9  # what was begun was carried on, not begun again


@pytest.mark.parametrize("point", [1, 2, 4])
def test_killed_while_seats_are_asked_at_once_a_resumed_session_keeps_its_cap(tmp_path: Path, point: int) -> None:
    """The first of two seats has to be asked again: on resume it is before the other's reply is replayed."""
    set_up(tmp_path)
    script = json.loads((tmp_path / "replies.yaml").read_text())
    unclear = [{**entry, "reply": "Let me think."} if entry.get("seat") == "generator" else entry for entry in script]
    (tmp_path / "replies.yaml").write_text(json.dumps(unclear))
    capped = ("--arm", "vote", "--answers", "5", "--max-calls", "2", "-m", "script:replies.yaml")
    kill_and_resume(tmp_path, point, *RUN, *capped)
    rows = read_rows(tmp_path)
    assert [(row["calls"], row["outcome"]) for row in rows] == [(2, "budget_exhausted")] * 3
    for row in rows:
        audited = run_moot(tmp_path, "audit", row["session"], "--verify")
        assert audited.returncode == 0, audited.stdout + audited.stderr


def test_a_line_that_a_crash_cut_off_is_done_again(whole: Path, tmp_path: Path) -> None:
    set_up(tmp_path)
    assert run_bench(tmp_path, *RUN, "-m", "script:replies.yaml").returncode == 0
    path = tmp_path / ".moot/bench/one/rows.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 40])
    assert run_bench(tmp_path, "run", "custom", "--name", "one", "--resume").returncode == 0
    assert settle_rows(read_rows(tmp_path)) == settle_rows(read_rows(whole))


def test_a_run_is_never_overwritten_and_a_changed_suite_is_not_carried_on(tmp_path: Path) -> None:
    set_up(tmp_path)
    words = ("run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", "script:replies.yaml")
    assert run_bench(tmp_path, *words).returncode == 0
    again = run_bench(tmp_path, *words)
    assert again.returncode == 2 and "--resume" in again.stderr
    (tmp_path / "tasks/add/test_add.py").write_text("def test_add():\n    assert True\n")
    changed = run_bench(tmp_path, "run", "custom", "--name", "one", "--resume")
    assert changed.returncode == 2 and "have changed since the run began" in changed.stderr


def test_a_provider_that_fails_gives_no_wrong_answers(tmp_path: Path) -> None:
    write_suite(tmp_path)
    entries = [{"error": "unavailable", "always": True}]
    (tmp_path / "replies.yaml").write_text(json.dumps(entries))
    (tmp_path / "moot.toml").write_text("retries = 0\n")
    done = run_bench(
        tmp_path, "run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", "script:replies.yaml"
    )
    assert done.returncode == 2 and "--resume" in done.stderr
    assert not (tmp_path / ".moot/bench/one/rows.jsonl").exists() or read_rows(tmp_path) == []
    assert "incomplete" in done.stdout or "missing" in done.stdout


def test_arms_with_one_part_switched_are_compared_with_what_they_were_made_from(tmp_path: Path) -> None:
    set_up(tmp_path)
    done = run_bench(
        tmp_path, "run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", "script:replies.yaml",
        "--max-calls", "6", "--without", "critique", "--only", "self_evolvement", "--set", "drafts=2", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    pairs = [(each["arm"], each["against"]) for each in figures["parts"]]
    assert pairs == [("without critique", "debate"), ("only self_evolvement", "debate"), ("drafts=2", "adaptive")]
    calls = {arm["arm"]: arm["calls"] for arm in figures["arms"]}
    assert 1 < calls["debate"] <= calls["adaptive"] < 6 and 1 < calls["without critique"] <= calls["adaptive"]
    plan = json.loads((tmp_path / ".moot/bench/one/run.json").read_text())
    rules = {arm["name"]: arm["rules"] for arm in plan["arms"]}
    assert rules["only self_evolvement"]["phases"] == ["self_evolvement"]
    assert "critique" not in rules["without critique"]["phases"] and "critique" in rules["debate"]["phases"]
    assert rules["drafts=2"]["drafts"] == 2
    html = (tmp_path / ".moot/bench/one/report.html").read_text()
    assert "What each part changed" in html and html.count("<svg") == 3


def test_an_estimate_asks_nobody_and_a_quick_run_asks_first(tmp_path: Path) -> None:
    set_up(tmp_path)
    told = run_bench(tmp_path, *RUN, "-m", "script:replies.yaml", "--estimate", "--json")
    assert told.returncode == 0 and json.loads(told.stdout)["tasks"] == 3
    assert not (tmp_path / ".moot").exists()
    asked = run_bench(tmp_path, "quick", "-m", "script:replies.yaml", "--limit", "2")
    assert asked.returncode == 2 and "--yes" in asked.stderr and not (tmp_path / ".moot").exists()


def test_two_runs_are_compared_task_by_task(whole: Path, tmp_path: Path) -> None:
    set_up(tmp_path)
    words = ("run", "custom", "tasks", "--name", "two", "--arm", "single", "-m", "script:replies.yaml", "--limit", "2")
    assert run_bench(tmp_path, *words).returncode == 0
    done = run_bench(tmp_path, "compare", str(whole / ".moot/bench/one"), "two", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["tasks"] == 2 and [each["arm"] for each in found["arms"]] == ["single"]
    assert found["sentence"].startswith("Not significant")
    wrong = run_bench(tmp_path, "compare", "two", "nowhere")
    assert wrong.returncode == 2 and "no run 'nowhere'" in wrong.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nonsense", "-m", "script:replies.yaml"), "unknown suite"),
        (("run", "custom", "-m", "script:replies.yaml"), "needs the folder"),
        (("run", "custom", "tasks"), "needs one"),
        (("run", "custom", "tasks", "-m", "script:nowhere.yaml"), "nowhere.yaml"),
        (("run", "custom", "tasks", "-m", "script:replies.yaml", "--arm", "magic"), "unknown arm"),
        (("run", "custom", "tasks", "-m", "script:replies.yaml", "--only", "sleep"), "unknown phase"),
        (("run", "custom", "tasks", "-m", "script:replies.yaml", "--topology", "ring"), "topology ring"),
        (("run", "custom", "tasks", "-m", "script:replies.yaml", "--set", "bogus=1"), "rule of debate"),
        (("run", "custom", "tasks", "-m", "script:replies.yaml", "--equal", "luck"), "--equal"),
        (("run", "custom", "--resume"), "--name"),
        (("run", "human_eval", "tasks", "-m", "script:replies.yaml"), "its own data set, not tasks"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_begins(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    set_up(tmp_path)
    done = run_bench(tmp_path, *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
    assert not (tmp_path / ".moot").exists() or not list((tmp_path / ".moot").rglob("run.json"))


def test_ctrl_c_stops_in_order_and_says_how_to_go_on(whole: Path, tmp_path: Path) -> None:
    """The signal comes while sessions are under way: a row is there, and many are missing."""
    set_up(tmp_path)
    script = json.loads((tmp_path / "replies.yaml").read_text())
    (tmp_path / "replies.yaml").write_text(json.dumps([{**entry, "delay_s": 1.0} for entry in script]))
    env = {**os.environ, "MOOT_STORE": str(tmp_path / "s.db")}
    command = [sys.executable, "-m", "moot", "bench", *RUN, "-m", "script:replies.yaml"]
    running = subprocess.Popen(
        command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    rows = tmp_path / ".moot/bench/one/rows.jsonl"
    wait_until(rows.exists, "no row was written")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "moot bench run custom --name one --resume" in err and "missing" in out
    (tmp_path / "replies.yaml").write_text(json.dumps(script))
    assert run_bench(tmp_path, "run", "custom", "--name", "one", "--resume").returncode == 0
    assert settle_rows(read_rows(tmp_path)) == settle_rows(read_rows(whole))


def test_a_quick_run_answers_in_one_sentence(tmp_path: Path) -> None:
    names = {
        "slug": "slug(title", "roman": "to_roman(", "intervals": "merge(intervals", "runs": "compress(text",
        "workdays": "workdays(first", "brackets": "first_mismatch(", "words": "top_words(", "duration": "seconds(text",
        "wrap": "wrap(text", "window": "moving_median(",
    }  # fmt: skip
    entries = [{"contains": words, "reply": say(REFERENCES[name]), "always": True} for name, words in names.items()]
    (tmp_path / "replies.yaml").write_text(json.dumps(entries))
    done = run_bench(
        tmp_path, "quick", "-m", "script:replies.yaml", "--yes", "--limit", "3", "--max-calls", "4", "--name", "one"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No difference: adaptive and ")
    assert all(row["right"] for row in read_rows(tmp_path))


def test_a_budget_in_dollars_needs_prices(tmp_path: Path) -> None:
    set_up(tmp_path)
    done = run_bench(tmp_path, *RUN, "-m", "openai:gpt-nobody-knows", "--budget", "1")
    assert done.returncode == 2 and "price" in done.stderr


def test_a_spent_budget_stops_the_run_and_a_resumed_one_goes_no_further(tmp_path: Path) -> None:
    set_up(tmp_path)
    done = run_bench(tmp_path, *RUN, "-m", "script:replies.yaml", "--budget", "0")
    assert done.returncode == 2 and "budget" in done.stderr and "--resume" in done.stderr


def test_the_library_judges_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(judge_one_result(tmp_path, monkeypatch))


async def judge_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = (tmp_path / "tasks/neg/task.md").read_text()
    result = await moot.debate(words, moot.DebateRules(max_rounds=1), model="script:replies.yaml", keep=False)
    score = await moot.evaluate_debate_result(result, "custom", task="neg", folder="tasks")
    assert (score.right, score.correctness, score.security) == (True, 1.0, 1.0)
    assert score.test_coverage == 1.0 and score.maintainability is not None and score.calls == result.calls
    cheat = result.model_copy(update={"code": "print('all tests passed')\ndef neg(n):\n    return 0\n"})
    wrong = await moot.evaluate_debate_result(cheat, "custom", tests="tasks/neg/test_neg.py")
    assert (wrong.right, wrong.correctness) == (False, 0.0) and wrong.harmed
    with pytest.raises(moot.UsageError, match="unknown benchmark type"):
        await moot.evaluate_debate_result(result, "vibes")
    with pytest.raises(moot.UsageError, match="no task 'sub'"):
        await moot.evaluate_debate_result(result, "custom", task="sub", folder="tasks")


def test_with_a_fleet_the_workers_run_the_sessions(fleet: "Fleet", tmp_path: Path) -> None:
    set_up(tmp_path)
    worker = fleet.worker("--concurrency", "4")
    fleet.wait("the worker is listed", lambda: "at a time" in worker.said)
    words = ("run", "custom", "tasks", "--name", "one", "--arm", "single", "-m", f"script:{tmp_path}/replies.yaml")
    done = run_moot(tmp_path, "bench", *words, MOOT_STORE=fleet.store)
    assert done.returncode == 0, done.stderr
    assert {row["task"]: row["right"] for row in read_rows(tmp_path)} == {"add": True, "double": False, "neg": False}
    assert len(fleet.calls()) == 3  # made by the worker, who counts them
