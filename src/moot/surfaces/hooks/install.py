"""Adds Moot's hooks to the settings of a coding client and removes them, leaving the rest as it is."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import UsageError

SECONDS = 600
"""Longer than any hook takes: clients run a command whose hook is late."""
TOOLS = "Bash|Write|Edit|MultiEdit|NotebookEdit|Read|Grep|WebFetch|mcp__.*"
"""Tools of Claude Code whose failures count; before a call, every tool is checked."""
OURS = re.compile(
    r"(?:^|[/\\\s'\"])moot(?:\.exe)?['\"]? hook (?:pre-tool-use|post-tool-use|user-prompt|review-commit)\b"
)
Settings = dict[str, object]


class Event(NamedTuple):
    name: str
    hook: str
    matcher: str = ""


class HookPlace(NamedTuple):
    """Where and how a client configures hooks."""

    project: str
    user: str
    events: tuple[Event, ...]
    nested: bool = True
    """Hooks are grouped by matcher; else they are a plain list."""
    command: str = "command"
    timeout: tuple[str, int] = ("timeout", SECONDS)
    more: tuple[tuple[str, object], ...] = ()
    """Further fields of each hook."""
    head: tuple[tuple[str, object], ...] = ()
    """Further fields of the file."""
    afterwards: str = ""


PRE, POST, PROMPT, REVIEW = "pre-tool-use", "post-tool-use", "user-prompt", "review-commit"
REWAKE: Settings = {
    "if": "Bash(git:*)",  # `git -c NAME=VALUE commit` begins with something else; the hook itself looks for a commit
    "asyncRewake": True,
    "rewakeMessage": "A review that runs beside you has ended.",
    "rewakeSummary": "Moot found flaws in the commit",
    "timeout": SECONDS,
}
"""Options for a hook that runs beside the agent and wakes it."""
TYPED = (("type", "command"),)
PLACES = {
    "claude": HookPlace(
        ".claude/settings.json", ".claude/settings.json",
        (Event("PreToolUse", PRE, "*"), Event("PostToolUse", POST, TOOLS), Event("PostToolUseFailure", POST, TOOLS),
         Event("UserPromptSubmit", PROMPT)),
        more=TYPED,
    ),
    "codex": HookPlace(
        ".codex/hooks.json", ".codex/hooks.json",
        (Event("PreToolUse", PRE), Event("PostToolUse", POST), Event("UserPromptSubmit", PROMPT)),
        more=TYPED, afterwards="Codex runs a hook only after you trust it: open /hooks there and approve it",
    ),
    "vscode": HookPlace(
        ".github/hooks/moot.json", ".copilot/hooks/moot.json",
        (Event("PreToolUse", PRE), Event("PostToolUse", POST), Event("UserPromptSubmit", PROMPT)),
        nested=False, more=TYPED,
    ),
    "copilot": HookPlace(
        ".github/hooks/moot-copilot.json", ".copilot/hooks/moot-copilot.json",
        (Event("preToolUse", PRE), Event("postToolUse", POST), Event("userPromptSubmitted", PROMPT)),
        nested=False, command="bash", timeout=("timeoutSec", SECONDS), more=TYPED, head=(("version", 1),),
        afterwards="Copilot CLI reads a project's hooks only in a folder that you trust",
    ),
    "cursor": HookPlace(
        ".cursor/hooks.json", ".cursor/hooks.json",
        (Event("beforeShellExecution", PRE), Event("beforeMCPExecution", PRE),
         Event("preToolUse", PRE, "Read|Write|Grep|Delete"), Event("postToolUse", POST),
         Event("postToolUseFailure", POST), Event("beforeSubmitPrompt", PROMPT)),
        nested=False, more=(("failClosed", True),), head=(("version", 1),),
    ),
    "gemini": HookPlace(
        ".gemini/settings.json", ".gemini/settings.json",
        (Event("BeforeTool", PRE, ".*"), Event("AfterTool", POST, ".*"), Event("BeforeAgent", PROMPT)),
        timeout=("timeout", SECONDS * 1000), more=TYPED,
    ),
}  # fmt: skip


def place_of(client: str) -> HookPlace:
    if client not in PLACES:
        raise UsageError(f"unknown client {client!r}; there are {', '.join(PLACES)}")
    return PLACES[client]


def settings_file(client: str, *, user: bool, home: Path, folder: Path) -> Path:
    place = place_of(client)
    return home / place.user if user else folder / place.project


def read_settings(path: Path) -> Settings:
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a file; it was not changed")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    try:
        found = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid JSON ({error}); fix it first; it was not changed") from None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise UsageError(f"{path} does not look like a hooks file; it was not changed")
    return dict(found)


def with_hooks(settings: Settings, client: str, *, strict: bool = False, background: bool = False) -> Settings:
    """The settings with Moot's hooks, replacing older ones of ours. `background` also reviews commits beside the
    agent."""
    place, cleaned = place_of(client), without_hooks(settings)
    kept = cleaned.get("hooks")
    hooks: Settings = dict(kept) if isinstance(kept, dict) else {}
    for event in place.events:
        hook: Settings = dict(place.more)
        hook[place.command] = hook_command(client, event.hook, strict=strict)
        hook[place.timeout[0]] = place.timeout[1]
        matcher: Settings = {"matcher": event.matcher} if event.matcher else {}
        entry = {**matcher, "hooks": [hook]} if place.nested else {**hook, **matcher}
        others = hooks.get(event.name)
        hooks[event.name] = [*(others if isinstance(others, list) else []), entry]
    if background:
        if client != "claude":
            raise UsageError(f"{client} cannot be notified by a hook; --background is for Claude Code")
        review: Settings = {**dict(place.more), "command": hook_command(client, REVIEW, strict=False), **REWAKE}
        groups = hooks["PostToolUse"]
        assert isinstance(groups, list)
        groups.append({"matcher": "Bash", "hooks": [review]})
    return {**dict(place.head), **cleaned, "hooks": hooks}


def without_hooks(settings: Settings) -> Settings:
    """The settings without Moot's hooks and the events they leave empty."""
    old = settings.get("hooks")
    if not isinstance(old, dict):
        return settings
    left: Settings = {}
    for event, entries in old.items():
        kept = [rest for entry in entries if (rest := _without_moot(entry))] if isinstance(entries, list) else entries
        if kept or not entries:
            left[event] = kept
    rest = {key: value for key, value in settings.items() if key != "hooks"}
    return {**rest, "hooks": left} if left else rest


