"""Moot's hooks in the settings of Claude Code: put in once, whatever else is there."""

import json
import os
from pathlib import Path

from moot.errors import UsageError

TOOLS = "Bash|Write|Edit|MultiEdit|NotebookEdit|Read|WebFetch|mcp__.*"
"""The rest only looks, and is not worth a process."""
SECONDS = 600
"""Longer than a session takes at most, so that Moot itself says when time is up."""
HOOKS: tuple[tuple[str, str, str], ...] = (
    ("PreToolUse", TOOLS, "pre-tool-use"),
    ("PostToolUse", TOOLS, "post-tool-use"),
    ("PostToolUseFailure", TOOLS, "post-tool-use"),
    ("UserPromptSubmit", "", "user-prompt"),
)


def settings_file(*, user: bool, home: Path, folder: Path) -> Path:
    return (home if user else folder) / ".claude" / "settings.json"


def read_settings(path: Path) -> dict[str, object]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    try:
        found = json.loads(text) if text.strip() else {}
    except ValueError as error:
        raise UsageError(f"{path} is no valid JSON ({error}); mend it first, it was not touched") from None
    hooks = found.get("hooks", {}) if isinstance(found, dict) else None
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise UsageError(f"{path} does not look like settings of Claude Code; it was not touched")
    return dict(found)


def with_hooks(settings: dict[str, object], *, strict: bool = False) -> dict[str, object]:
    """The settings with Moot's hooks in them; those of an earlier set-up are replaced, all others stay."""
    old = settings.get("hooks")
    hooks: dict[str, object] = dict(old) if isinstance(old, dict) else {}
    for event, matcher, name in HOOKS:
        groups = hooks.get(event)
        kept = [left for group in (groups if isinstance(groups, list) else []) if (left := _without_moot(group))]
        command = f"moot hook {name}" + (" --strict" if strict and name == "pre-tool-use" else "")
        ours: dict[str, object] = {"hooks": [{"type": "command", "command": command, "timeout": SECONDS}]}
        hooks[event] = [*kept, {"matcher": matcher, **ours} if matcher else ours]
    return {**settings, "hooks": hooks}


def _without_moot(group: object) -> object:
    """The group without our own commands; nothing if it held nothing else."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(group, dict) or not isinstance(inner, list):
        return group
    others = [hook for hook in inner if not (isinstance(hook, dict) and _ours(hook.get("command")))]
    return {**group, "hooks": others} if others or not inner else None


def _ours(command: object) -> bool:
    return isinstance(command, str) and command.strip().startswith("moot hook ")


def write_settings(path: Path, settings: dict[str, object]) -> bool:
    """False if nothing had to be written. The file is replaced whole or not at all."""
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        if path.exists() and json.loads(path.read_text(encoding="utf-8") or "null") == settings:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        target = Path(os.path.realpath(path))  # a link to a dotfiles folder stays a link
        beside = target.with_name(f"{target.name}.{os.getpid()}.new")
        beside.write_text(text, encoding="utf-8")
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
    return True
