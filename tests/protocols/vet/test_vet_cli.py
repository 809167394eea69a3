"""`moot vet` and `moot track` as a person types them: every path, results as JSON, and the files they leave."""

import io
import json
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Cli
from kit import trust_project
from vetkit import ACTION, REMEDY, blind_spot, claim, diagnosis, objection, rejoinder

from moot.surfaces.extensions.vet import memory_of
from moot.surfaces.session.settings import Settings

TASK = "Import the price list"


@pytest.fixture(autouse=True)
def memory_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    monkeypatch.setenv("MOOT_VET_MEMORY", str(tmp_path / "memory"))
    for name in ("DISABLE_DEBATE", "MOOT_DISABLE_DEBATE"):
        monkeypatch.delenv(name, raising=False)


def script(folder: Path, **seats: list[str]) -> list[str]:
    entries = [{"seat": seat, "reply": reply} for seat, replies in seats.items() for reply in replies]
    (folder / "replies.yaml").write_text(yaml.safe_dump(entries))
    return ["-m", "script:replies.yaml"]


def told(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / "memory" / name).read_text().splitlines()
    return [json.loads(line) for line in lines if not line.startswith("#")]


def day_log(folder: Path) -> str:
    (path,) = (folder / "memory").glob("????-??-??.md")
    return path.read_text()


PATHS: list[tuple[str, list[str], list[str], int, dict[str, Any]]] = [
    ("--stakes high", [claim()], [objection()], 1, {"resolution": "MODIFY", "modifications": [REMEDY]}),
    ("--stakes high", [claim()], [objection("low", "")], 0, {"resolution": "PROCEED", "next_attempt_limit": None}),
    ("--stakes high", [claim()], [objection("high", "")], 2, {"resolution": "ESCALATE", "escalate_to": "human"}),
    ("--stakes low", [claim(0.1)], [objection("low", "")], 0, {"resolution": "PROCEED", "next_attempt_limit": 1}),
    ("--stakes low", [claim(0.1)], ["", ""], 0, {"resolution": "PROCEED", "critic": None}),
    ("--stakes medium", [claim(0.9)], ["", ""], 2, {"resolution": "ESCALATE", "critic": None}),
    ("", [claim()], [objection("low", "")], 0, {"resolution": "PROCEED", "stakes": "high"}),
    (
        "--rounds 2",
        [claim(), claim(0.9, "Carts were moved")],
        [objection(), rejoinder("withdraw", "low")],
        0,
        {"resolution": "PROCEED", "rounds": 2},
    ),
]


@pytest.mark.parametrize(("flags", "advocate", "critic", "code", "expected"), PATHS)
def test_every_end_of_a_plan(
    cli: Cli, tmp_path: Path, flags: str, advocate: list[str], critic: list[str], code: int, expected: dict[str, Any]
) -> None:
    ran = cli("vet", ACTION, *flags.split(), "--json", "-q", *script(tmp_path, advocate=advocate, critic=critic))
    result = json.loads(ran.out)
    assert ran.code == code, ran.err
    assert {key: result[key] for key in expected} == expected
    assert result["debated"] is True and result["outcome"] == result["resolution"].lower()
    fields = ("stakes", "rationale", "modifications", "next_approach", "escalate_to", "next_attempt_limit", "advocate",
              "critic", "degraded")  # fmt: skip
    assert result.keys() >= set(fields)
    (kept,) = told(tmp_path, "debate-metrics.jsonl")
    assert (kept["debate_id"], kept["type"], kept["resolution"]) == (
        result["session_id"], "planning", result["resolution"],
    )  # fmt: skip
    assert (kept["task"], kept["outcome"], kept["helped"], kept["category"]) == (ACTION, None, None, "destructive")
    assert day_log(tmp_path).count("DEBATE_PLANNING") == 1


def test_the_days_log_has_the_form_of_the_seed(cli: Cli, tmp_path: Path) -> None:
    cli("vet", ACTION, *script(tmp_path, advocate=[claim()], critic=[objection()]))
    lines = day_log(tmp_path).splitlines()
    assert lines[0][2] == ":" and lines[0][6:] == f'DEBATE_PLANNING task:"{ACTION}"'
    assert lines[1:6] == [
        "  Stakes: high",
        '  Advocate: CLAIM:"Sessions are cheap to rebuild" CONFIDENCE:0.9',
        '  Critic: OBJECTION:"Carts are stored in that table" SEVERITY:high',
        "  Resolution: MODIFY",
        f'  Modifications: ["{REMEDY}"]',
    ]


