"""The hooks of coding tools: hook JSON in, hook JSON out, and what is remembered in between."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import Cli
from patience import PATIENCE
from vetkit import REMEDY, blind_spot, claim, diagnosis, objection

from moot.surfaces.hooks.events import answer
from moot.surfaces.hooks.wire import BadInput, read_input
from moot.text.controls import clean

DANGEROUS, MEDIUM = "rm -rf data", "git rebase main"


@pytest.fixture(autouse=True)
def memory_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", "1")
    monkeypatch.delenv("DISABLE_DEBATE", raising=False)
    monkeypatch.chdir(tmp_path)


def script(folder: Path, monkeypatch: pytest.MonkeyPatch, **seats: list[str]) -> None:
    entries = [{"seat": seat, "reply": reply} for seat, replies in seats.items() for reply in replies]
    (folder / "replies.yaml").write_text(yaml.safe_dump(entries))
    monkeypatch.setenv("MOOT_MODEL", f"script:{folder / 'replies.yaml'}")


def tell(hook: str, *, strict: bool = False, **fields: Any) -> dict[str, Any]:
    """The answer to one call as JSON; nothing said is an empty object."""
    call = {"session_id": "s1", "cwd": str(Path.cwd()), **fields}
    told = answer(hook, json.dumps(call).encode(), os.environ, client="claude", strict=strict)
    assert (told.err, told.code) == ("", 0)
    found: dict[str, Any] = json.loads(told.out or "{}")
    return found


def before(command: str = DANGEROUS, **more: Any) -> dict[str, Any]:
    return tell("pre-tool-use", tool_name="Bash", tool_input={"command": command}, **more)


def remembered(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "data" / "moot" / "hook" / "memory").rglob("failures.jsonl"))


def decision(told: dict[str, Any]) -> str:
    return str(told.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def failed(command: str, error: str = "Exit code 1\nE: no such thing") -> dict[str, Any]:
    return tell("post-tool-use", hook_event_name="PostToolUseFailure", tool_name="Bash",
                tool_input={"command": command}, error=error)  # fmt: skip


# --- before a tool is used


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "ls -la"}, ""),
        ("Bash", {"command": "npm test"}, ""),
        ("Bash", {"command": "git push --force"}, "ask"),
        ("Bash", {"command": "git rebase main"}, "ask"),
        ("Bash", {"command": "ls 'unclosed"}, "ask"),
        ("Write", {"file_path": "src/app.py", "content": "x"}, ""),
        ("Edit", {"file_path": "README.md", "new_string": "delete everything"}, ""),
        ("Write", {"file_path": ".env", "content": "A=1"}, "ask"),
        ("Write", {"file_path": ".env.example", "content": "A="}, ""),
        ("Edit", {"file_path": ".github/workflows/ci.yml", "new_string": "x"}, "ask"),
        ("MultiEdit", {"file_path": "db/migrations/0001.sql", "edits": []}, "ask"),
        ("Edit", {"file_path": "/etc/hosts", "new_string": "x"}, "ask"),
        ("Write", {"file_path": "/home/somebody/.bashrc", "content": "x"}, "ask"),
        ("Write", {"file_path": "../other/file.py", "content": "x"}, "ask"),
        ("Write", {"file_path": "/tmp/scratch.txt", "content": "x"}, ""),
        ("NotebookEdit", {"notebook_path": "a.ipynb", "new_source": "x"}, ""),
        ("Write", {"file_path": "deploy/id_rsa", "content": "x"}, "ask"),
        ("Read", {"file_path": "src/app.py"}, ""),
        ("Read", {"file_path": ".env"}, "ask"),
        ("Grep", {"pattern": "delete"}, ""),
        ("WebFetch", {"url": "https://example.com", "prompt": "x"}, ""),
        ("WebFetch", {"url": "http://169.254.169.254/latest"}, "ask"),
        ("Task", {"prompt": "delete all"}, ""),
        ("mcp__github__list_issues", {}, ""),
        ("mcp__github__delete_repository", {"name": "x"}, "ask"),
        ("mcp__github__merge_pull_request", {"n": 1}, "ask"),
        ("mcp__github__create_issue", {"title": "x"}, "ask"),
        ("mcp__db__query", {"sql": "SELECT 1"}, ""),
        ("mcp__db__query", {"sql": "DROP TABLE users"}, "ask"),
        ("mcp__shell__exec", {"command": "rm -rf x"}, "ask"),
        ("SomethingNew", {"a": 1}, ""),
    ],
)
def test_without_a_model_a_person_decides_what_is_grave(tool: str, given: dict[str, Any], expected: str) -> None:
    told = tell("pre-tool-use", tool_name=tool, tool_input=given)
    assert decision(told) == expected, told
    if expected:
        assert "no model is configured" in told["hookSpecificOutput"]["permissionDecisionReason"]
    else:
        assert "hookSpecificOutput" not in told


@pytest.mark.parametrize(
    ("script", "expected", "said"),
    [("rm -rf ~/important\n", "ask", "deletes folders"), ("echo hello\n", "", ""), (None, "ask", "does not exist")],
)
@pytest.mark.parametrize("command", ["bash tidy.sh", "sh ./tidy.sh", "cd . && bash tidy.sh"])
def test_a_script_is_judged_by_what_is_in_it(
    tmp_path: Path, script: str | None, expected: str, said: str, command: str
) -> None:
    if script is not None:
        (tmp_path / "tidy.sh").write_text(script)
    told = before(command)
    assert decision(told) == expected
    assert said in str(told.get("hookSpecificOutput", {}).get("permissionDecisionReason", ""))


def test_what_would_be_deleted_is_counted(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "one").write_bytes(b"x" * 3_000_000)
    (tmp_path / "link").symlink_to(tmp_path / "data")
    reason = before("rm -rf link/")["hookSpecificOutput"]["permissionDecisionReason"]
    assert f"{tmp_path / 'data'}" in reason and "1 file" in reason and "MB" in reason, reason


def test_what_cannot_be_looked_at_is_not_taken_for_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    import moot.edge.command_inspection

    def broken(*given: object) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(moot.edge.command_inspection, "look_at_command", broken)
    told = before("make all")
    assert decision(told) == "ask" and "no such luck" in told["hookSpecificOutput"]["permissionDecisionReason"]


def test_a_path_inside_the_project_is_seen_from_there(tmp_path: Path) -> None:
    told = tell("pre-tool-use", tool_name="Write", tool_input={"file_path": str(tmp_path / "src/a.py"), "content": ""})
    assert told == {}


@pytest.mark.parametrize(
    ("critic", "expected"),
    [(objection("low", ""), ""), (objection(), "deny"), (objection("high", ""), "ask"), ("", "ask")],
)
def test_the_debate_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, critic: str, expected: str) -> None:
    script(tmp_path, monkeypatch, advocate=[claim()], critic=[critic, critic])
    told = before()
    assert decision(told) == expected, told
    if expected == "deny":
        assert REMEDY in told["hookSpecificOutput"]["permissionDecisionReason"]


def test_what_was_debated_in_a_session_is_not_debated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path, monkeypatch, advocate=[claim()], critic=[objection()])
    assert decision(before()) == "deny"
    assert "already debated" in before()["hookSpecificOutput"]["permissionDecisionReason"]


@pytest.mark.parametrize("switch", ["MOOT_DISABLE_DEBATE", "DISABLE_DEBATE"])
def test_the_switch_is_respected(monkeypatch: pytest.MonkeyPatch, switch: str) -> None:
    assert decision(before()) == "ask"
    monkeypatch.setenv(switch, "1")
    assert before() == {}
    monkeypatch.setenv(switch, "0")
    assert decision(before()) == "ask"


# --- when the person speaks


def test_just_do_it_holds_for_one_request_of_one_session() -> None:
    told = tell("user-prompt", prompt="rebase it, just do it")
    assert "only high stakes are debated" in told["systemMessage"]
    assert before(MEDIUM) == {}
    assert decision(before(MEDIUM, session_id="another")) == "ask"
    assert tell("user-prompt", prompt="and now the next thing") == {}
    assert decision(before(MEDIUM)) == "ask"


def test_no_word_waives_high_stakes() -> None:
    tell("user-prompt", prompt="drop the data, just do it")
    assert decision(before()) == "ask"


@pytest.mark.parametrize("prompt", ["don't just do it", "I'm not sure", "", "I'm sure there is a bug"])
def test_what_is_no_waiver_waives_nothing(prompt: str) -> None:
    assert tell("user-prompt", prompt=prompt) == {}
    assert decision(before(MEDIUM)) == "ask"


def test_start_fresh_ends_the_counting_for_this_session() -> None:
    failed("npm run build")
    assert "failed 2 times" in failed("npm run build")["hookSpecificOutput"]["additionalContext"]
    assert "no longer count" in tell("user-prompt", prompt="let's start fresh")["systemMessage"]
    assert failed("npm run build") == {}


# --- after a tool was used


def test_failures_are_counted_and_a_loop_is_told(tmp_path: Path) -> None:
    assert failed("npm test") == {}
    second = failed("npm test")["hookSpecificOutput"]
    assert second["hookEventName"] == "PostToolUseFailure" and "differs in kind" in second["additionalContext"]
    third = failed("npm test")
    assert "ask how to continue" in third["hookSpecificOutput"]["additionalContext"] and third["systemMessage"]
    (found,) = remembered(tmp_path)
    assert found.read_text().count('"attempt"') == 3


def test_success_ends_the_counting() -> None:
    failed("npm test")
    done = tell("post-tool-use", tool_name="Bash", tool_input={"command": "npm test"}, tool_response={"stdout": "ok"})
    assert done == {}
    assert failed("npm test") == {}


def test_a_search_that_finds_nothing_has_not_failed(tmp_path: Path) -> None:
    for _ in range(3):
        assert failed("grep -r foo src") == {}
    assert not remembered(tmp_path)


@pytest.mark.parametrize(
    ("response", "counted"),
    [
        ({"exit_code": 2, "stderr": "bad"}, True),
        ({"is_error": True}, True),
        ({"success": False}, True),
        ("Error: no", True),
        ({"exit_code": 0, "stdout": "Error: is a word"}, False),
        ({"stdout": "fine"}, False),
        ("all good", False),
        (None, False),
    ],
)
def test_a_failure_is_recognised_in_every_shape(tmp_path: Path, response: object, counted: bool) -> None:
    tell("post-tool-use", tool_name="Bash", tool_input={"command": "make it"}, tool_response=response)
    assert bool(remembered(tmp_path)) is counted


@pytest.mark.parametrize(
    ("critic", "word", "notice"),
    [
        (blind_spot(), "RETRY", False),
        (
            blind_spot("Both used the old API", "The server is another version", "Ask for the version first"),
            "PIVOT",
            False,
        ),
        (blind_spot(escalate=True), "ESCALATE", True),
    ],
)
def test_a_failure_debate_gives_advice_to_the_coding_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, critic: str, word: str, notice: bool
) -> None:
    script(tmp_path, monkeypatch, advocate=[diagnosis()], critic=[critic])
    failed("npm test", "E1: one thing")
    told = failed("npm test", "E2: another thing")
    assert word in told["hookSpecificOutput"]["additionalContext"], told
    assert ("systemMessage" in told) is notice


# --- Moot's own failures


@pytest.mark.parametrize("raw", [b"", b"nonsense", b"[]", b"null", b"\xff\xfe", b"{}"])
def test_what_is_no_hook_call_blocks_only_when_strict(raw: bytes) -> None:
    lax = json.loads(answer("pre-tool-use", raw, {}, client="claude").out)
    assert "nothing was blocked" in lax["systemMessage"] and "hookSpecificOutput" not in lax
    assert decision(json.loads(answer("pre-tool-use", raw, {}, client="claude", strict=True).out)) == "deny"
    strict = {"MOOT_HOOK_STRICT": "1"}
    assert decision(json.loads(answer("pre-tool-use", raw, strict, client="claude").out)) == "deny"
    assert "deny" not in answer("user-prompt", raw, {}, client="claude", strict=True).out
    unknown = answer("pre-tool-use", raw, strict)
    assert (unknown.out, unknown.code) == ("", 2) and "could not check this" in unknown.err


DEEP = (
    b'{"tool_name": "Bash", "tool_input": {"command": "git push --force", "x": '
    + b"[" * 100_000
    + b"]" * 100_000
    + b"}}"
)


@pytest.mark.parametrize(
    "raw",
    [DEEP, b"[" * 100_000, b'{"tool_name": "Bash", "n": ' + b"1" * 5000 + b"}", b'{"tool_name": "Bash"}',
     b'{"tool_name": "Bash", "tool_input": {"command": 7}}', b'{"tool_name": "Write", "tool_input": {"uri": "x"}}',
     b'{"tool_name": "Bash", "tool_input": "git push --force"}',
     b'{"tool_name": "Bash", "tool_input": {"command": "ls", "cmd": "git push --force"}}',
     b'{"tool_name": "Bash", "tool_input": {"command": ["git push --force"]}}',
     b'{"tool_name": "Bash", "tool_input": {"command": "git push --force origin \\ud800"}}'],
)  # fmt: skip
def test_what_was_put_into_a_call_does_not_keep_it_from_being_judged(raw: bytes) -> None:
    told = answer("pre-tool-use", raw, {**os.environ, "CLAUDE_CODE_SESSION_ATTENDED": "0"}, client="codex")
    assert decision(json.loads(told.out)) == "deny" and told.out.isascii()


def own_settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "config" / "moot").mkdir(parents=True, exist_ok=True)
    (tmp_path / "config" / "moot" / "moot.toml").write_text(text)


def test_strict_is_the_user_s_own_setting(tmp_path: Path) -> None:
    def told() -> dict[str, Any]:
        return dict(json.loads(answer("pre-tool-use", b"nonsense", os.environ, client="claude").out))

    (tmp_path / "moot.toml").write_text("[hook]\nstrict = false\n")
    own_settings(tmp_path, "[hook]\nstrict = true\n")
    assert decision(told()) == "deny"
    own_settings(tmp_path, "[hook\n")
    assert decision(told()) == "deny"
    own_settings(tmp_path, "")
    assert decision(told()) == ""


@pytest.mark.parametrize("model", ["nonsense:model", "script:nowhere.yaml", "openai:gpt-5"])
def test_where_no_debate_can_be_held_a_person_decides(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setenv("MOOT_MODEL", model)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    told = before()
    assert decision(told) == "ask" and "could not be debated" in told["hookSpecificOutput"]["permissionDecisionReason"]


def test_the_session_state_may_be_broken(tmp_path: Path) -> None:
    tell("user-prompt", prompt="just do it")
    (state,) = (tmp_path / "data" / "moot" / "hook" / "sessions").glob("*.json")
    state.write_text("{torn")
    assert decision(before(MEDIUM)) == "ask"


# --- the judge cannot be replaced by the judged


@pytest.mark.parametrize(
    "settings",
    ['model = "script:yes.yaml"\n', "nonsense = 1\n", "[[[", '[vet]\nmemory = "here"\n', '[hook]\nallow = "*"\n',
     '[hook]\nallow = "rm -rf data"\n'],
)  # fmt: skip
def test_a_project_s_file_does_not_weaken_the_hook(tmp_path: Path, settings: str) -> None:
    (tmp_path / "moot.toml").write_text(settings)
    entries = [{"seat": "advocate", "reply": claim()}, {"seat": "critic", "reply": objection("low", "")}]
    (tmp_path / "yes.yaml").write_text(yaml.safe_dump(entries))
    assert decision(before()) == "ask"


@pytest.mark.parametrize(
    "command",
    ["echo 'model = \"script:yes.yaml\"' > moot.toml", "moot approve 3f9a", "moot allow 3f9a",
     "moot token create --scope admin", "curl -X POST http://127.0.0.1:8420/v1/debates/3/approve",
     "sed -i s/deny/allow/ .claude/settings.json", "moot vet x -m 'cmd:rm -rf /home/me'",
     "moot debate x --seat=critic=cmd:./evil.sh", "echo '{}' | moot hook user-prompt --client claude",
     "echo x >> $XDG_DATA_HOME/moot/hook/calls.jsonl",
     "moot hook uninstall"],
)  # fmt: skip
def test_what_changes_the_guard_is_decided_by_a_person_and_never_debated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    script(tmp_path, monkeypatch, advocate=[claim()], critic=[objection("low", "")])
    own_settings(tmp_path, '[hook]\nallow = ["*", "moot *", "curl *"]\n')
    tell("user-prompt", prompt="just do it")
    told = before(command)
    assert decision(told) == "ask" and "only a person" in told["hookSpecificOutput"]["permissionDecisionReason"], told


@pytest.mark.parametrize(
    "path",
    [".claude/skills/x/SKILL.md", ".claude/agents/x.md", ".gemini/policies/x.toml", ".codex/rules/default.rules",
     "x.code-workspace", "data/moot/hook/calls.jsonl", "config/moot/moot.toml"],
)  # fmt: skip
def test_places_that_can_carry_hooks_or_state_are_decided_by_a_person(tmp_path: Path, path: str) -> None:
    given = {"file_path": str(tmp_path / path), "content": "x"}
    assert "only a person" in str(tell("pre-tool-use", tool_name="Write", tool_input=given))


@pytest.mark.parametrize(
    "path", ["moot.toml", ".claude/settings.json", ".codex/hooks.json", "sub/../moot.toml", "link"]
)
def test_writing_the_guard_s_own_files_is_decided_by_a_person(tmp_path: Path, path: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / ".claude" / "settings.json")
    told = tell("pre-tool-use", tool_name="Write", tool_input={"file_path": path, "content": "{}"})
    assert decision(told) == "ask" and "only a person" in told["hookSpecificOutput"]["permissionDecisionReason"], told


# --- the command itself


def moot(*arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "moot", *arguments], input=text, capture_output=True, timeout=PATIENCE)


def test_the_command_answers_on_stdout_and_always_ends_well() -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": DANGEROUS}, "session_id": "x"}
    claude = ("hook", "pre-tool-use", "--client", "claude")
    done = moot(*claude, text=json.dumps(call).encode())
    assert (done.returncode, decision(json.loads(done.stdout)), done.stderr) == (0, "ask", b"")
    assert moot(*claude, text=b"").returncode == 0
    assert decision(json.loads(moot(*claude, "--strict", text=b"").stdout)) == "deny"
    unknown = moot("hook", "pre-tool-use", text=json.dumps(call).encode())
    assert (unknown.returncode, unknown.stdout) == (2, b"") and b"moot allow" in unknown.stderr
    assert moot("hook", "nonsense").returncode == 2


def test_input_that_does_not_come_is_not_waited_for_for_ever() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b'{"tool_name": ')
        with pytest.raises(BadInput, match="did not end"):
            read_input(reading, patience=0.0)
    finally:
        os.close(reading)
        os.close(writing)


def test_too_much_input_is_not_judged() -> None:
    big = b'{"tool_name": "Bash", "tool_input": {"command": "' + b"x" * 21_000_000 + b'"}}'
    told = json.loads(moot("hook", "pre-tool-use", "--client", "claude", text=big).stdout)
    assert "larger than" in told["systemMessage"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["hook", "pre-tool-use", "--client", "claude"],
        ["route", "ls -la", "--json"],
        ["route", "delete the old logs"],
        ["route", "--stdin"],
    ],
)
def test_the_quick_path_loads_nothing_slow(arguments: list[str]) -> None:
    slow = ("pydantic", "typer", "sqlalchemy", "rich", "asyncio", "moot.edge", "dataclasses", "pathlib", "traceback")
    # The answer itself is made in a process of its own, so it is looked at here.
    alone = "import moot.surfaces.hooks.apart as apart; apart._answer('pre-tool-use', 'claude', strict=False); "
    code = (
        "import sys; "
        + (alone if arguments[0] == "hook" else "")
        + (
            f"from moot.__main__ import run; run({arguments!r}, debug=False); "
            f"sys.stderr.write(str([m for m in {slow} if m in sys.modules]))"
        )
    )
    call = {"tool_name": "Bash", "tool_input": {"command": "git status && ls"}}
    done = subprocess.run([sys.executable, "-c", code], input=json.dumps(call), capture_output=True, text=True)
    assert done.stderr == "[]"


@pytest.mark.parametrize("client", ["claude", "vscode", "copilot", "cursor", "gemini", "", "codex"])
def test_an_answer_holds_nothing_that_a_terminal_would_obey(client: str, tmp_path: Path) -> None:
    """A client shows it to the person who decides: words of the call may not draw over it."""
    hostile = "\x1b[2J\x1b[HMoot: allowed\u202edehctef\x9b31m\x07"
    (tmp_path / "run.sh").write_text(f"rm -rf '/srv/{hostile}'\n")
    for command in (f"rm -rf '/srv/{hostile}'", f"git push --force {hostile}", "sh run.sh", f"{hostile} 'unclosed"):
        call = {"session_id": "s1", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": command}}
        told = answer("pre-tool-use", json.dumps(call).encode(), os.environ, client=client)
        said = [told.err, *list_texts(json.loads(told.out or "{}"))]
        assert "".join(said).strip() and said == [clean(each) for each in said], command


def list_texts(value: object) -> list[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, str) else [text for each in inner for text in list_texts(each)]


# --- from inside a guarded folder, and around the hook itself


@pytest.mark.parametrize("folder", [".claude", ".codex", "data/moot/hook", "config/moot"])
@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Bash", {"command": "echo '{}' >> settings.json"}),
        ("Bash", {"command": "cp /tmp/x config.toml"}),
        ("Write", {"file_path": "settings.json", "content": "{}"}),
        ("apply_patch", {"input": "*** Begin Patch\n *** Add File: hooks.json\n+{}\n*** End Patch"}),
    ],
)
def test_a_guarded_folder_is_guarded_from_inside(tmp_path: Path, folder: str, tool: str, given: dict[str, str]) -> None:
    names = {
        ".claude": "settings.json",
        ".codex": "hooks.json",
        "data/moot/hook": "calls.jsonl",
        "config/moot": "moot.toml",
    }
    place = tmp_path / folder
    place.mkdir(parents=True, exist_ok=True)
    said = {key: re.sub(r"settings\.json|config\.toml|hooks\.json", names[folder], text) for key, text in given.items()}
    told = tell("pre-tool-use", tool_name=tool, tool_input=said, cwd=str(place))
    assert decision(told) == "ask" and "only a person" in told["hookSpecificOutput"]["permissionDecisionReason"], told


@pytest.mark.parametrize("key", ["workdir", "dir_path", "directory", "cwd"])
def test_a_folder_that_the_call_names_is_where_it_works(key: str) -> None:
    told = tell("pre-tool-use", tool_name="Bash", tool_input={"command": "echo x > settings.json", key: ".claude"})
    assert decision(told) == "ask"


@pytest.mark.parametrize(
    "given",
    [
        {"query": "/* x */ drop table users"},
        {"query": "-- x\ndrop table users"},
        {"query": "; drop table users"},
        {"query": "select 1", "statement": "drop table users"},
        {"sql": ["drop table users"]},
        {"params": {"sql": "drop table users"}},
        {"command": "git", "args": ["push", "--force"]},
        {"path": ".claude/settings.json", "text": "{}"},
        {"relative_path": ".claude/settings.json"},
        {"url": "http://127.0.0.1:8420/v1/debates/3/approve", "method": "POST"},
        {"url": "http://127.0.0.1/thing", "method": "delete"},
    ],
)
def test_all_that_a_tool_of_a_server_is_given_is_looked_at(given: dict[str, Any]) -> None:
    assert decision(tell("pre-tool-use", tool_name="mcp__x__apply", tool_input=given)) == "ask"


def test_no_tool_of_a_server_decides_a_gate() -> None:
    told = tell("pre-tool-use", tool_name="mcp__moot__approve", tool_input={"id": "3"})
    assert decision(told) == "ask" and "only a person" in told["hookSpecificOutput"]["permissionDecisionReason"]


def test_what_moot_vet_was_told_to_say_is_no_verdict_of_the_hook(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [{"seat": "advocate", "reply": claim()}, {"seat": "critic", "reply": objection("low", "")}]
    (tmp_path / "yes.yaml").write_text(yaml.safe_dump(entries))
    said = cli("vet", DANGEROUS, "--stakes", "high", "--session", "s1", "-m", "script:yes.yaml")
    assert "PROCEED" in said.out
    assert decision(before()) == "ask"


def test_a_hook_whose_folder_is_gone_still_judges(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    call = json.dumps(
        {"turn_id": "t", "tool_name": "Bash", "tool_input": {"command": "git push --force"}, "session_id": "s"}
    )
    line = f"cd gone && rmdir ../gone && exec {sys.executable} -m moot hook pre-tool-use --client codex"
    done = subprocess.run(["/bin/sh", "-c", line], input=call, capture_output=True, text=True, timeout=PATIENCE)
    assert decision(json.loads(done.stdout)) == "deny", done


@pytest.mark.parametrize(
    "fault", ["raise SystemExit(0)", "os.kill(os.getpid(), 9)", "time.sleep(1000)", "print('x' * 10)"]
)
def test_a_hook_that_crashes_or_hangs_stops_the_call(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    code = (
        "import os, sys, time; import moot.surfaces.hooks.apart as apart\n"
        f"def broken(*given, **more):\n    {fault}\n"
        "apart._answer = broken\n"
        "told = apart.answer_apart('pre-tool-use', 'claude', strict=False, longest=1.0)\n"
        "sys.stderr.write(told.err); sys.exit(told.code)"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b"", capture_output=True, timeout=PATIENCE)
    assert done.returncode == 2 and b"the call is stopped" in done.stderr, done


@pytest.mark.parametrize(
    "command",
    [
        "echo x >> s/moot/hook/calls.jsonl",
        "echo x >> $XDG_DATA_HOME/moot/hook/calls.jsonl",
        "ln -s data s2",
        "cp -r x/. data",
        "tar xf x.tar -C data",
        "rsync -a x/ data/moot",
        "git apply x.patch",
        "patch -p1 < x.patch",
        "python3 -c \"from moot.surfaces.hooks.allowances import *; allow(allowances({}), 'abc', 'me')\"",
        "uv pip uninstall moot",
        "uv remove moot",
    ],
)
def test_a_detour_to_moot_s_own_places_is_decided_by_a_person(tmp_path: Path, command: str) -> None:
    (tmp_path / "data" / "moot").mkdir(parents=True)
    (tmp_path / "s").symlink_to(tmp_path / "data")
    (tmp_path / "x").mkdir()
    (tmp_path / "x.patch").write_text(
        "--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-a\n+b\n--- a/moot.toml\n+++ b/moot.toml\n"
    )
    told = before(command)
    assert decision(told) == "ask" and "only a person" in told["hookSpecificOutput"]["permissionDecisionReason"], told


@pytest.mark.parametrize(
    "command",
    ["cp a.txt b.txt", "git apply ok.patch", "tar xf x.tar -C build", "pip install requests", "echo moot > notes.txt",
     "python3 -c 'import json'", "ln -s a b", "git commit -m 'import moot stuff'", "npm install"],
)  # fmt: skip
def test_what_leads_nowhere_near_is_not_guarded(tmp_path: Path, command: str) -> None:
    (tmp_path / "ok.patch").write_text("--- a/app.py\n+++ b/app.py\n@@ -1 +1 @@\n-a\n+b\n")
    assert "only a person" not in str(before(command))
