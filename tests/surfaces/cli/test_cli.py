"""The command line, through its own door: what it prints, what it exits with, what it refuses."""

import contextlib
import io
import json
import os
import pty
import socket
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli
from kit import BAD, CLEAN, GOOD, NOTHING, SQLI, blue, write_trusted
from patience import PATIENCE

SECRET = "ghp_" + "A1b2C3d4E5f6" * 3


def script(path: Path, *entries: object) -> str:
    (path / "replies.yaml").write_text(json.dumps(list(entries)))
    return f"script:{path / 'replies.yaml'}"


def full_script(path: Path) -> str:
    return script(
        path,
        {"seat": "red", "round": 1, "reply": SQLI},
        {"seat": "blue", "reply": blue(GOOD)},
        {"seat": "red", "reply": NOTHING},
    )


def test_harden_shows_findings_diff_remainder_and_cost_on_stdout_only(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    ran = cli("harden", "app.py", "--model", full_script(tmp_path))
    assert ran.code == 0
    assert ran.out.startswith("hardened: ")
    for shown in ("VULN-001", "high", "app.py:2", "patched", "-    return db.execute", "3 calls", "$0.0000"):
        assert shown in ran.out, shown
    assert "round 1" in ran.err and "round 1:" not in ran.out
    assert (tmp_path / "app.py").read_text() == BAD, "nothing is written unless asked for"


def test_write_applies_the_patch_and_keeps_mode_and_neighbours(cli: Cli, tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(BAD)
    app.chmod(0o750)
    assert cli("harden", "app.py", "--write").code == 0
    assert "?" in app.read_text() and stat.S_IMODE(app.stat().st_mode) == 0o750
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix == ".py") == ["app.py"]


def test_json_holds_every_field_of_the_result(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    ran = cli("harden", "app.py", "--json", "--no-llm")
    result = json.loads(ran.out)
    assert result.keys() >= {
        "outcome", "stop_reason", "rounds", "final_code", "attack_reports", "defense_reports", "all_resolved",
        "remaining_risks", "duration", "session_id", "degraded", "calls", "usage", "diff",
    }  # fmt: skip
    first = result["attack_reports"][0]
    assert first.keys() >= {"vulnerabilities", "edge_cases", "stress_scenarios", "overall_risk", "round"}
    (flaw,) = [v for v in first["vulnerabilities"] if v["category"] == "injection"]
    assert (flaw["file"], flaw["line"], flaw["source"], flaw["severity"]) == ("app.py", 2, "scan", "high")
    assert flaw["fingerprint"] and flaw["id"].startswith("VULN-")
    assert result["defense_reports"][0].keys() >= {
        "patched_vulnerabilities", "patches", "remaining_risks", "confidence_in_defense", "patched_code", "round",
    }  # fmt: skip


def test_exit_codes_say_what_came_of_it(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "clean.py").write_text(CLEAN)
    (tmp_path / "stuck.py").write_text("def run(request):\n    exec(request.body)\n")
    (tmp_path / "broken.py").write_text("def broken(:\n")
    assert cli("harden", "clean.py").code == 0
    assert cli("harden", "stuck.py").code == 1
    assert cli("harden", "broken.py").code == 2
    (tmp_path / "app.py").write_text(BAD)
    cut = cli("harden", "app.py", "--model", full_script(tmp_path), "--max-calls", "1")
    assert cut.code == 2 and cut.out.startswith("budget_exhausted") and "moot resume" in cut.err


def test_a_result_that_rests_on_a_fallback_says_so_in_its_first_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CLEAN)
    ran = cli("harden", "app.py", "--model", script(tmp_path, {"reply": "I cannot help with that.", "always": True}))
    first = ran.out.splitlines()[0]
    assert ran.code == 2 and first.startswith("inconclusive") and "first: red, round 1: absent" in first, first


def test_several_files_folders_and_stdin(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pkg" / "node_modules").mkdir(parents=True)
    (tmp_path / "pkg" / "__init__.py").write_text("")
    (tmp_path / "pkg" / "a.py").write_text(BAD)
    (tmp_path / "pkg" / "b.go").write_text("package main\n\nfunc main() {}\n")
    (tmp_path / "pkg" / "node_modules" / "x.js").write_text("eval(a)")
    result = json.loads(cli("harden", "pkg", "--json").out)
    assert set(result["final_files"]) == {"pkg/a.py", "pkg/b.go"}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    piped = json.loads(cli("harden", "-", "--language", "py", "--json").out)
    assert piped["outcome"] == "hardened" and "?" in piped["final_code"]


def test_diff_looks_only_at_what_changed(cli: Cli, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    (tmp_path / "old.py").write_text(BAD)
    (tmp_path / "app.py").write_text(BAD)
    git("add", ".")
    git("commit", "-qm", "first")
    added = "\n\ndef drop(db, name):\n    return db.execute(\"DELETE FROM t WHERE n = '%s'\" % name)\n"
    (tmp_path / "app.py").write_text(BAD + added)
    result = json.loads(cli("harden", "--diff", "HEAD", "--json").out)
    assert list(result["final_files"]) == ["app.py"]
    assert {v["line"] for v in result["attack_reports"][0]["vulnerabilities"]} == {6}
    assert "unknown commit" in cli("harden", "--diff", "nonsense").err


def test_tests_are_run_in_the_sandbox_and_hold_patches_back(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "__init__.py").touch()
    (tmp_path / "tests" / "test_app.py").write_text(
        "import sqlite3, app\n\ndef test_find():\n    db = sqlite3.connect(':memory:')\n"
        "    db.execute('CREATE TABLE t (n)')\n    db.execute(\"INSERT INTO t VALUES ('x')\")\n"
        "    assert app.find(db, 'x').fetchall() == [('x',)]\n"
    )
    gutted = "def find(db, name):\n    return None\n"
    model = script(
        tmp_path,
        {"seat": "red", "round": 1, "reply": SQLI},
        {"seat": "blue", "reply": blue(gutted)},
        {"seat": "red", "reply": SQLI},
        {"seat": "blue", "reply": blue(GOOD)},
        {"seat": "red", "reply": NOTHING},
    )
    result = json.loads(cli("harden", "app.py", "--tests", "tests", "--model", model, "--json").out)
    rejected, accepted = result["defense_reports"]
    assert "a test that passed before fails now" in rejected["rejected_because"] and accepted["accepted"]
    assert result["final_code"] == GOOD and result["tests"]["outcomes"][0]["status"] == "passed"


def test_without_a_sandbox_tests_are_refused_unless_the_user_insists(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CLEAN)
    (tmp_path / "test_app.py").write_text("import app\n\ndef test_add():\n    assert app.add(1, 2) == 3\n")
    env = {**os.environ, "PATH": str(tmp_path / "no-programs-here")}
    command = [sys.executable, "-m", "moot", "harden", "app.py", "--tests", "test_app.py"]
    refused = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert refused.returncode >= 2 and "sandbox" in refused.stderr and "--unsafe-local" in refused.stderr
    allowed = subprocess.run([*command, "--unsafe-local"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert allowed.returncode == 0 and "tests 1 of 1 before" in allowed.stdout, allowed.stderr


def test_sarif_is_what_code_scanning_reads(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    cli("harden", "app.py", "--sarif", "out.sarif")
    report = json.loads((tmp_path / "out.sarif").read_text())
    (run_,) = report["runs"]
    assert report["version"] == "2.1.0" and run_["tool"]["driver"]["name"] == "Moot"
    result = run_["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("app.py", 2)
    assert run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["level"] == "error" and result["properties"]["status"] == "patch proposed"
    cli("harden", "app.py", "--sarif", "after.sarif", "--write")
    assert json.loads((tmp_path / "after.sarif").read_text())["runs"][0]["results"] == []


def test_secrets_in_code_and_environment_reach_no_record_and_survive_write(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "env-s3cret-value-123")
    code = BAD + f'\nTOKEN = "{SECRET}"\nOTHER = "env-s3cret-value-123"\n'
    (tmp_path / "app.py").write_text(code)
    ran = cli("harden", "app.py", "--write", "--store", str(tmp_path / "s.db"), "--json")
    cli("export", json.loads(ran.out)["session_id"], "--store", str(tmp_path / "s.db"), "-o", "out.json")
    stored = b"".join(p.read_bytes() for p in tmp_path.glob("s.db*")) + (tmp_path / "out.json").read_bytes()
    for secret in (SECRET, "env-s3cret-value-123"):
        assert secret not in ran.out and secret not in ran.err and secret.encode() not in stored
        assert secret in (tmp_path / "app.py").read_text(), "the user's file keeps its own"
    assert "?" in (tmp_path / "app.py").read_text()


def test_text_from_models_cannot_draw_on_the_screen(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CLEAN)
    evil = json.dumps(
        {
            "vulnerabilities": [
                {
                    "description": "\x1b[2J[bold]all clear[/bold] \u202egnp.exe",
                    "evidence": "return a + b",
                    "category": "other",
                    "severity": "high",
                }
            ]
        }
    )
    ran = cli("harden", "app.py", "-m", script(tmp_path, {"seat": "red", "reply": evil, "always": True},
              {"seat": "blue", "reply": blue(CLEAN), "always": True}))  # fmt: skip
    assert "\x1b" not in ran.out + ran.err and "\u202e" not in ran.out and "[bold]all clear[/bold]" in ran.out


def test_on_a_terminal_progress_moves_on_stderr_and_the_result_stays_clean(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    full_script(tmp_path)
    screen, side = pty.openpty()
    command = [sys.executable, "-m", "moot", "harden", "app.py", "-m", "script:replies.yaml", "--json"]
    env = {**os.environ, "TERM": "xterm"}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=side)
    os.close(side)
    out, shown = process.communicate()[0], b""
    with contextlib.suppress(OSError):  # the far side is gone: everything was read
        while piece := os.read(screen, 4096):
            shown += piece
    os.close(screen)
    assert process.returncode == 0 and json.loads(out)["outcome"] == "hardened"
    assert b"round 1: 1 finding," in shown and b" calls, " in shown


# --- bad input gets one clear line


BIG = "x = 1\n" * 900_000


@pytest.mark.parametrize(
    ("files", "arguments", "says"),
    [
        ({}, ["missing.py"], "no file 'missing.py'"),
        ({"docs/a.txt": "x"}, ["docs"], "holds no code"),
        ({"a.py": b"\x00\x01"}, ["a.py"], "binary file"),
        ({"a.py": BIG}, ["a.py"], "5.4 MB"),
        ({"a.py": b"x = '\xff'\n"}, ["a.py"], "not valid UTF-8"),
        ({"a.py": " \n"}, ["a.py"], "is empty"),
        ({"a.rb": "x"}, ["a.rb"], "--language"),
        ({"a.py": "x = 1\n"}, ["a.py", "--language", "cobol"], "unknown language 'cobol'"),
        ({"a.py": "x = 1\n"}, ["a.py", "-m", "opnai:x"], "openai"),
        ({"a.py": "x = 1\n"}, ["a.py", "-m", "gpt-5"], "provider:model"),
        ({"a.py": "x = 1\n"}, ["a.py", "-m", "openai:gpt-5"], "OPENAI_API_KEY"),
        ({"a.py": "x = 1\n"}, ["a.py", "-m", "script:none.yaml"], "none.yaml"),
        ({"a.py": "x = 1\n"}, ["a.py", "--seat", "green=script:x"], "no seat 'green'"),
        ({"a.py": "x = 1\n"}, ["a.py", "--seat", "red"], "SEAT=PROVIDER:MODEL"),
        ({"a.py": "x = 1\n"}, ["a.py", "--no-llm", "-m", "openai:x"], "contradicts"),
        (
            {"a.py": "x = 1\n"},
            ["a.py", "--max-rounds", "0"],
            "harden.max_rounds' given as an option cannot be 0: it must be g",
        ),
        ({"a.py": "x = 1\n"}, ["a.py", "--tests", "nowhere"], "no tests at"),
        ({"a.py": "x = 1\n"}, ["a.py", "--diff", "HEAD"], "git repository"),
        ({"a.py": "x = 1\n", "moot.toml": "max_call = 3\n"}, ["a.py"], "did you mean 'max_calls'"),
        ({"a.py": "x = 1\n", "moot.toml": "max_calls = 'x'\n"}, ["a.py"], "moot.toml"),
        ({"a.py": "x = 1\n", "moot.toml": "= broken"}, ["a.py"], "not valid TOML"),
        ({"a.py": "x = 1\n", "s.db": "no database " * 500}, ["a.py", "--store", "s.db"], "damaged"),
        ({"a.py": "x = 1\n"}, ["a.py", "--store", "a.py/s.db"], "cannot be opened"),
        ({"a.py": "x = 1\n"}, [], "no code given"),
        ({"a.py": "x = 1\n"}, ["a.py", "-m", "cmd:no-such-program-here"], "no-such-program-here"),
        (
            {"a.py": "x = 1\n", "r.yaml": "- {reply: x, always: true}"},
            ["a.py", "--max-usd", "1", "-m", "openai:unheard-of-model-9"],
            "price of openai:unheard-of-model-9 is unknown",
        ),
    ],
)
def test_bad_input_is_one_line_that_says_what_to_do(
    cli: Cli, tmp_path: Path, files: dict[str, str | bytes], arguments: list[str], says: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    ran = cli("harden", *arguments)
    assert ran.code >= 2 and says in ran.err, ran.err
    assert ran.out == "" and len(ran.err.strip().splitlines()) == 1 and "Traceback" not in ran.err


def test_one_bad_file_in_a_folder_is_named_and_keeps_the_verdict_open(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(CLEAN)
    (tmp_path / "src" / "b.py").write_bytes(b"x = '\xff'\n")
    ran = cli("harden", "src")
    assert ran.code == 2 and "b.py is not valid UTF-8" in ran.out


def test_a_script_that_runs_dry_is_loud_and_the_session_can_be_carried_on(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    model = script(tmp_path, {"seat": "red", "reply": SQLI})
    ran = cli("harden", "app.py", "-m", model)
    assert ran.code >= 2 and "replies.yaml" in ran.err and "moot resume" in ran.err and ran.out == ""
    session = ran.err.split("moot resume ")[1].split()[0]
    full_script(tmp_path)
    resumed = cli("resume", session, "--json")
    result = json.loads(resumed.out)
    assert resumed.code == 0 and result["final_code"] == GOOD and result["calls"] == 3


def test_a_reply_of_two_megabytes_is_no_answer(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CLEAN)
    huge = NOTHING + " " * 10 + "x" * 2_000_000
    ran = cli("harden", "app.py", "-m", script(tmp_path, {"reply": huge, "always": True}))
    assert ran.code == 2 and "2000033 bytes" in ran.out and "x" * 1000 not in ran.out


def test_a_full_disk_is_one_line_and_exit_3(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}  # it writes too
    env["MOOT_STORE"] = str(tmp_path / "s.db")
    moot = [sys.executable, "-m", "moot"]
    subprocess.run([*moot, "list"], env=env, check=True, capture_output=True)
    limited = ["bash", "-c", 'ulimit -f 40; exec "$@"', "limited", *moot, "harden", "app.py"]
    done = subprocess.run(limited, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    assert "disk is full" in done.stderr and "moot resume" in done.stderr and "Traceback" not in done.stderr
    session = done.stderr.split("moot resume ")[1].split()[0]
    resumed = subprocess.run([*moot, "resume", session, "--json"], env=env, capture_output=True, text=True)
    assert json.loads(resumed.stdout)["outcome"] == "hardened", resumed.stderr


def test_a_file_that_changed_meanwhile_is_not_overwritten(cli: Cli, tmp_path: Path) -> None:
    app = tmp_path / "app.py"
    app.write_text(BAD)
    model = f'cmd:sh -c \'echo "# edited" >> {app}; printf "%s" "{{}}"\''
    ran = cli("harden", "app.py", "--write", "--seat", f"red={model}")
    assert ran.code == 2 and "changed while the session ran" in ran.err
    assert app.read_text().startswith(BAD) and "# edited" in app.read_text()


# --- sessions


def test_sessions_are_listed_shown_exported_and_deleted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    session = json.loads(cli("harden", "app.py", "-m", full_script(tmp_path), "--json").out)["session_id"]
    assert session[:8] in cli("list").out and json.loads(cli("list", "--json").out)[0]["outcome"] == "hardened"
    assert cli("list", "-n", "1").err == ""
    assert cli("list", "nothing like it").out.strip() == "no session matches 'nothing like it'"
    shown = cli("show", session[:8]).out
    for part in ("Round 1, attack: red", "Attack this code", "name is pasted into the query", "Version 2", "Result"):
        assert part in shown, part
    cli("harden", "app.py", "--no-llm")
    assert "there are older sessions; --limit N shows more" in cli("list", "-n", "1").err
    record = json.loads(cli("export", session[:8]).out)
    assert [t["agent_role"] for t in record["turns"]] == ["red", "blue", "red"]
    assert record["steps"][0]["name"] == "snapshot" and len(record["versions"]) == 2
    page = cli("export", session, "--format", "html").out
    assert page.startswith("<!doctype html>") and "<script" not in page and "pasted into the query" in page
    assert cli("export", session, "--format", "pdf").code == 2
    assert cli("delete", session).code == 0 and cli("show", session).code == 2


def test_a_finished_session_resumes_to_its_result(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    first = json.loads(cli("harden", "app.py", "-m", full_script(tmp_path), "--json").out)
    (tmp_path / "replies.yaml").unlink()
    again = cli("resume", first["session_id"], "--json", "--write")
    assert json.loads(again.out) == first and (tmp_path / "app.py").read_text() == GOOD


def test_more_budget_carries_a_cut_session_to_its_end(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    model = full_script(tmp_path)
    cut = json.loads(cli("harden", "app.py", "-m", model, "--max-calls", "1", "--json").out)
    assert (cut["outcome"], cut["calls"]) == ("budget_exhausted", 1)
    whole = json.loads(cli("resume", cut["session_id"], "--max-calls", "9", "--json").out)
    assert (whole["outcome"], whole["calls"], whole["final_code"]) == ("hardened", 3, GOOD)


def test_html_export_escapes_what_models_say(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(CLEAN + "# <script>alert(1)</script>\n")
    session = json.loads(cli("harden", "app.py", "--json").out)["session_id"]
    assert "<script" not in cli("export", session, "-f", "html").out


# --- settings


def test_flag_beats_environment_beats_project_beats_user_beats_default(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config-home" / "moot").mkdir(parents=True)
    (tmp_path / "config-home" / "moot" / "moot.toml").write_text("max_calls = 1\nretries = 1\nreply_tokens = 100\n")
    write_trusted(tmp_path, 'max_calls = 2\nretries = 2\n[harden]\nmax_rounds = 5\n[seats]\nred = "a:b"\n')
    monkeypatch.setenv("MOOT_MAX_CALLS", "3")
    monkeypatch.setenv("MOOT_SEATS_BLUE", "c:d")
    shown = json.loads(cli("config", "show", "--json", "--store", "x.db").out)
    assert {key: shown[key]["value"] for key in ("max_calls", "retries", "reply_tokens", "harden.max_rounds")} == {
        "max_calls": 3, "retries": 2, "reply_tokens": 100, "harden.max_rounds": 5,
    }  # fmt: skip
    assert shown["store"] == {"value": "x.db", "source": "flag"}
    assert shown["max_calls"]["source"] == "environment" and shown["concurrency"]["source"] == "default"
    assert shown["retries"]["source"].endswith("moot.toml") and shown["seats.red"]["value"] == ["a:b"]
    assert shown["seats.blue"]["value"] == ["c:d"]
    assert "max_calls" in cli("config", "show").out


def test_settings_may_begin_with_a_byte_order_mark(cli: Cli, tmp_path: Path) -> None:
    for path in (tmp_path / "config-home" / "moot" / "moot.toml", tmp_path / "moot.toml"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("max_calls = 1\n", "utf-8-sig")
    end = cli("config", "show", "--json")
    assert (end.code, json.loads(end.out)["max_calls"]["value"]) == (0, 1)


def test_models_and_doctor_never_print_a_key(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    model = script(tmp_path, {"reply": "ready", "always": True})
    models, doctor = cli("models", "-m", "openai:gpt-5"), cli("doctor", "-m", model, "--live", "--json")
    assert SECRET not in models.out + models.err + doctor.out + doctor.err
    assert "harden.red: openai:gpt-5" in models.out
    checks = {c["what"]: c for c in json.loads(doctor.out)}
    assert doctor.code == 0 and checks[model]["note"] == "answered 'ready'" and checks["store"]["ok"]
    assert cli("doctor", "-m", "script:gone.yaml").code == 1


def test_the_record_is_in_the_tables_of_the_specification(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(BAD)
    cli("harden", "app.py", "-m", full_script(tmp_path), "--store", "s.db")
    db = sqlite3.connect(tmp_path / "s.db")
    count = {
        table: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table in ("debate_sessions", "debate_turns", "code_versions", "debate_logs", "journal")
    }
    status = db.execute("SELECT status, total_rounds FROM debate_sessions").fetchall()
    db.close()
    assert count == {"debate_sessions": 1, "debate_turns": 3, "code_versions": 2, "debate_logs": 3, "journal": 12}
    assert status == [("completed", 2)]


def test_go_tests_bring_their_module(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "svc" / "inner").mkdir(parents=True)
    (tmp_path / "svc" / "go.mod").write_text("module example.org/svc\n\ngo 1.21\n")
    (tmp_path / "svc" / "inner" / "inner.go").write_text("package inner\n\nfunc One() int { return 1 }\n")
    test = 'package inner_test\n\nimport (\n\t"testing"\n\n\t"example.org/svc/inner"\n)\n\n'
    test += "func TestOne(t *testing.T) {\n\tif inner.One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n"
    (tmp_path / "svc" / "inner" / "inner_test.go").write_text(test)
    for tests in ("svc", "svc/inner", "svc/inner/inner_test.go"):
        ran = cli("harden", "svc/inner/inner.go", "--tests", tests, "--no-llm", "--json")
        assert ran.code == 0, ran.err
        result = json.loads(ran.out)
        assert [o["name"] for o in result["tests"]["outcomes"]] == ["example.org/svc/inner.TestOne"], result["tests"]
        assert result["degraded"] == []


def test_doctor_does_not_call_a_server_ready_that_is_not_there(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.getsockname()[1]}")
        there = cli("doctor", "-m", "ollama:qwen3:8b")
        assert "no " not in next(line for line in cli("models").out.splitlines() if line.startswith("ollama"))
    gone = cli("doctor", "-m", "ollama:qwen3:8b")
    assert there.code == 0 and "ok    ollama:qwen3:8b: the server answers at 127.0.0.1:" in there.out
    assert gone.code == 1 and "FAIL  ollama:qwen3:8b: nothing answers at 127.0.0.1:" in gone.out
    assert "ready" not in gone.out + there.out
    (ollama,) = [p for p in json.loads(cli("models", "--json").out)["providers"] if p["provider"] == "ollama"]
    assert not ollama["usable"] and ollama["note"].startswith("nothing answers at 127.0.0.1:")


def test_resume_takes_the_time_for_a_call_that_it_is_given(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command waits for a file: without it, every call takes longer than any limit."""
    (tmp_path / "app.py").write_text(CLEAN)
    (tmp_path / "answer.sh").write_text(f"while [ ! -e go ]; do sleep 0.05; done\necho '{NOTHING}'\n")
    monkeypatch.setenv("MOOT_CALL_TIMEOUT", "0.001")
    cut = cli("harden", "app.py", "-m", "cmd:sh answer.sh", "--json")
    session = json.loads(cut.out)["session_id"]
    assert cut.code == 2 and json.loads(cut.out)["resumable"]
    (tmp_path / "go").touch()
    done = cli("resume", session, "--call-timeout", str(PATIENCE), "--json")
    told = json.loads(done.out)
    assert (told["outcome"], told["degraded"], told["calls"] > 0) == ("hardened", [], True), done.err
