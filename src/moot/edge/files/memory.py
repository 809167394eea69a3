"""What vet remembers between runs: `failures.jsonl`, `debate-metrics.jsonl` and a daily log, in one folder.

Files are append-only. Each write is one append under a lock, so several processes may write at once; the next writer
closes a line torn by a crash, and readers skip and count it. Only the standard library is imported, for hooks that
answer in milliseconds.
"""

import hashlib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from moot.core.errors import ConfigError
from moot.edge.files.lines import Line, Locked, ReadLines, lock_file, read_lines
from moot.edge.files.project import project_root
from moot.evidence.failures import EVERY_TASK, Event, FailureEntry, TaskStanding, entry_of, stamp, standings, task_id
from moot.text.secrets import Vault

FAILURES = "failures.jsonl"
METRICS = "debate-metrics.jsonl"
LONGEST_TEXT = 2000
HEADERS = {
    FAILURES: "# moot: what became of attempts at tasks, one JSON object a line; only ever appended to\n",
    METRICS: "# moot: debates and what came of them, one JSON object a line; only ever appended to\n",
}


# --- location


def memory_folder(setting: str, start: Path, env: Mapping[str, str]) -> Path:
    """`vet.memory` as a folder, relative to the project; by default one per project in the data directory.

    Not in the project by default: nobody wants to commit it by accident. One per project, because "fix the tests" is
    another task elsewhere.
    """
    root = project_root(start.absolute())
    if setting:
        return root / Path(setting).expanduser()
    mark = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return data_folder(env) / "memory" / f"{root.name or 'root'}-{mark}"


def data_folder(env: Mapping[str, str]) -> Path:
    return _home(env, "XDG_DATA_HOME", ".local/share") / "moot"


def quick_setting(key: str, env: Mapping[str, str]) -> object:
    """One setting such as `hook.strict` without loading the engine: from the environment, else the user's own file. The
    project's file is ignored: the hook judges those who write there."""
    if value := env.get("MOOT_" + key.upper().replace(".", "_")):
        return value
    found: object = _table(config_folder(env) / "moot.toml")
    for part in key.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def hook_memory(start: Path, env: Mapping[str, str]) -> "MemoryFolder":
    """What hooks remember of a project, in a place that only the user's settings choose: a `moot vet` verdict that
    anybody requested is not the hook's verdict."""
    return MemoryFolder(hook_folder(start, env), env, _hours(env))


def hook_folder(start: Path, env: Mapping[str, str]) -> Path:
    return data_folder(env) / "hook" / "memory" / memory_folder("", start, env).name


def _hours(env: Mapping[str, str]) -> float | None:
    hours = quick_setting("vet.reset_after_hours", env)
    try:
        return float(str(hours)) if hours is not None else None
    except ValueError:
        raise ConfigError(f"setting 'vet.reset_after_hours' cannot be {hours!r}: it is a number of hours") from None


def config_folder(env: Mapping[str, str]) -> Path:
    return _home(env, "XDG_CONFIG_HOME", ".config") / "moot"


def _home(env: Mapping[str, str], variable: str, otherwise: str) -> Path:
    if sys.platform == "darwin":
        otherwise = "Library/Application Support"
    return Path(env.get(variable) or Path.home() / otherwise)


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from None


# --- content


@dataclass(frozen=True)
class Failures:
    entries: tuple[FailureEntry, ...]
    unreadable: int = 0


@dataclass(frozen=True)
class PastDebate:
    debate_id: str
    type: str
    task: str
    resolution: str
    outcome: str | None = None
    helped: bool | None = None
    ts: str = ""
    task_id: str = ""
    action: str = ""
    """Digest of the exact text that was debated: `rm -rf ./x` and `rm -rf /x` are one task and two actions."""
    stakes: str = ""
    category: str = ""
    session: str = ""
    auto: bool = False
    rationale: str = ""
    modifications: tuple[str, ...] = ()
    next_approach: str = ""

    def line(self) -> Line:
        always = {
            name: getattr(self, name) for name in ("debate_id", "type", "task", "resolution", "outcome", "helped")
        }
        rest = {name: getattr(self, name) for name in (*DEBATE_TEXTS, "auto", "modifications")}
        return always | {name: value for name, value in rest.items() if value}


DEBATE_TEXTS = ("ts", "task_id", "action", "stakes", "category", "session", "rationale", "next_approach")


@dataclass(frozen=True)
class Debates:
    debates: tuple[PastDebate, ...]
    unreadable: int = 0

    def latest(self, task: str) -> PastDebate | None:
        return next((d for d in reversed(self.debates) if d.task_id == task), None)


def action_digest(action: str) -> str:
    return hashlib.sha256(action.strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]


