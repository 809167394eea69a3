"""The contract with every coding client: its own JSON in, an answer that it is known to heed out."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from moot.surfaces.hooks.clients import CLIENTS, READERS, read_call
from moot.surfaces.hooks.events import answer
from moot.surfaces.hooks.wire import HookReply

DATA = Path(__file__).parents[2] / "data" / "hooks"
CALLS = sorted(path.relative_to(DATA).with_suffix("").as_posix() for path in DATA.glob("*/*.json"))
BEFORE = [name for name in CALLS if "/before-" in name]
SHELLS = [name for name in BEFORE if name.endswith("-shell")]
GRAVE = "git push --force origin main"
MODES = ("", "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto", "a mode of tomorrow")
CODEX_KNOWS = {"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("XDG_DATA_HOME", "data"), ("XDG_CONFIG_HOME", "config")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    for name in ("CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_ENTRYPOINT", "MOOT_DISABLE_DEBATE", "DISABLE_DEBATE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def recorded(name: str) -> dict[str, Any]:
    return dict(json.loads((DATA / f"{name}.json").read_text()))


def client_of(name: str) -> str:
    return name.partition("/")[0].partition("-")[0]


def given(call: dict[str, Any]) -> dict[str, Any]:
    """The tool's input, wherever this client puts it."""
    return next((call[key] for key in ("tool_input", "toolArgs") if isinstance(call.get(key), dict)), call)


def with_command(name: str, command: str, **more: Any) -> dict[str, Any]:
    call = {**recorded(name), **more}
    given(call)["command"] = command
    return call


def told(call: dict[str, Any], hook: str = "pre-tool-use", **more: Any) -> HookReply:
    return answer(hook, json.dumps(call).encode(), os.environ, **more)


def becomes(client: str, call: dict[str, Any], said: HookReply) -> str:
    """What this client makes of an answer: `runs`, `stops` or `asks`. As tried or read, see docs/hooks.md."""
    found = json.loads(said.out) if said.out else {}
    specific = found.get("hookSpecificOutput", {}).get("permissionDecision", "")
    if said.code:
        heeded = said.code == 2 and (said.err or client not in ("codex", "gemini")) and (not said.out)
        return "stops" if heeded else "runs"
    match client:
        case "claude" | "vscode":
            return {"deny": "stops", "ask": "asks"}.get(specific, "runs")
        case "codex":
            reason = found.get("hookSpecificOutput", {}).get("permissionDecisionReason")
            return "stops" if specific == "deny" and reason and set(found) <= CODEX_KNOWS else "runs"
        case "copilot":
            own = found.get("permissionDecision", "") if "toolName" in call else specific
            return "stops" if own in ("deny", "ask") else "runs"
        case "gemini":
            return "stops" if found.get("decision") in ("deny", "block") and found.get("reason") else "runs"
        case "cursor":
            return "stops" if found.get("permission") == "deny" else "runs"
    raise AssertionError(client)


def test_there_is_a_recorded_call_of_every_client() -> None:
    assert {client_of(name) for name in SHELLS} == set(CLIENTS)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("flag", ["", "own"])
def test_every_client_is_told_by_its_shape_or_its_flag(name: str, flag: str) -> None:
    client = client_of(name)
    call = read_call((DATA / f"{name}.json").read_bytes(), client if flag else "")
    assert call.client == client and call.session and (call.folder or client == "cursor")
    assert call.tool or "prompt" in name


@pytest.mark.parametrize("name", SHELLS)
@pytest.mark.parametrize("flag", CLIENTS)
def test_where_flag_and_shape_differ_the_call_is_stopped_in_both(name: str, flag: str) -> None:
    """VS Code and Copilot run the hooks in `.claude/settings.json`, flag and all; a client may learn new fields."""
    call = with_command(name, GRAVE)
    said = told(call, client=flag)
    client = client_of(name)
    asks = flag == client == "vscode"
    assert becomes(client, call, said) == ("asks" if asks else "stops")
    if (flag, client) not in READERS:
        assert becomes(flag, call, said) == ("asks" if asks else "stops")


@pytest.mark.parametrize("name", [name for name in BEFORE if not name.endswith(("mcp", "delete"))])
def test_a_harmless_call_is_answered_with_silence(name: str) -> None:
    said = told(recorded(name), strict=True)
    assert (said.out, said.err, said.code) == ("", "", 0)


@pytest.mark.parametrize("name", [name for name in BEFORE if name.endswith(("mcp", "delete"))])
def test_what_takes_something_away_is_judged(name: str) -> None:
    call = recorded(name)
    assert becomes(client_of(name), call, told(call)) in ("stops", "asks")


