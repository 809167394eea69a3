"""Failures of a task: identity, counting, when a debate is due and when only a person can help."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

Event = Literal["fail", "reject", "success", "reset", "debate"]
Due = Literal["nothing", "debate", "escalate"]
Reset = Literal["start_fresh", "new_information", "environment"]
EVENTS: tuple[Event, ...] = ("fail", "reject", "success", "reset", "debate")
EVERY_TASK = "*"
STALE_AFTER = timedelta(hours=24)
FINGERPRINT_LENGTH = 50
LONGEST_ERROR = 1_000
"""What is read of an error: a path may be as long as the text, and to look for one takes long then."""

# --- identity

ARTICLES = frozenset({"a", "an", "the"})
VERBS = (
    "add", "apply", "build", "change", "check", "clean", "configure", "connect", "convert", "copy", "create", "debug",
    "delete", "deploy", "disable", "document", "drop", "enable", "execute", "fix", "implement", "import", "improve",
    "install", "investigate", "load", "merge", "migrate", "move", "optimize", "patch", "publish", "push", "raise",
    "refactor", "release", "remove", "rename", "repair", "replace", "resolve", "restart", "restore", "revert", "rotate",
    "run", "start", "stop", "test", "truncate", "update", "upgrade", "upload", "validate", "write",
)  # fmt: skip
TWICE = frozenset({"drop", "run", "stop"})
"""Verbs that double their last letter: dropped, running."""


def verb_forms(verb: str) -> set[str]:
    """`fix` -> fixes, fixing, fixed; `delete` -> deletes, deleting, deleted."""
    bare = verb[:-1] if verb.endswith("e") else f"{verb}{verb[-1]}" if verb in TWICE else verb
    soft = verb[-1] == "y" and verb[-2] not in "aeiou"  # apply, copy; not deploy
    plural = f"{verb}es" if verb.endswith(("x", "sh", "ch")) else f"{verb[:-1]}ies" if soft else f"{verb}s"
    return {verb, plural, f"{bare}ing", f"{verb[:-1]}ied" if soft else f"{bare}ed"}


STEMS = {form: verb for verb in VERBS for form in verb_forms(verb)}


def canonical(text: str) -> str:
    """Lower case, no punctuation but - and _, no articles, single spaces, common verbs in their stem."""
    plain = re.sub(r"[^\w\s-]", "", unicodedata.normalize("NFC", text).lower())
    return " ".join(STEMS.get(word, word) for word in plain.split() if word not in ARTICLES)


def task_id(text: str) -> str:
    """Independent of punctuation, case and tense."""
    said = canonical(text) or " ".join(text.split())  # "!!!" and "???" are different tasks
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]


PATH = re.compile(
    r"""(?:\b[a-z][a-z0-9+.-]*://[^\s'"`)>\]]+)"""  # a URL
    r"""|(?:(?<![\w])(?:[a-z]:)?(?:\.{1,2}|~)?(?:[\\/][\w.@%+~-]+)+[\\/]?)"""  # /a/b, ./a, ../a, ~/a, C:\a
    r"""|(?:\b[\w.@%+~-]+(?:[\\/][\w.@%+~-]+)+\b)"""  # src/app.py
    r"""|(?:\b[\w-]+\.(?:py|js|mjs|cjs|ts|jsx|tsx|go|rs|java|rb|c|h|cc|cpp|cs|php|sh|md|txt|json|ya?ml|toml|lock|log|sql)\b)"""
)
PLACE = re.compile(r"\b(?:at )?(?:lines?|ln|col(?:umn)?|row)[ :#]*\d+\b|:\d+(?::\d+)?\b|\(\d+(?:,\s*\d+)?\)")
EXIT_STATUS = re.compile(
    r"(?:error:? )?(?:command )?(?:failed )?(?:with |process )?(?:exited )?(?:with )?"
    r"(?:exit (?:code|status)|status|code) -?\d+[.:]?",
    re.IGNORECASE,
)


def fingerprint(error: str) -> str:
    """Identity of an error: no paths, no line numbers, no punctuation, the first 50 characters.

    A bare exit status or an empty text has no fingerprint: it does not say what went wrong.
    """
    said = PLACE.sub(" ", PATH.sub(" ", find_error_line(error)[:LONGEST_ERROR].lower()))
    words = re.sub(r"[^\w\s]", " ", said).split()
    return " ".join(words)[:FINGERPRINT_LENGTH].strip()


