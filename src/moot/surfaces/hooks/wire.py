"""Input from a coding client and the reply to it, independent of the client."""

import json
import os
import select
import time
from typing import NamedTuple

LARGEST = 20_000_000
"""Maximum input in bytes; a larger call is not judged."""
PATIENCE = 15.0
"""Seconds to wait for the input."""


class BadInput(Exception):
    """The input is not a hook call; the message says why."""


class Hostile(BadInput):
    """A hook call that was made unreadable on purpose."""


class HookCall(NamedTuple):
    client: str
    """A name in `clients.CLIENTS`, or "" if neither flag nor input tells."""
    event: str
    """The client's name of the event."""
    session: str
    folder: str
    tool: str
    given: dict[str, object]
    mode: str = ""
    """The client's permission mode, if known."""
    sure: bool = True
    """False if flag and input indicate different clients."""
    response: object = None
    error: str = ""
    prompt: str = ""


class HookAnswer(NamedTuple):
    """The answer to the client. An empty one has no opinion."""

    decision: str = ""
    """`deny`, `ask` or ""."""
    reason: str = ""
    context: str = ""
    """For the agent."""
    notice: str = ""
    """Shown to the person."""


class HookReply(NamedTuple):
    """An answer in the client's format."""

    out: str = ""
    err: str = ""
    code: int = 0


def read_input(handle: int, patience: float = PATIENCE) -> bytes:
    """The whole input; raises if it is late or too large."""
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
