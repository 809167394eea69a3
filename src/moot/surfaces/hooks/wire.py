"""The format of Claude Code's hooks: what comes in on stdin, what goes out on stdout."""

import json
import os
import select
import time
from typing import NamedTuple

LARGEST = 20_000_000
"""Bytes of input that are read; a tool call that is larger is not judged."""
PATIENCE = 15.0
"""Seconds to wait for the input; the tool waits for us as well."""


class BadInput(Exception):
    """What came in is no hook call; the message says why."""


class HookCall(NamedTuple):
    event: str
    session: str
    folder: str
    tool: str
    given: dict[str, object]
    """The tool's input."""
    response: object = None
    error: str = ""
    prompt: str = ""


class HookAnswer(NamedTuple):
    """What the coding tool is told. An empty one has no opinion."""

    event: str = ""
    decision: str = ""
    reason: str = ""
    context: str = ""
    notice: str = ""
    """Shown to the person."""

    def text(self) -> str:
        specific: dict[str, object] = {"hookEventName": self.event}
        if self.decision:
            specific |= {"permissionDecision": self.decision, "permissionDecisionReason": self.reason}
        if self.context:
            specific["additionalContext"] = self.context
        whole: dict[str, object] = {"hookSpecificOutput": specific} if len(specific) > 1 else {}
        if self.notice:
            whole["systemMessage"] = self.notice
        return json.dumps(whole, ensure_ascii=False) + "\n" if whole else ""


def read_input(handle: int, patience: float = PATIENCE) -> bytes:
    """All of the input, if it comes in time and is not too much."""
    if os.isatty(handle):
        raise BadInput("nothing was sent: a coding tool calls this with JSON on standard input")
    parts: list[bytes] = []
    size, ends = 0, time.monotonic() + patience
    while True:
        ready, _, _ = select.select([handle], [], [], max(0.0, ends - time.monotonic()))
        if not ready:
            raise BadInput(f"the input did not end within {patience:g} seconds")
        part = os.read(handle, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise BadInput(f"the input is larger than {LARGEST // 1_000_000} MB")


def parse_call(raw: bytes) -> HookCall:
    try:
        found = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise BadInput("the input is no JSON" if raw.strip() else "the input is empty") from None
    if not isinstance(found, dict):
        raise BadInput("the input is no JSON object")
    given = found.get("tool_input")
    texts = {name: _text(found.get(key)) for name, key in TEXTS.items()}
    return HookCall(given=given if isinstance(given, dict) else {}, response=found.get("tool_response"), **texts)


TEXTS = {
    "event": "hook_event_name", "session": "session_id", "folder": "cwd", "tool": "tool_name", "error": "error",
    "prompt": "prompt",
}  # fmt: skip


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