def _without_moot(entry: object) -> object:
    """The entry without our commands; None if nothing is left."""
    if not isinstance(entry, dict):
        return entry
    inner = entry.get("hooks")
    if not isinstance(inner, list):
        return None if _ours(entry) else entry
    others = [hook for hook in inner if not _ours(hook)]
    return {**entry, "hooks": others} if others or not inner else None


def _ours(hook: object) -> bool:
    said = [hook.get(key) for key in ("command", "bash")] if isinstance(hook, dict) else []
    return any(isinstance(each, str) and OURS.search(each) for each in said)


def hook_command(client: str, hook: str, *, strict: bool) -> str:
    """The full path of this Moot: a client may have another PATH."""
    program = Path(sys.executable).with_name("moot")
    words = [str(program)] if program.is_file() else [sys.executable, "-P", "-m", "moot"]
    flags = ["--strict"] if strict and hook == PRE else []
    return shlex.join([*words, "hook", hook, "--client", client, *flags])


def try_hooks(client: str, *, strict: bool = False) -> None:
    """Runs the command once as the client would: it must stop what it has to, and let the rest pass."""
    command = hook_command(client, PRE, strict=strict)
    with tempfile.TemporaryDirectory() as scratch:
        env = {**os.environ, "XDG_DATA_HOME": scratch, "HOME": scratch}
        env = {key: value for key, value in env.items() if not key.endswith("DISABLE_DEBATE")}
        for line, stops in (("git status", False), ("moot allow 0", True)):
            call = json.dumps(sample(client, line))
            try:
                ran = subprocess.run(
                    ["/bin/sh", "-c", command], input=call, env=env, cwd=scratch, capture_output=True, text=True,
                    timeout=60,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired) as error:
                raise UsageError(f"the hook does not run; nothing was written: {command}: {error}") from None
            said = ran.stdout + ran.stderr
            if ran.returncode not in (0, 2) or stops != bool(re.search(r'"(?:deny|ask)"', said) or ran.returncode == 2):
                raise UsageError(f"the hook does not answer as expected; nothing was written: {command}: {said[-500:]}")


def sample(client: str, line: str) -> Settings:
    """A shell command in this client's format."""
    given: Settings = {"command": line}
    common: Settings = {"session_id": "s1", "cwd": os.curdir, "tool_input": given}
    shapes: dict[str, Settings] = {
        "claude": {
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "permission_mode": "default",
            "prompt_id": "p",
        },
        "codex": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "permission_mode": "default", "turn_id": "t"},
        "vscode": {"hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "sessionId": "s1"},
        "gemini": {"hook_event_name": "BeforeTool", "tool_name": "run_shell_command"},
    }
    if client == "cursor":
        return {"hook_event_name": "beforeShellExecution", "conversation_id": "s1", "cwd": os.curdir, **given}
    if client == "copilot":
        return {"sessionId": "s1", "timestamp": 1, "cwd": os.curdir, "toolName": "bash", "toolArgs": given}
    return {**common, **shapes[client]}


def write_settings(path: Path, settings: Settings, client: str) -> bool:
    """False if nothing changed. Atomic; a file that held only our hooks is deleted."""
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        if path.exists() and json.loads(path.read_text(encoding="utf-8-sig") or "null") == settings:
            return False
        target = Path(os.path.realpath(path))  # keep a symbolic link to dotfiles
        if settings in ({}, dict(place_of(client).head)):
            target.unlink(missing_ok=True)
            return True
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f"{target.name}.{os.getpid()}.new")
        beside.write_text(text, encoding="utf-8")
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return True
