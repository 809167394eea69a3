"""Calls stopped because nobody could be asked, and those a person then allowed, each for one identical call.

An append-only file in the user's data folder, never in the project, where the agent writes.
"""

import fnmatch
import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import UsageError
from moot.edge.files.lines import Line, lock_file, read_lines
from moot.edge.files.memory import data_folder
from moot.evidence.failures import stamp
from moot.surfaces.hooks.wire import HookCall

HEADER = "# moot: tool calls that were stopped, allowed once and made, one JSON object a line; only ever appended to\n"
GOOD_FOR = timedelta(hours=1)
"""How long an allowance is valid."""
POLL = 0.1
SHOWN = 10
"""Characters of an id that a person types; the whole id is compared."""
LONGEST = 2000
SHELL_SIGNS = frozenset(";|&$`<>(){}\\\"'~!*?[]")
"""Characters that a `*` does not match: they could start another command or name another target."""


class StoppedCall(NamedTuple):
    id: str
    at: str
    client: str
    action: str
    folder: str
    reason: str


def call_id(call: HookCall) -> str:
    """Equal for identical calls in the same folder, in any session."""
    whole = json.dumps([call.folder, call.tool, call.given], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def allowances(env: Mapping[str, str]) -> Path:
    return data_folder(env) / "hook" / "calls.jsonl"


def note_stopped(path: Path, call: HookCall, action: str, reason: str) -> str:
    name = call_id(call)
    line: Line = {
        "event": "stopped", "id": name, "at": stamp(datetime.now(UTC)), "client": call.client, "mode": call.mode,
        "session": call.session, "tool": call.tool, "action": shorten(action), "folder": call.folder,
        "reason": shorten(reason),
    }  # fmt: skip
    with lock_file(path, HEADER) as file:
        file.append([line])
    return name


def shorten(text: str) -> str:
    """Keeps beginning and end: danger may hide behind a page of harmless words."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {len(text) - LONGEST} more characters … {text[-half:]}"


def allow(path: Path, begins: str, by: str) -> StoppedCall:
    """Allows one identical call. By id, or an unambiguous prefix of it."""
    found = find_stopped(path, begins)
    with lock_file(path, HEADER) as file:
        file.append([{"event": "allowed", "id": found.id, "at": stamp(datetime.now(UTC)), "by": by}])
    return found


def find_stopped(path: Path, begins: str) -> StoppedCall:
    found = [each for each in list_stopped(path) if begins and each.id.startswith(begins)]
    if len({each.id for each in found}) > 1:
        raise UsageError(f"{begins!r} matches more than one id; give more characters")
    if not found:
        raise UsageError(f"no stopped call has the id {begins!r}; `moot allow` lists them")
    return found[-1]


def use(path: Path, name: str) -> bool:
    """Whether this call is allowed. Uses the allowance up."""
    if not path.exists():
        return False
    with lock_file(path, HEADER) as file:
        if not _open_leave(file.read.lines, name):
            return False
        file.append([{"event": "used", "id": name, "at": stamp(datetime.now(UTC))}])
    return True


def wait(path: Path, name: str, seconds: float) -> bool:
    """Waits for a person to allow it in another terminal."""
    ends = time.monotonic() + seconds
    while not use(path, name):
        left = ends - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(POLL, left))
    return True


def list_stopped(path: Path) -> list[StoppedCall]:
    """Calls that wait for an allowance: each id once, the latest last."""
    found: dict[str, StoppedCall] = {}
    for line in read_lines(path).lines:
        name = str(line.get("id", ""))
        if line.get("event") == "stopped" and name:
            texts = {key: str(line.get(key, "")) for key in ("at", "client", "action", "folder", "reason")}
            found.pop(name, None)
            found[name] = StoppedCall(name, **texts)
        elif line.get("event") == "used":
            found.pop(name, None)
    return list(found.values())


def _open_leave(lines: Iterable[Line], name: str) -> bool:
    now = datetime.now(UTC)
    leave = ""
    for line in lines:
        if line.get("id") == name and line.get("event") in ("allowed", "used"):
            leave = str(line.get("at", "")) if line["event"] == "allowed" else ""
    return stamp(now - GOOD_FOR) < leave <= stamp(now)


def matches(action: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern of the user's settings matches this whole command."""
    return any(_stands_for(pattern.strip(), action.strip()) for pattern in patterns if pattern.strip("* "))


def _stands_for(pattern: str, line: str) -> bool:
    """Matches word by word: a `*` matches part of one word, and nothing that names another place."""
    if pattern == line:
        return True
    wanted, words = pattern.split(), line.split()
    if len(wanted) != len(words) or "\n" in line:
        return False
    return all(
        fnmatch.fnmatchcase(word, part) and (word == part or not (set(word) & SHELL_SIGNS or ".." in word))
        for part, word in zip(wanted, words, strict=True)
    )
