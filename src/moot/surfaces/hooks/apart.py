"""Answers in a child process: if that crashes or hangs, the call is stopped.

Clients run a command whose hook fails or is late. A slow pattern on hostile input, or a lock that somebody holds, can
keep Python from checking any clock; the parent process can still refuse.
"""

import json
import os
import select
import signal
import sys
import time

from moot.surfaces.hooks.wire import BadInput, HookReply, Hostile, read_input

LONGEST = 585.0
"""Seconds until there is an answer. `hook install` sets a timeout of 600."""


def answer_apart(hook: str, client: str, *, strict: bool, longest: float = LONGEST) -> HookReply:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # when nobody is waiting any more
            os.write(writing, json.dumps(_answer(hook, client, strict=strict)).encode())
            code = 0
        except BaseException as problem:
            sys.stderr.write(
                f"moot: {type(problem).__name__}: {problem}\n".encode("ascii", "backslashreplace").decode()
            )
        finally:
            os._exit(code)
    os.close(writing)
    said = _read(reading, time.monotonic() + longest)
    try:
        return HookReply(*json.loads(said or b""))
    except (ValueError, TypeError):
        os.kill(child, signal.SIGKILL)
        why = "moot gave no answer" if said is not None else f"moot gave no answer within {longest:g} seconds"
        return HookReply(err=f"{why}; the call is stopped\n", code=2) if hook == "pre-tool-use" else HookReply()
    finally:
        os.waitpid(child, 0)


def _answer(hook: str, client: str, *, strict: bool) -> HookReply:
    from moot.surfaces.hooks.events import answer, own_failure

    try:
        raw = read_input(sys.stdin.fileno())
    except BadInput as problem:
        hostile = isinstance(problem, Hostile)
        return own_failure(hook, str(problem), os.environ, client=client, strict=strict or hostile)
    return answer(hook, raw, os.environ, client=client, strict=strict)


def _read(handle: int, ends: float) -> bytes | None:
    """The whole output; None if it does not end in time."""
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([handle], [], [], max(0.0, ends - time.monotonic()))
        if not ready:
            return None
        part = os.read(handle, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
