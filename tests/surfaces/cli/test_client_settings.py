"""Moot in the settings of coding clients: one entry in, exactly that entry out, everything else as it was written."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import Cli
from hypothesis import given
from hypothesis import strategies as st

from moot.surfaces.cli.set_up.client_settings import CLIENTS, plan_install, plan_uninstall
from moot.text.jsonc import parse_jsonc, remove_member, set_member

COMMENTED = """// mine
{
\t// the look
\t"theme": "dark", /* { */
\t"mcpServers": { // servers }
\t\t"other": {"command": "x", "args": ["a, b", "}"]}, // keep
\t},
\t"servers": {"other": {"command": "y"}},
\t"context_servers": {"other": {"command": "z"}}
}
"""
CODEX = """# mine
model = "gpt-5"

[mcp_servers.other] # keep
command = "x"
"""
KEY = "sk-live-0123456789abcdef"
SAYS: dict[str, tuple[str, dict[str, dict[str, object]]]] = {
    "claude-code": (".mcp.json", {"mcpServers": {}}),
    "codex": (".codex/config.toml", {"mcp_servers": {"env_vars": ["OPENAI_API_KEY"], "tool_timeout_sec": 1800}}),
    "cursor": (".cursor/mcp.json", {"mcpServers": {"env": {"OPENAI_API_KEY": "${env:OPENAI_API_KEY}"}}}),
    "vscode": (
        ".vscode/mcp.json", {"servers": {"type": "stdio", "env": {"OPENAI_API_KEY": "${env:OPENAI_API_KEY}"}}},
    ),
    "gemini": (
        ".gemini/settings.json", {"mcpServers": {"timeout": 1800000, "env": {"OPENAI_API_KEY": "$OPENAI_API_KEY"}}},
    ),
    "zed": (".zed/settings.json", {"context_servers": {}}),
}  # fmt: skip
"""Client -> its file in a project, and what stands there of Moot beside the command, by the key of the servers."""


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_is_told_in_its_own_words(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    file, entries = SAYS[name]
    ((key, more),) = entries.items()
    assert cli("install", name).code == 0
    text = (tmp_path / file).read_text()
    settings = tomllib.loads(text) if file.endswith(".toml") else json.loads(text)
    entry = settings[key]["moot"]
    command = [entry.pop("command"), *entry.pop("args")]
    assert set(settings) == {key} and entry == more
    ran = subprocess.run([*command, "--help"], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0 and "MCP" in ran.stdout  # the command is there, and is the server's


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("user", [False, True])
def test_in_again_and_out(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, user: bool) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client, flags = CLIENTS[name], ("--user",) if user else ()
    path = (tmp_path / "home" if user else tmp_path) / (client.user if user else client.project)
    before = CODEX if path.suffix == ".toml" else COMMENTED
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before)
    shown = cli("install", name, *flags, "--print")
    assert shown.code == 0 and "mcp" in shown.out and path.read_text() == before
    assert cli("install", name, *flags).code == 0
    text = path.read_text()
    settings = tomllib.loads(text) if path.suffix == ".toml" else parse_jsonc(text)
    entry = settings[client.path[0]]["moot"]
    assert Path(entry["command"]).name in ("moot", "python") and entry["args"][-1] == "mcp"
    assert settings[client.path[0]]["other"]["command"] in "xyz"
    assert KEY not in text and ("OPENAI_API_KEY" in text or (client.inherits and not client.reference))
    assert all(line in text for line in before.splitlines() if "keep" in line or line.startswith(("//", "#")))
    again = cli("install", name, *flags)
    assert "nothing to do" in again.out and path.read_text() == text
    assert cli("uninstall", name, *flags).code == 0 and path.read_text() == before
    assert "nothing to do" in cli("uninstall", name, *flags).out


@pytest.mark.parametrize("name", CLIENTS)
def test_a_file_that_was_not_there_goes_again(cli: Cli, tmp_path: Path, name: str) -> None:
    path = tmp_path / CLIENTS[name].project
    assert cli("install", name).code == 0 and path.is_file()
    assert cli("uninstall", name).code == 0 and not path.exists()


@pytest.mark.parametrize("text", ['{"mcpServers": ', '{"mcpServers": []}', "[]", '{"mcpServers": {"a": }}', "\x00"])
def test_a_file_that_is_not_understood_is_not_touched(cli: Cli, tmp_path: Path, text: str) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(text)
    for verb in ("install", "uninstall"):
        assert cli(verb, "claude-code").code in (0, 2) and path.read_text() == text
    assert (end := cli("install", "claude-code")).code == 2 and ".mcp.json" in end.err
    toml = tmp_path / ".codex/config.toml"
    toml.parent.mkdir()
    toml.write_text('mcp_servers = {moot = {command = "x"}}\n')
    assert cli("install", "codex").code == 2 and "x" in toml.read_text()


def test_a_byte_order_mark_is_no_mistake(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text('{"mcpServers": {}}', "utf-8-sig")
    assert cli("install", "claude-code").code == 0 and "moot" in json.loads(path.read_text("utf-8"))["mcpServers"]
    hooks = tmp_path / ".claude/settings.json"
    hooks.parent.mkdir()
    hooks.write_text("{}", "utf-8-sig")
    assert cli("hook", "install", "--print").code == 0


def test_an_unknown_client_is_named_with_those_that_are_known(cli: Cli) -> None:
    ran = cli("install", "emacs")
    assert ran.code == 2 and "claude-code" in ran.err


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text().filter(lambda key: key != "mcpServers"), values, max_size=4), st.integers(0, 4))
def test_whatever_else_is_there_comes_out_as_it_was(settings: dict[str, object], indent: int) -> None:
    text = json.dumps(settings, indent=indent or None, ensure_ascii=False)
    with_ours = set_member(text, ("mcpServers", "moot"), {"command": "moot"})
    assert parse_jsonc(with_ours) == {**settings, "mcpServers": {"moot": {"command": "moot"}}}
    assert remove_member(with_ours, ("mcpServers", "moot")) == text


def test_a_change_is_planned_without_writing(tmp_path: Path) -> None:
    client, path = CLIENTS["cursor"], tmp_path / "mcp.json"
    assert plan_install(client, path, ["OPENAI_API_KEY"]).diff and not path.exists()
    assert plan_uninstall(client, path).diff == ""
