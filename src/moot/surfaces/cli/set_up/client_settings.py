"""Adds Moot's MCP server to the settings of a coding client and removes it, leaving the rest as it is."""

import difflib
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from moot.core.errors import UsageError
from moot.edge.files.sources import replace_file
from moot.edge.models.status import list_key_variables
from moot.text.jsonc import parse_jsonc, remove_member, set_member

NAME = "moot"
TOML_TABLE = ("mcp_servers", NAME)
CALL_SECONDS = 1800
"""A debate takes longer than the default timeout of clients."""


@dataclass(frozen=True)
class ClientSetup:
    """Where and how a client configures MCP servers."""

    label: str
    project: str
    user: str
    path: tuple[str, ...] = ("mcpServers", NAME)
    reference: str = ""
    """How it refers to an environment variable; empty if it cannot."""
    more: tuple[tuple[str, object], ...] = ()
    inherits: bool = True
    """Whether servers inherit the whole environment of the client."""
    afterwards: str = ""


VSCODE_PROFILES = {"darwin": "Library/Application Support/Code/User", "win32": "AppData/Roaming/Code/User"}
CLIENTS: Mapping[str, ClientSetup] = {
    "claude-code": ClientSetup("Claude Code", ".mcp.json", ".claude.json", afterwards="approve it with /mcp"),
    "codex": ClientSetup(
        "Codex", ".codex/config.toml", ".codex/config.toml", TOML_TABLE, inherits=False,
        afterwards="a project's file counts only in a folder that Codex trusts",
    ),
    "cursor": ClientSetup(
        "Cursor", ".cursor/mcp.json", ".cursor/mcp.json", reference="${{env:{}}}",
        afterwards="enable it in Cursor's settings, under MCP",
    ),
    "vscode": ClientSetup(
        "VS Code", ".vscode/mcp.json", f"{VSCODE_PROFILES.get(sys.platform, '.config/Code/User')}/mcp.json",
        ("servers", NAME), reference="${{env:{}}}", more=(("type", "stdio"),),
    ),
    "gemini": ClientSetup(
        "Gemini CLI", ".gemini/settings.json", ".gemini/settings.json", reference="${}", inherits=False,
        more=(("timeout", CALL_SECONDS * 1000),),
    ),
    "zed": ClientSetup("Zed", ".zed/settings.json", ".config/zed/settings.json", ("context_servers", NAME)),
}  # fmt: skip


@dataclass(frozen=True)
class SettingsChange:
    """A planned change of a file; `after` None deletes it."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path)))

    def write(self) -> None:
        try:
            if self.after is None:
                self.path.unlink(missing_ok=True)
                return
            self.path.parent.mkdir(parents=True, exist_ok=True)
            target = Path(os.path.realpath(self.path))  # keep a symbolic link to dotfiles
            target.touch()
            replace_file(target, self.after.encode("utf-8"))
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from None


def find_client(name: str) -> ClientSetup:
    if name not in CLIENTS:
        raise UsageError(f"unknown client {name!r}; known are {', '.join(CLIENTS)}")
    return CLIENTS[name]


def settings_path(client: ClientSetup, *, user: bool, home: Path, folder: Path) -> Path:
    return home / client.user if user else folder / client.project


def plan_install(client: ClientSetup, path: Path, variables: Sequence[str]) -> SettingsChange:
    """Idempotent."""
    before = _read(path)
    if client.path == TOML_TABLE:
        return _check_change(
            path, before, _with_table(_without_table(before or ""), variables), tomllib.loads, client.path
        )
    env = {name: client.reference.format(name) for name in variables} if client.reference else {}
    entry = {**dict(client.more), "command": moot_command()[0], "args": [*moot_command()[1:], "mcp"]}
    entry = {**entry, "env": env} if env else entry
    with _name_in_errors(path):
        after = before or ""
        if not before or _entry(before, client.path) != entry:
            after = set_member(after, client.path, entry)
    return _check_change(path, before, after, parse_jsonc, client.path)


def plan_uninstall(client: ClientSetup, path: Path) -> SettingsChange:
    """Deletes a file that held nothing else."""
    before = _read(path)
    if before is None:
        return SettingsChange(path, None, None)
    if client.path == TOML_TABLE:
        change = _check_change(path, before, _without_table(before), tomllib.loads, client.path)
    else:
        with _name_in_errors(path):
            after = remove_member(before, client.path)
        change = _check_change(path, before, after, parse_jsonc, client.path)
    return (
        SettingsChange(path, before, None)
        if before != change.after and (change.after or "").strip() in ("", "{}")
        else change
    )


def moot_command() -> list[str]:
    """The full path of this Moot: a client may have another PATH."""
    program = Path(sys.executable).with_name("moot")
    return [str(program)] if program.is_file() else [sys.executable, "-P", "-m", "moot"]


def list_needed_variables(environ: Mapping[str, str]) -> list[str]:
    """Environment variables that the server needs: keys and addresses of models, and Moot's own."""
    return sorted(name for name in (*list_key_variables(), "MOOT_MODEL", "MOOT_STORE") if environ.get(name))


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


@contextmanager
def _name_in_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (UsageError, ValueError) as error:
        raise UsageError(f"{path}: {error}; it was not touched") from None


def _check_change(
    path: Path, before: str | None, after: str, parse: Callable[[str], object], entry: tuple[str, ...]
) -> SettingsChange:
    """Raises unless the change touches only our entry."""
    with _name_in_errors(path):
        old, new = _without(parse(before or ""), entry), _without(parse(after), entry)
    if old != new:
        raise UsageError(f"{path} could not be changed without touching other settings; add the entry by hand")
    return SettingsChange(path, before, after)


def _entry(text: str, path: tuple[str, ...]) -> object:
    found = parse_jsonc(text)
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _without(settings: object, entry: tuple[str, ...]) -> object:
    """The settings without one entry and the tables it leaves empty."""
    if not isinstance(settings, dict):
        raise UsageError("it is not a table of settings")
    if entry[0] not in settings:
        return settings
    rest = {key: value for key, value in settings.items() if key != entry[0]}
    inner = _without(settings[entry[0]], entry[1:]) if len(entry) > 1 else None
    return {**rest, entry[0]: inner} if inner else rest


TABLE = re.compile(rf"(?m)^\[{TOML_TABLE[0]}\.{NAME}(?:\.[^\]\n]*)?\][^\n]*\n(?:(?!\[)[^\n]*\n?)*")


def _with_table(text: str, variables: Sequence[str]) -> str:
    words = moot_command()
    lines = [
        f"[{'.'.join(TOML_TABLE)}]",
        f"command = {json.dumps(words[0])}",
        f"args = {json.dumps([*words[1:], 'mcp'])}",
        f"env_vars = {json.dumps(list(variables))}",
        f"tool_timeout_sec = {CALL_SECONDS}",
    ]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return f"{text}{gap}{chr(10).join(lines)}\n"


def _without_table(text: str) -> str:
    found = TABLE.search(text)
    if found is None:
        return text
    before = text[: found.start()]
    return (before[:-1] if before.endswith("\n\n") else before) + text[found.end() :]