@pytest.mark.parametrize("name", SHELLS)
@pytest.mark.parametrize("attended", ["0", "1", ""])
@pytest.mark.parametrize("mode", MODES)
def test_what_a_person_must_decide_never_just_runs(
    monkeypatch: pytest.MonkeyPatch, name: str, attended: str, mode: str
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", attended)
    call = with_command(name, GRAVE, **({"permission_mode": mode} if mode else {}))
    if not mode:
        call.pop("permission_mode", None)
    client = client_of(name)
    end = becomes(client, call, told(call))
    asking = client == "claude" and attended == "1" and mode in ("", "default", "acceptEdits", "plan")
    assert end == ("asks" if asking or client == "vscode" else "stops")


@pytest.mark.parametrize("name", SHELLS)
def test_an_answer_that_stops_says_why_and_how_to_allow_it(name: str) -> None:
    call = with_command(name, GRAVE)
    said = told(call)
    assert "rewrites what others have" in said.out
    assert becomes(client_of(name), call, said) == "asks" or "moot allow " in said.out


@pytest.mark.parametrize("name", [name for name in BEFORE if name.endswith(("-read", "-write", "-edit"))])
def test_secrets_and_the_guard_s_own_files_are_seen_in_every_shape(name: str) -> None:
    paths = (
        (".env", "config/credentials.json") if name.endswith("-read") else (".env", "moot.toml", ".codex/hooks.json")
    )
    for path in paths:
        call = recorded(name)
        where = next(iter(given(call).get("replacements", [])), given(call))
        key = next(key for key in ("file_path", "filePath", "path") if key in where)
        where[key] = f"/project/{path}"
        assert becomes(client_of(name), call, told(call)) in ("stops", "asks"), (name, path)


@pytest.mark.parametrize("name", [name for name in BEFORE if name.endswith("-patch")])
@pytest.mark.parametrize("change", ["Update File: .env", "Add File: moot.toml", "Delete File: app.py", "Move to: .env"])
def test_a_patch_is_judged_by_the_files_it_touches(name: str, change: str) -> None:
    call = recorded(name)
    key = "command" if "command" in given(call) else "input"
    given(call)[key] = f"*** Begin Patch\n*** Update File: a.py\n@@\n-one\n+two\n*** {change}\n+x\n*** End Patch\n"
    assert becomes(client_of(name), call, told(call)) in ("stops", "asks")


@pytest.mark.parametrize(
    "name", [name for name in CALLS if "fail" in name and "fetch" not in name and "codex" not in name]
)
def test_a_failure_is_counted(tmp_path: Path, name: str) -> None:
    told(recorded(name), "post-tool-use")
    assert list((tmp_path / "data").rglob("failures.jsonl"))


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("/after-tool-shell")])
def test_what_went_well_is_no_failure(tmp_path: Path, name: str) -> None:
    told(with_command(name, "make it"), "post-tool-use")
    assert not list((tmp_path / "data").rglob("failures.jsonl"))


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("/prompt")])
def test_the_person_s_own_words_are_heard(name: str) -> None:
    call, shell = recorded(name), next(each for each in SHELLS if each.startswith(f"{client_of(name)}/"))
    medium = with_command(shell, "git rebase main")
    told({**call, "prompt": "Rebase it, just do it."}, "user-prompt")
    assert told(medium).out == ""
    told({**call, "prompt": "and now the next thing"}, "user-prompt")
    assert becomes(client_of(name), medium, told(medium)) != "runs"


@pytest.mark.parametrize("command", ["bash", "bash -i", "cd src && sh", "python3", "env zsh", "/bin/sh"])
def test_codex_does_not_open_a_shell_that_no_hook_sees(command: str) -> None:
    call = with_command("codex/before-tool-shell", command)
    assert becomes("codex", call, told(call)) == "stops"


def test_what_a_subagent_reports_is_not_the_person_s_word() -> None:
    call = recorded("claude/prompt-agent")
    call["prompt"] = call["prompt"].replace("<result>done</result>", "<result>Just do it.</result>")
    medium = with_command("claude/before-tool-shell", "git rebase main")
    told(call, "user-prompt")
    assert becomes("claude", medium, told(medium)) == "stops"
    told({**call, "prompt": "Rebase it, just do it."}, "user-prompt")
    told(call, "user-prompt")  # a report does not end what the person said either
    assert becomes("claude", medium, told(medium)) == "runs"


def test_a_client_that_is_not_known_is_stopped_by_its_exit_code() -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": GRAVE}}
    said = told(call)
    assert (said.out, said.code) == ("", 2) and "moot allow " in said.err and ". Nobody can be asked" in said.err
    assert all(becomes(client, call, said) == "stops" for client in CLIENTS)
    assert told({"tool_name": "Bash", "tool_input": {"command": "git status"}}) == HookReply()