def find_error_line(error: str) -> str:
    """The line that names the error: last in a traceback, after the exit status in a shell."""
    lines = [line.rstrip() for line in error.splitlines() if line.strip() and not EXIT_STATUS.fullmatch(line.strip())]
    if any(line.startswith("Traceback (most recent call last)") for line in lines):
        return next((line for line in reversed(lines) if not line[0].isspace()), "")
    return " ".join(lines)


# --- history


@dataclass(frozen=True)
class FailureEntry:
    """One line of `failures.jsonl`."""

    task_id: str
    ts: str
    event: Event = "fail"
    attempt: int = 0
    error: str = ""
    approach: str = ""
    task: str = ""
    session: str = ""
    debate_id: str = ""
    resolution: str = ""

    def line(self) -> dict[str, object]:
        """As written to the file; a failure keeps its original form, other events name themselves."""
        said: dict[str, object] = {"task_id": self.task_id}
        said |= {"attempt": self.attempt} if self.event == "fail" else {"event": self.event}
        said["ts"] = self.ts
        if self.event == "fail":
            said |= {"error": self.error, "approach": self.approach}
        optional: tuple[str, ...] = ("task", "session", "debate_id", "resolution")
        if self.event != "fail":
            optional = ("error", "approach", *optional)
        return said | {name: getattr(self, name) for name in optional if getattr(self, name)}


def entry_of(line: Mapping[str, object]) -> FailureEntry | None:
    """None if the line contains nothing that can be counted."""
    event = next((known for known in EVENTS if known == line.get("event", "fail")), None)
    name, attempt = line.get("task_id"), line.get("attempt", 0)
    if event is None or not isinstance(name, str) or not name or not isinstance(attempt, int):
        return None
    texts = {key: value for key in TEXTS if isinstance(value := line.get(key, ""), str)}
    return FailureEntry(task_id=name, event=event, attempt=attempt, **texts)


TEXTS = ("ts", "error", "approach", "task", "session", "debate_id", "resolution")


@dataclass(frozen=True)
class TaskStanding:
    """What counts against a task since it last succeeded or was reset."""

    task_id: str
    task: str = ""
    failures: tuple[FailureEntry, ...] = ()
    rejections: tuple[FailureEntry, ...] = ()
    debate: FailureEntry | None = None
    since_debate: int = 0
    """Failed or rejected attempts after that debate."""
    stale: bool = False

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(entry.error for entry in self.failures if entry.error)


def standings(
    entries: Iterable[FailureEntry], now: datetime, reset_after_hours: float | None = None
) -> dict[str, TaskStanding]:
    """Every task with failures, in the order of their first."""
    tasks: dict[str, TaskStanding] = {}
    for entry in entries:
        if entry.task_id == EVERY_TASK:
            tasks = {name: task for name, task in tasks.items() if not _covers(entry, task)}
        elif entry.event in ("success", "reset"):
            tasks.pop(entry.task_id, None)
        else:
            tasks[entry.task_id] = _after(tasks.get(entry.task_id, TaskStanding(entry.task_id)), entry)
    aged = [_mark_stale(task, now) for task in tasks.values()]
    limit = timedelta(hours=reset_after_hours) if reset_after_hours else None
    return {task.task_id: task for task in aged if limit is None or _age(task, now) < limit}


def _covers(reset: FailureEntry, task: TaskStanding) -> bool:
    """A reset of every task: of one session if it names one."""
    seen = {entry.session for entry in (*task.failures, *task.rejections)}
    return reset.event in ("success", "reset") and (not reset.session or reset.session in seen)


def _after(task: TaskStanding, entry: FailureEntry) -> TaskStanding:
    task = replace(task, task=entry.task or task.task)
    match entry.event:
        case "fail":
            return replace(task, failures=(*task.failures, entry), since_debate=task.since_debate + bool(task.debate))
        case "reject":
            more = (*task.rejections, entry)
            return replace(task, rejections=more, since_debate=task.since_debate + bool(task.debate))
        case _:
            return replace(task, debate=entry, since_debate=0)


def _age(task: TaskStanding, now: datetime) -> timedelta:
    """How long ago something last went wrong; an unreadable time counts as now."""
    times = [moment(entry.ts) or now for entry in (*task.failures, *task.rejections)]
    return now - max(times, default=now)


