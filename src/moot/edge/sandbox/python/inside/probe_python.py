"""Calls a solution's functions inside the sandbox and reports each result; nothing of Moot is there.

Expected values are unknown here, so a solution that forges answers gains nothing.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import select
import signal
import sys
import time
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

REPORT = 3
LONGEST = 20_000
DEEPEST = 30


def canonical(value: object, depth: int = 0) -> str:
    """One text for equal behaviour: sets and dicts in one order, floats to twelve digits."""
    if depth > DEEPEST:
        return "…"
    if value is None or isinstance(value, (bool, str, bytes)) or type(value) is int:
        return repr(value)
    if isinstance(value, float):
        return repr(float(f"{value:.12g}"))
    inner = depth + 1
    if isinstance(value, dict):
        items = sorted(f"{canonical(k, inner)}: {canonical(v, inner)}" for k, v in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(canonical(v, inner) for v in value)) + "}" if value else "set()"
    if isinstance(value, list):
        return "[" + ", ".join(canonical(v, inner) for v in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(canonical(v, inner) for v in value) + ("," if len(value) == 1 else "") + ")"
    return _other(value, inner)


def _other(value: object, depth: int) -> str:
    name = type(value).__name__
    if hasattr(value, "__next__"):
        return f"<{name} {canonical(list(itertools.islice(value, 1000)), depth)}>"  # type: ignore[call-overload]
    if hasattr(value, "tolist"):
        return canonical(value.tolist(), depth)
    if hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType)) and not callable(value):
        return f"<{name} {canonical(vars(value), depth)}>"
    return f"<{name}>" if type(value).__repr__ is object.__repr__ or callable(value) else repr(value)


def answer(call: str, names: dict[str, object]) -> dict[str, str]:
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            text = canonical(eval(compile(call, "<call>", "eval"), dict(names)))
    except BaseException as problem:
        return {"kind": "error", "text": type(problem).__name__, "detail": _describe_error(problem)}
    return {"kind": "value", "text": text if len(text) <= LONGEST else f"{text[:LONGEST]}… {len(text)} characters"}


def _describe_error(problem: BaseException) -> str:
    # Not `traceback`: loading it takes a hundred times as long as answering a call.
    lines, frame = [], problem.__traceback__
    while frame is not None:
        if not frame.tb_frame.f_code.co_filename.startswith("<"):
            lines.append(frame.tb_lineno)
        frame = frame.tb_next
    try:
        words = str(problem)[:500]
    except BaseException:
        words = ""
    return words + (f" (line {lines[-1]})" if len(lines) > 1 else "")


def answers(calls: list[str], names: dict[str, object], seconds: float, together: bool) -> Iterator[dict[str, str]]:
    """Each call in its own process; if none leaves anything behind, all in this one, while it lives."""
    if not together:
        yield from (answer_in_child(call, names, seconds) for call in calls)
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for call in calls:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        told = answer(call, names)
        signal.setitimer(signal.ITIMER_REAL, 0)
        yield told


def answer_in_child(call: str, names: dict[str, object], seconds: float) -> dict[str, str]:
    """The answer of a forked child: it may exit, hang or break itself without harm to the next call."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            os.close(reading)
            data = json.dumps(answer(call, names)).encode("utf-8", "replace")
            while data:
                data = data[os.write(writing, data) :]
            status = 0
        os._exit(status)
    os.close(writing)
    try:
        data, late = _read(reading, seconds)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if late:
        return {"kind": "timeout"}
    try:
        told = json.loads(data)
        return {key: str(told[key]) for key in ("kind", "text", "detail") if key in told}
    except (ValueError, TypeError, KeyError):
        return {"kind": "none", "detail": "the process of this call ended without an answer"}


def _read(pipe: int, seconds: float) -> tuple[bytes, bool]:
    data, deadline = b"", time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            break
        part = os.read(pipe, 65536)
        if not part:
            return data, False
        data += part
        if len(data) > 4 * LONGEST + 4000:
            return b"", False
    return b"", True


def load(path: str, number: int) -> dict[str, object]:
    name = f"solution_{number}"
    module = ModuleType(name)
    module.__file__ = os.path.abspath(path)
    sys.modules[name] = module
    with open(path, "rb") as file:
        exec(compile(file.read(), module.__file__, "exec"), vars(module))
    return vars(module)


def main() -> int:
    spec_path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spec.json")
    with open(spec_path, encoding="utf-8") as file:
        spec = json.load(file)
    os.unlink(spec_path)
    return run(spec)


def run(spec: dict[str, Any]) -> int:
    report = os.fdopen(os.dup(REPORT), "w", encoding="utf-8")
    os.close(REPORT)
    sys.path[:0] = [os.path.join(os.getcwd(), folder) for folder in spec["front"]]
    names: dict[str, object] = {}
    try:
        for number, path in enumerate(spec["modules"]):
            names.update(load(path, number))
    except BaseException as problem:
        report.write(json.dumps({"problem": f"{type(problem).__name__}: {_describe_error(problem)}"}) + "\n")
    else:
        if spec["together"]:
            report.write("ready\n")
            report.flush()
        for told in answers(spec["calls"], names, spec["seconds"], spec["together"]):
            report.write(json.dumps(told) + "\n")
            report.flush()
    report.flush()
    return 0


if __name__ == "__main__":
    os._exit(main())
