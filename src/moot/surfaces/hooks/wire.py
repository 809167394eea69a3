"""What comes in on stdin from a coding client, and what goes back: the same for all of them in here."""

import json
import os
import select
import time
from typing import NamedTuple

LARGEST = 20_000_000
"""Bytes of input that are read; a tool call that is larger is not judged."""
PATIENCE = 15.0
"""Seconds to wait for the input; the client waits for us as well."""


class BadInput(Exception):
    """What came in is no hook call; the message says why."""


class Hostile(BadInput):
    """A hook call that cannot be read because of what was put into it."""


class HookCall(NamedTuple):
    client: str
    """Who asks: a name in `clients.CLIENTS`, or "" where neither flag nor shape say."""
    event: str
    """By the client's own name."""
    session: str
    folder: str
    tool: str
    given: dict[str, object]
    """The tool's input."""
    mode: str = ""
    """The client's permission mode, where it tells."""
    sure: bool = True
    """False where the flag names one client and the shape another."""
    response: object = None
    error: str = ""
    prompt: str = ""


class HookAnswer(NamedTuple):
    """What the client is told. An empty one has no opinion."""

    decision: str = ""
    """`deny`, `ask` or nothing."""
    reason: str = ""
    context: str = ""
    """For the agent."""
    notice: str = ""
    """Shown to the person."""


class HookReply(NamedTuple):
    """An answer as the client reads it."""

    out: str = ""
    err: str = ""
    code: int = 0


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
            raise Hostile(f"the input is larger than {LARGEST // 1_000_000} MB")


def parse_json(raw: bytes) -> dict[str, object]:
    try:
        found = json.loads(raw.decode("utf-8", "replace"))
    except json.JSONDecodeError:
        raise BadInput("the input is not JSON" if raw.strip() else "the input is empty") from None
    except (ValueError, RecursionError, MemoryError):
        raise Hostile("the input is nested too deeply, or has a number that is too long") from None
    if not isinstance(found, dict):
        raise BadInput("the input is not a JSON object")
    return found


def text_of(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