def _mark_stale(task: TaskStanding, now: datetime) -> TaskStanding:
    return replace(task, stale=_age(task, now) >= STALE_AFTER)


def moment(text: str) -> datetime | None:
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def stamp(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# --- next step


@dataclass(frozen=True)
class Next:
    due: Due
    why: str


def next_step(tasks: Mapping[str, TaskStanding], name: str, *, stakes: str = "low", security: bool = False) -> Next:
    """The first rule that applies. After a failure debate there is one more attempt, then a person."""
    task = tasks.get(name, TaskStanding(name))
    failed, rejected = len(task.failures), len(task.rejections)
    others = find_shared_errors(tasks, task)
    escalated = task.debate is not None and task.debate.resolution == "ESCALATE"
    rules: tuple[tuple[bool, Due, str], ...] = (
        (failed >= 1 and security and stakes == "high", "escalate", "a high-stakes security task has failed"),
        (failed >= 3, "escalate", f"the task has failed {failed} times"),
        (escalated, "escalate", "the debate about its failures asked for a person"),
        (task.since_debate >= 1, "escalate", "the one attempt after the failure debate has failed as well"),
        (task.debate is not None, "nothing", "debated; one more attempt is open"),
        (failed >= 2, "debate", f"the task has failed {failed} times"),
        (rejected >= 2, "debate", f"the work was rejected {rejected} times"),
        (bool(others), "debate", "another task has failed with the same error"),
    )
    return next((Next(due, why) for holds, due, why in rules if holds), Next("nothing", ""))


def find_shared_errors(tasks: Mapping[str, TaskStanding], task: TaskStanding) -> Sequence[str]:
    """Other tasks with the same error. Stale ones are ignored."""
    own = {mark for error in task.errors if (mark := fingerprint(error))}
    if task.stale or not own:
        return ()
    return tuple(
        other.task_id
        for other in tasks.values()
        if other.task_id != task.task_id and not other.stale and own & {fingerprint(e) for e in other.errors}
    )


# --- resets

ASKED_AFRESH = re.compile(
    r"\b(?:start(?:ing)? (?:a)?fresh|start (?:over|from scratch)"
    r"|(?:try|use|take) (?:an?other|an? (?:\w+ )?(?:new|different)|different)(?: \w+)? ?(?:approach|way|method)s?"
    r"|(?:ignore|forget)(?: about)?(?: all| the| your| my)* (?:previous|earlier|past|prior|last)"
    r"(?: \w+)? ?(?:attempts?|tries|failures?))\b"
)
CHANGED = re.compile(
    r"\b(?:i|we)(?: have|'ve| just| already| now)* (?:fixed|updated|upgraded|installed|reinstalled|restarted|changed|"
    r"configured|added|created|restored|rotated|renewed|enabled|disabled|granted|removed|replaced|corrected|set up)\b"
    r"|\b(?:is|are|has been|have been|was|were) now (?:fixed|updated|installed|running|available|back|reachable)\b"
)
NEWS = re.compile(
    r"\b(?:here(?:'s| is| are) (?:the |some |a )?(?:full |complete |actual |new |more |additional |missing )*"
    r"(?:logs?|errors?|stack ?trace|traceback|output|details?|information|info|config(?:uration)?|docs?|schema)"
    r"|new information|it turns out"
    r"|turns out that|(?:i|we)(?: have|'ve| just)* (?:found out|learned|discovered|noticed|realized|realised) that"
    r"|the (?:actual|real|root) (?:problem|cause|reason|issue) (?:is|was))\b"
    r"|\b(?:more|additional|further) (?:details?|information|info|context)\s*:"
)
DENIED = re.compile(
    r"\b(?:not|never|n't|dont|cannot|without|should (?:i|we)|shall (?:i|we)|can (?:i|we)|do (?:i|we)|if)\b[^.!?;\n]*$"
)


def reset_reason(text: str) -> Reset | None:
    """Why a person's message resets the count; None for anger, rephrasing, questions and negations."""
    said = text.lower().replace("’", "'")
    kinds: tuple[tuple[re.Pattern[str], Reset], ...] = (
        (ASKED_AFRESH, "start_fresh"),
        (CHANGED, "environment"),
        (NEWS, "new_information"),
    )
    for pattern, reason in kinds:
        for found in pattern.finditer(said):
            before = said[: found.start()].replace("n't", " n't")
            if not DENIED.search(before):
                return reason
    return None
