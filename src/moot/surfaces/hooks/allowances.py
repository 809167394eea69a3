"""What was stopped because nobody could be asked, and what a person then allowed: each for one identical call.

One file that only grows, in the user's own data folder: never in the project, where the agent writes.
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
"""How long somebody's leave is good for; an old one would be a surprise."""
POLL = 0.1
SHOWN = 10
"""Characters of an id that a person types. What counts is the whole of it."""
LONGEST = 2000
SHELL_SIGNS = frozenset(";|&$`<>(){}\\\"'~!*?[]")
"""What a `*` of a pattern does not stand for: it would let another command or another target pass."""


class StoppedCall(NamedTuple):
    id: str
    at: str
    client: str
    action: str
    folder: str
    reason: str


def call_id(call: HookCall) -> str:
    """The same for identical calls in the same folder, whatever the session."""
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
    """Its beginning and its end: what is dangerous may stand behind a page of harmless words."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {len(text) - LONGEST} more characters … {text[-half:]}"


def allow(path: Path, begins: str, by: str) -> StoppedCall:
    """Let one identical call pass. By the whole id, or an unambiguous beginning of it."""
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
    """Whether this call is allowed. The leave is used up by asking."""
    if not path.exists():
        return False
    with lock_file(path, HEADER) as file:
        if not _open_leave(file.read.lines, name):
            return False
        file.append([{"event": "used", "id": name, "at": stamp(datetime.now(UTC))}])
    return True


def wait(path: Path, name: str, seconds: float) -> bool:
    """Give a person the time to allow it in another terminal."""
    ends = time.monotonic() + seconds
    while not use(path, name):
        left = ends - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(POLL, left))
    return True


def list_stopped(path: Path) -> list[StoppedCall]:
    """Calls that wait for leave: each id once, the latest last."""
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
    """Whether a pattern of the user's own settings stands for this command, whole and alone."""
    return any(_stands_for(pattern.strip(), action.strip()) for pattern in patterns if pattern.strip("* "))


def _stands_for(pattern: str, line: str) -> bool:
    """Word by word: a `*` stands for a part of one word, and only for what names no other place."""
    if pattern == line:
        return True
    wanted, words = pattern.split(), line.split()
    if len(wanted) != len(words) or "\n" in line:
        return False
    return all(
        fnmatch.fnmatchcase(word, part) and (word == part or not (set(word) & SHELL_SIGNS or ".." in word))
        for part, word in zip(wanted, words, strict=True)
    )