def test_a_person_reads_the_resolution_first(cli: Cli, tmp_path: Path) -> None:
    ran = cli("vet", ACTION, *script(tmp_path, advocate=[claim()], critic=["", ""]))
    first = ran.out.splitlines()[0]
    assert (
        first.startswith("ESCALATE (high stakes): no critic spoke")
        and "caveats, first: critic, round 1: absent" in first
    )
    assert "Caveats:\n  - critic, round 1: absent" in ran.out


def test_what_only_reads_is_answered_at_once_and_without_a_model(cli: Cli, tmp_path: Path) -> None:
    ran = cli("vet", "list the files in this folder", "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["debated"], result["resolution"]) == (0, False, "PROCEED")
    assert not (tmp_path / "s.db").exists() and not (tmp_path / "memory").exists()


@pytest.mark.parametrize("action", ["launch_missiles", "lösche alles", "wire Bob 400 euros?", "can you frobnicate?"])
def test_words_that_the_router_does_not_know_are_debated(cli: Cli, tmp_path: Path, action: str) -> None:
    assert cli("vet", action).code == 2  # without a model nothing passes
    replies = script(tmp_path, advocate=[claim()], critic=[objection("high", "")])
    ran = cli("vet", action, "--json", *replies)
    result = json.loads(ran.out)
    assert (ran.code, result["debated"], result["resolution"]) == (2, True, "ESCALATE")


def test_the_context_of_unknown_words_raises_their_stakes(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("DROP TABLE users;\n")
    replies = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    result = json.loads(cli("vet", "launch_missiles", "--context", "notes.md", "--json", *replies).out)
    assert (result["debated"], result["stakes"]) == (True, "high")


def test_a_question_is_not_debated(cli: Cli) -> None:
    ran = cli("vet", "should I delete the old logs?")
    assert ran.code == 0 and "a question: nothing is done" in ran.out


def test_given_stakes_ask_for_a_debate_all_the_same(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    ran = cli("vet", "list the files in this folder", "--stakes", "medium", "--json", *replies)
    assert json.loads(ran.out)["debated"] is True


@pytest.mark.parametrize("switch", ["MOOT_DISABLE_DEBATE", "DISABLE_DEBATE"])
def test_debates_can_be_switched_off_and_that_is_said(cli: Cli, switch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(switch, "1")
    ran = cli("vet", ACTION, "--stakes", "high", "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["debated"], result["degraded"]) == (0, False, [f"no debate: switched off by {switch}"])
    monkeypatch.setenv(switch, "0")
    assert cli("vet", ACTION).code == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["vet", ACTION], "vet needs a model"),
        (["vet"], "say what to vet"),
        (["vet", "  "], "nothing to vet"),
        (["vet", ACTION, "--failure", "x"], "once"),
        (["vet", ACTION, "--stakes", "extreme"], "low, medium or high"),
        (["vet", ACTION, "--rounds", "4"], "vet.rounds"),
        (["vet", ACTION, "--attempt", "x"], "belong to --failure"),
        (["vet", ACTION, "--context", "absent.md"], "cannot read"),
        (["vet", "--failure", "x", "-m", "script:none.yaml"], "no failure of this task is known"),
        (["track", "fail", " "], "the task is empty"),
        (["track", "success", "x", "--debate", "nope"], "no debate 'nope'"),
        (["vet", "--csp", "absent"], "cannot read"),
    ],
)
def test_mistakes_are_said_in_one_line(cli: Cli, arguments: list[str], complaint: str) -> None:
    ran = cli(*arguments)
    assert ran.code == 2 and complaint in ran.err and ran.err.count("\n") == 1 and ran.out == ""


def test_context_is_read_and_secrets_stay_out(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_KEY", "hunter2hunter2hunter2")
    (tmp_path / "notes.md").write_text("the key is hunter2hunter2hunter2, the port 5432")
    replies = script(tmp_path, advocate=[claim()], critic=[objection()])
    result = json.loads(
        cli("vet", f"{ACTION} with hunter2hunter2hunter2", "--context", "notes.md", "--json", *replies).out
    )
    shown = cli("show", result["session_id"], "--json").out
    assert "the port 5432" in shown and "hunter2" not in shown
    assert not any(b"hunter2" in path.read_bytes() for path in (tmp_path / "memory").iterdir())
    assert b"hunter2" not in (tmp_path / "s.db").read_bytes()


# --- the same session of a coding tool


def test_an_action_is_debated_once_in_a_session_and_its_resolution_stands(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()] * 3, critic=[objection()] * 3)
    first = json.loads(cli("vet", ACTION, "--session", "s1", "--json", *replies).out)
    again = cli("vet", ACTION, "--session", "s1", "--json", *replies)
    result = json.loads(again.out)
    assert (again.code, result["debated"], result["resolution"]) == (1, False, "MODIFY")
    assert result["modifications"] == [REMEDY] and result["session_id"] == first["session_id"]
    assert json.loads(cli("vet", ACTION, "--session", "s2", "--json", *replies).out)["debated"] is True
    other = cli("vet", f"{ACTION}!", "--session", "s1", "--json", *replies)
    assert json.loads(other.out)["debated"] is True, "the same task, but not the same action"


def test_higher_stakes_than_before_are_debated_again(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()] * 2, critic=[objection("low", "")] * 2)
    cli("vet", ACTION, "--session", "s1", "--stakes", "low", *replies)
    ran = cli("vet", ACTION, "--session", "s1", "--stakes", "high", "--json", *replies)
    assert json.loads(ran.out)["debated"] is True


def test_what_failed_since_it_was_let_pass_is_not_let_pass_again(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    assert cli("vet", ACTION, "--session", "s1", *replies).code == 0
    fail(cli, "E1", "E2", "E3", task=ACTION)
    ran = cli("vet", ACTION, "--session", "s1", "--json", *replies)
    assert (ran.code, json.loads(ran.out)["resolution"]) == (2, "ESCALATE")


# --- failures


def fail(cli: Cli, *errors: str, task: str = TASK) -> dict[str, Any]:
    for error in errors:
        ran = cli("track", "fail", task, "--error", error, "--approach", f"against {error}", "--json")
        assert ran.code == 0, ran.err
    return dict(json.loads(ran.out))


def test_the_second_failure_calls_for_a_debate_and_the_third_for_a_person(cli: Cli, tmp_path: Path) -> None:
    assert fail(cli, "E1 bad byte")["due"] == "nothing"
    assert fail(cli, "E2 bad byte")["due"] == "debate"
    replies = script(tmp_path, advocate=[diagnosis()], critic=[blind_spot()])
    ran = cli("vet", "--failure", TASK, "--json", *replies)
    result = json.loads(ran.out)
    assert (ran.code, result["resolution"], result["kind"]) == (1, "RETRY", "failure"), ran.err
    assert (result["next_approach"], result["next_attempt_limit"]) == ("Read it as latin-1", 1)
    prompts = cli("show", result["session_id"], "--json").out
    assert "against E1 bad byte" in prompts and "E2 bad byte" in prompts
    log = day_log(tmp_path).splitlines()
    assert log[0].endswith(f'DEBATE_FAILURE task:"{TASK}" attempt:2')
    assert log[1:6] == [
        '  Errors: ["E1 bad byte", "E2 bad byte"]',
        '  Advocate: FIX:"Read it as latin-1" DIFF:"A different parser is used instead of the old one"',
        '  Critic: PATTERN:"Both attempts changed the parser" SHOULD_ESCALATE:false',
        "  Resolution: RETRY",
        '  Next approach: "Read it as latin-1"',
    ]
    assert fail(cli, "E3")["due"] == "escalate"
    last = cli("vet", "--failure", TASK, "--json")
    result = json.loads(last.out)
    assert (last.code, result["resolution"], result["debated"]) == (2, "ESCALATE", False)
    assert "failed 3 times" in result["rationale"]
    cli("vet", "--failure", TASK)
    autos = [line for line in told(tmp_path, "debate-metrics.jsonl") if line.get("auto")]
    assert len(autos) == 1, "asking again is no second escalation"


def test_an_action_that_failed_before_is_debated_as_a_failure(cli: Cli, tmp_path: Path) -> None:
    fail(cli, "E1", "E2", task="update the price list")
    replies = script(tmp_path, advocate=[diagnosis()], critic=[blind_spot("x", "NONE", "Ask the partner")])
    result = json.loads(cli("vet", "update the price list", "--json", *replies).out)
    assert (result["kind"], result["resolution"]) == ("failure", "RETRY")


def test_attempts_can_be_given_on_the_spot(cli: Cli, tmp_path: Path) -> None:
    tries = ["--attempt", "one", "--error", "E1", "--attempt", "two", "--error", "E2"]
    replies = script(tmp_path, advocate=[diagnosis("none")], critic=[blind_spot("x", "NONE", "Ask the partner")])
    ran = cli("vet", "--failure", TASK, *tries, "--json", *replies)
    assert (ran.code, json.loads(ran.out)["resolution"]) == (1, "PIVOT")
    ran = cli("vet", "--failure", TASK, *tries, "--attempt", "three", "--json")
    assert (ran.code, json.loads(ran.out)["debated"]) == (2, False)


def test_a_failure_of_a_high_stakes_security_task_goes_to_a_person_at_once(cli: Cli) -> None:
    ran = cli("vet", "--failure", "rotate the password of the database", "--attempt", "x", "--error", "y", "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["resolution"], result["debated"]) == (2, "ESCALATE", False)
    assert fail(cli, "E1", task="rotate the password of the database")["due"] == "escalate"


def test_success_reset_and_rejections_are_tracked_and_shown(cli: Cli, tmp_path: Path) -> None:
    assert "no task has failures" in cli("track", "show").out
    fail(cli, "E1", "E2")
    fail(cli, "E9", task="another task")
    shown = json.loads(cli("track", "show", "--json").out)
    assert [(t["task"], t["failures"], t["due"]) for t in shown["tasks"]] == [
        (TASK, 2, "debate"), ("another task", 1, "nothing"),
    ]  # fmt: skip
    assert TASK in cli("track", "show").out
    assert json.loads(cli("track", "reset", TASK, "--json").out)["failures"] == 0
    for _ in range(2):
        ran = cli("track", "reject", TASK)
    assert "0 failures, 2 rejections" in ran.out and "moot vet --failure" in ran.out
    quoted = "it's $HOME"
    for _ in range(2):
        ran = cli("track", "reject", quoted)
    assert ran.out.endswith(f"; now: moot vet --failure {shlex.quote(quoted)}\n")
    cli("track", "success", quoted)
    cli("track", "success", TASK)
    cli("track", "reset", "*")
    assert json.loads(cli("track", "show", "--json").out) == {"tasks": [], "unreadable": 0}


def test_lines_nobody_can_read_are_counted_aloud(cli: Cli, tmp_path: Path) -> None:
    fail(cli, "E1")
    for name in ("failures.jsonl", "debate-metrics.jsonl"):
        with (tmp_path / "memory" / name).open("a") as file:
            file.write('{"torn": ')
    assert "1 line of" in cli("track", "show").err and "1 line of" in cli("vet", "stats").err
    assert json.loads(cli("vet", "stats", "--json").out)["unreadable"] == 1


# --- metrics


def test_the_metrics_answer_how_often_what_worked_and_what_was_needless(cli: Cli, tmp_path: Path) -> None:
    replies = script(
        tmp_path,
        advocate=[claim()] * 4 + [diagnosis()],
        critic=[objection("low", "")] * 2 + [objection(), objection("high", "")] + [blind_spot()],
    )
    for action in ("delete cache one", "delete cache two", "deploy the shop", "drop the archive"):
        cli("vet", action, *replies[:1], f"script:{tmp_path / 'replies.yaml'}")
        entries = yaml.safe_load((tmp_path / "replies.yaml").read_text())
        for seat in ("advocate", "critic"):
            entries.remove(next(entry for entry in entries if entry["seat"] == seat))
        (tmp_path / "replies.yaml").write_text(yaml.safe_dump(entries))
    fail(cli, "E1", "E2")
    cli("vet", "--failure", TASK, *replies)
    cli("track", "success", "delete cache one")
    cli("track", "fail", "delete the cache two", "--error", "x")
    cli("track", "success", "deploying the shop")
    cli("track", "success", "drop the archive", "--helped")
    cli("track", "success", TASK)
    found = json.loads(cli("vet", "stats", "--json").out)
    assert (found["debates"], found["by_type"]) == (5, {"planning": 4, "failure": 1})
    assert found["by_category"] == {"destructive": 3, "deployment": 1, "other": 1}
    worked = {line["resolution"]: (line["debates"], line["success"], line["failure"]) for line in found["worked"]}
    assert worked == {
        "PROCEED": (2, 1, 1), "MODIFY": (1, 1, 0), "RETRY": (1, 1, 0), "PIVOT": (0, 0, 0), "ESCALATE": (1, 1, 0),
    }  # fmt: skip
    assert (found["needless"], found["needless_rate"], found["helped"]) == (1, 0.2, 3)
    assert (found["escalations"], found["automatic"]) == (1, 0)
    table = cli("vet", "stats").out
    assert "by category" in table and "destructive 3, deployment 1" in table and "1 (20% of those" in table


def test_an_action_named_stats_can_still_be_vetted(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()], critic=[objection()])
    assert json.loads(cli("vet", "--stakes", "high", "stats", "--json", *replies).out)["debated"] is True


# --- CSP/1


def test_a_request_on_stdin_is_answered_in_lines(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(text: str, *flags: str) -> tuple[int, list[str]]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        ran = cli("vet", "--csp", "-", "-q", *flags)
        return ran.code, ran.out.splitlines()

    replies = script(tmp_path, advocate=[claim()], critic=[objection()])
    code, lines = asked(f"CSP/1 MODE;!prose;DATA ONLY\nDEBATE REQ:{ACTION} ROUNDS:1 STAKES:high\n", *replies)
    assert code == 1 and lines[0] == "RESOLUTION MODIFY" and lines[2:] == [
        f"MODIFICATIONS [{REMEDY}]", "NEXT_ATTEMPT_LIMIT 1",
    ]  # fmt: skip
    replies = script(tmp_path, advocate=[diagnosis()], critic=[blind_spot(escalate=True)])
    code, lines = asked(f"DEBATE_FAILURE REQ:{TASK} ATTEMPTS:[a, b] ERRORS:[c, d]", *replies)
    assert code == 2 and lines[0] == "RESOLUTION ESCALATE" and lines[-1] == "ESCALATE_TO human"


# --- limits


def test_a_debate_cut_short_goes_to_a_person_and_can_be_carried_on(cli: Cli, tmp_path: Path) -> None:
    replies = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    ran = cli("vet", ACTION, "--max-calls", "1", "--json", *replies)
    result = json.loads(ran.out)
    assert (ran.code, result["resolution"], result["outcome"]) == (2, "ESCALATE", "budget_exhausted")
    assert "moot resume" in ran.err
    resumed = cli("resume", result["session_id"], "--max-calls", "9", "--json")
    assert (resumed.code, json.loads(resumed.out)["resolution"]) == (0, "PROCEED")
    assert [line["resolution"] for line in told(tmp_path, "debate-metrics.jsonl")] == ["ESCALATE", "PROCEED"]
    (kept,) = json.loads(cli("vet", "stats", "--json").out)["records"]
    assert kept["resolution"] == "PROCEED"
    cli("resume", result["session_id"])
    assert len(told(tmp_path, "debate-metrics.jsonl")) == 2 and day_log(tmp_path).count("DEBATE_PLANNING") == 2


def test_a_memory_that_cannot_be_written_does_not_lose_the_resolution(cli: Cli, tmp_path: Path) -> None:
    today = datetime.now(UTC)
    for day in (today, today + timedelta(days=1)):  # a folder where the day's log should be
        (tmp_path / "memory" / f"{day:%Y-%m-%d}.md").mkdir(parents=True)
    ran = cli("vet", ACTION, "--stakes", "high", "--json", *script(tmp_path, advocate=[claim()], critic=[objection()]))
    result = json.loads(ran.out)
    assert (ran.code, result["resolution"]) == (1, "MODIFY") and "not remembered" in result["degraded"][-1]


def test_a_memory_that_cannot_be_read_is_an_error_before_anything_is_spent(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "memory" / "failures.jsonl").mkdir(parents=True)
    ran = cli("vet", ACTION, *script(tmp_path, advocate=[], critic=[]))
    assert ran.code == 3 and "failures.jsonl cannot be read" in ran.err and not (tmp_path / "s.db").exists()


def test_a_trusted_project_may_keep_its_own_memory(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_of(Settings.load({})).folder == tmp_path / "memory"
    monkeypatch.delenv("MOOT_VET_MEMORY")
    kept = memory_of(Settings.load({})).folder
    assert "data-home" in str(kept)
    (tmp_path / "moot.toml").write_text('[vet]\nmemory = "kept here"\nreset_after_hours = 3\n')
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    assert memory_of(Settings.load({})).folder == kept
    trust_project(tmp_path)
    memory = memory_of(Settings.load({}))
    assert (memory.folder, memory.reset_after_hours) == (tmp_path / "kept here", 3)


def test_without_any_model_a_debate_goes_to_a_person(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_MODEL", "script:none.yaml")
    ran = cli("vet", ACTION, "--no-llm", "--json")
    assert (ran.code, json.loads(ran.out)["resolution"]) == (2, "ESCALATE")


ADMIN = "-- monthly upkeep\nUPDATE users SET role='admin' WHERE email='x@example.com';\n"


def prompts_of(cli: Cli, session: str) -> list[str]:
    steps = json.loads(cli("show", session, "--json").out)["steps"]
    return [step["value"]["call"]["prompt"] for step in steps if step["name"].startswith("ask ")]


@pytest.mark.parametrize(
    "command", ["psql -f x.sql", "psql --file=x.sql app", "psql app < x.sql", "Run x.sql on the database"]
)
def test_the_statements_of_a_file_that_is_named_are_read(cli: Cli, tmp_path: Path, command: str) -> None:
    (tmp_path / "x.sql").write_text(ADMIN)
    seats = script(tmp_path, advocate=[claim()], critic=[objection()])
    result = json.loads(cli("vet", command, *seats, "--json").out)
    assert result["stakes"] == "high"
    assert all("SET role='admin'" in prompt for prompt in prompts_of(cli, result["session_id"]))
    assert any(
        "changes who may do what" in prompt or "security: " in prompt
        for prompt in prompts_of(cli, result["session_id"])
    )


@pytest.mark.parametrize(
    "text",
    [ADMIN, f"Notes of Monday.\n\n```sql\n{ADMIN}```\n", "UPDATE users\n  SET is_admin = true\n  WHERE id = 7;\n"],
)
def test_the_statements_of_the_context_raise_the_stakes(cli: Cli, tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.md").write_text(text)
    seats = script(tmp_path, advocate=[claim()], critic=[objection()])
    result = json.loads(
        cli("vet", "apply the attached change to the database", "--context", "plan.md", *seats, "--json").out
    )
    assert result["stakes"] == "high"


def test_prose_in_the_context_raises_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("We update the docs and set the date. Nobody deletes from the list.\n")
    seats = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    result = json.loads(cli("vet", "apply the attached change", "--context", "plan.md", *seats, "--json").out)
    assert result["stakes"] == "low"


def test_the_seats_see_branch_remote_and_what_is_not_committed(cli: Cli, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    seats = script(tmp_path, advocate=[claim()], critic=[objection()])
    (tmp_path / ".gitignore").write_text("*.db*\nmemory/\n*-home/\nno-data/\n")
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "."],
        ["commit", "-q", "-m", "begin"],
        ["remote", "add", "origin", "https://me:secret@example.com/a.git"],
    ):
        subprocess.run([*git, *words], check=True, capture_output=True)
    (tmp_path / "draft.py").write_text("x = 1\n")
    result = json.loads(cli("vet", "git push --force origin main", *seats, "--json").out)
    for prompt in prompts_of(cli, result["session_id"]):
        assert "git branch: main" in prompt and "git remote: origin https://example.com/a.git" in prompt
        assert "not committed: 1 file: draft.py" in prompt and "secret" not in prompt


def test_what_only_reads_is_not_looked_into(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.sql").write_text(ADMIN)
    ran = cli("vet", "cat x.sql", "--json")
    assert (ran.code, json.loads(ran.out)["debated"]) == (0, False)


@pytest.mark.parametrize(
    "command", ["bash task.sh", "./task.sh", "make task", "npm run task", "cd . && sudo bash task.sh", "./ls"]
)
def test_the_script_that_a_command_runs_is_read_and_raises_the_stakes(cli: Cli, tmp_path: Path, command: str) -> None:
    for name in ("task.sh", "ls"):
        (tmp_path / name).write_text("#!/bin/sh\necho one\nrm -rf kept\n")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("12345")
    (tmp_path / "Makefile").write_text("task:\n\tbash task.sh\n")
    (tmp_path / "package.json").write_text('{"scripts": {"task": "bash task.sh"}}')
    seats = script(tmp_path, advocate=[claim()], critic=[objection()])
    result = json.loads(cli("vet", command, *seats, "--json").out)
    assert (result["stakes"], result["debated"]) == ("high", True)
    for prompt in prompts_of(cli, result["session_id"]):
        assert "line 3: `rm -rf kept`" in prompt and f"deletes {tmp_path}/kept (1 file, 5 B)" in prompt
        assert "echo one" in prompt


def test_a_script_that_does_no_harm_raises_nothing(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "task.sh").write_text("echo one\nls\n")
    seats = script(tmp_path, advocate=[claim()], critic=[objection("low", "")])
    assert json.loads(cli("vet", "bash task.sh", *seats, "--json").out)["stakes"] == "low"