class MemoryFolder:
    """Masks secrets of the environment and well-known tokens in everything written."""

    def __init__(
        self, folder: Path, env: Mapping[str, str] | None = None, reset_after_hours: float | None = None
    ) -> None:
        self.folder = folder
        self.reset_after_hours = reset_after_hours
        self._hide = Vault(os.environ if env is None else env).hide

    # --- failures

    def failures(self) -> Failures:
        return _entries(self._read(FAILURES))

    def standings(self, now: datetime) -> dict[str, TaskStanding]:
        return standings(self.failures().entries, now, self.reset_after_hours)

    def track(
        self, event: Event, task: str, now: datetime, *, error: str = "", approach: str = "", session: str = ""
    ) -> FailureEntry:
        """Append the outcome of an attempt; a failure gets its attempt number."""
        entry = FailureEntry(
            task_id=task_id(task),
            ts=stamp(now),
            event=event,
            error=self._short(error),
            approach=self._short(approach),
            task=self._short(task),
            session=session,
        )
        with self._open_file(FAILURES) as file:
            if event == "fail":
                known = standings(_entries(file.read).entries, now, self.reset_after_hours).get(entry.task_id)
                entry = replace(entry, attempt=len(known.failures) + 1 if known else 1)
            file.append([entry.line()])
        return entry

    def reset_all(self, now: datetime, session: str = "") -> None:
        with self._open_file(FAILURES) as file:
            file.append([FailureEntry(EVERY_TASK, stamp(now), "reset", session=session).line()])

    def record_debate(self, task: str, identity: str, debate_id: str, resolution: str, ts: str) -> bool:
        """Record the failure debate of a task; False if already recorded."""
        entry = FailureEntry(identity, ts, "debate", task=self._short(task), debate_id=debate_id, resolution=resolution)
        with self._open_file(FAILURES) as file:
            if any((e.debate_id, e.resolution) == (debate_id, resolution) for e in _entries(file.read).entries):
                return False
            file.append([entry.line()])
        return True

    # --- debates

    def debates(self) -> Debates:
        return _debates(self._read(METRICS))

    def find_debate(self, session: str, action: str) -> PastDebate | None:
        """The last debate about exactly this action in this session of a coding tool."""
        if not session:
            return None
        mark = action_digest(action)
        known = _debates(read_lines(self.folder / METRICS, holding=mark)).debates
        return next((d for d in reversed(known) if d.session == session and d.action == mark), None)

    def record(self, debate: PastDebate) -> bool:
        """Append a debate; False if already there with this resolution."""
        hidden = replace(
            debate, task=self._short(debate.task), rationale=self._short(debate.rationale),
            next_approach=self._short(debate.next_approach),
            modifications=tuple(self._short(text) for text in debate.modifications),
        )  # fmt: skip
        with self._open_file(METRICS) as file:
            if any(
                line.get("debate_id") == debate.debate_id and line.get("resolution") == debate.resolution
                for line in file.read_holding(debate.debate_id).lines
            ):
                return False
            file.append([hidden.line()])
        return True

    def settle(self, outcome: str, now: datetime, *, task: str = "", debate_id: str = "",
               helped: Callable[[PastDebate], bool | None] = lambda debate: None) -> PastDebate | None:  # fmt: skip
        """Record the outcome of the last unsettled debate about a task, or of a named one."""
        with self._open_file(METRICS) as file:
            known = [
                d for d in _debates(file.read).debates
                if (d.debate_id.startswith(debate_id) if debate_id else d.task_id == task and d.outcome is None)
            ]  # fmt: skip
            if not known:
                return None
            debate = replace(known[-1], outcome=outcome)
            debate = replace(debate, helped=helped(debate))
            said: Line = {"debate_id": debate.debate_id, "outcome": outcome, "helped": debate.helped, "ts": stamp(now)}
            file.append([said])
        return debate

    # --- daily log

    def log(self, day: str, debate_id: str, block: str) -> bool:
        """Append a block to the day's log; False if this debate is already there with this end."""
        mark = f"  Debate: {debate_id}"
        with self._open_file(f"{day}.md") as file:
            if mark.encode() in (line.rstrip(b"\r\n") for line in file.pick(mark)):
                return False
            file.write(f"{self._hide(block.rstrip())}\n{mark}\n")
        return True

    # --- helpers

    def _short(self, text: str) -> str:
        hidden = self._hide(text).encode("utf-8", "replace").decode()
        return hidden if len(hidden) <= LONGEST_TEXT else hidden[: LONGEST_TEXT - 1] + "…"

    def _read(self, name: str) -> ReadLines:
        return read_lines(self.folder / name)

    def _open_file(self, name: str) -> AbstractContextManager[Locked]:
        return lock_file(self.folder / name, HEADERS.get(name, ""))


def _entries(read: ReadLines) -> Failures:
    found = [entry_of(line) for line in read.lines]
    kept = tuple(entry for entry in found if entry is not None)
    return Failures(kept, read.unreadable + len(found) - len(kept))


def _debates(read: ReadLines) -> Debates:
    """Debates in order, each with its latest reported outcome."""
    found: dict[str, PastDebate] = {}
    lost = 0
    for line in read.lines:
        name = line.get("debate_id")
        if isinstance(name, str) and name and isinstance(line.get("resolution"), str):
            found[name] = _debate(name, line)  # recorded again: the session was resumed and ended differently
        elif isinstance(name, str) and name in found:
            found[name] = _settle_debate(found[name], line)
        else:
            lost += 1
    return Debates(tuple(found.values()), read.unreadable + lost)


def _debate(name: str, line: Line) -> PastDebate:
    texts: dict[str, Any] = {key: value for key in DEBATE_TEXTS if isinstance(value := line.get(key, ""), str)}
    changes = line.get("modifications")
    debate = PastDebate(
        debate_id=name,
        type=str(line.get("type", "")),
        task=str(line.get("task", "")),
        resolution=str(line["resolution"]),
        auto=line.get("auto") is True,
        modifications=tuple(str(change) for change in changes) if isinstance(changes, list) else (),
        **texts,
    )
    return _settle_debate(debate, line)


def _settle_debate(debate: PastDebate, line: Line) -> PastDebate:
    outcome, helped = line.get("outcome"), line.get("helped")
    if not isinstance(outcome, str):
        return debate
    return replace(debate, outcome=outcome, helped=helped if isinstance(helped, bool) else None)
