"""Scripted replies from a file, for demos and tests without a model."""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import yaml

from moot.core.errors import FailureKind, ModelError, ScriptDry, UsageError
from moot.core.ports import Model
from moot.core.report import count_things
from moot.core.types import ModelCall, Reply
from moot.edge.models.usage import free_usage

KEYS = ("seat", "phase", "round", "contains", "reply", "error", "delay_s", "times", "always")
ERROR_KEYS = ("kind", "retry_after", "message")
KINDS: tuple[FailureKind, ...] = tuple(kind for kind in get_args(FailureKind) if kind != "limit")
"""Failures of a provider; a limit is the session's own."""


@dataclass(frozen=True)
class ScriptFailure:
    kind: FailureKind
    message: str = ""
    retry_after: float | None = None


@dataclass(frozen=True)
class ScriptEntry:
    """One entry of a script: which calls it matches, and its answer."""

    number: int
    answer: str | ScriptFailure
    seat: str | None = None
    phase: str | None = None
    round: int | None = None
    contains: str | None = None
    delay: float = 0.0
    times: int | None = 1
    """None: any number of times."""

    def matches(self, call: ModelCall) -> bool:
        return (
            self.seat in (None, call.seat)
            and self.phase in (None, call.phase)
            and self.round in (None, call.round)
            and (self.contains is None or self.contains in call.prompt)
        )


class ScriptModel(Model):
    """The first unused entry that matches a call answers it. Tokens are estimated; the price is 0."""

    def __init__(self, name: str, file: str, entries: tuple[ScriptEntry, ...]) -> None:
        self._name = name
        self._file = file
        self._entries = entries
        self._used = [0] * len(self._entries)

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, call: ModelCall) -> Reply:
        # Before any await: seats asked at the same time take their entries in order.
        entry = self._take(call)
        if entry is None:
            raise ScriptDry(self._dry(call))
        if entry.delay:
            await asyncio.sleep(entry.delay)
        if isinstance(entry.answer, ScriptFailure):
            raise self._failure(entry.number, entry.answer)
        usage = free_usage(call, entry.answer)
        return Reply(text=entry.answer, model=self._name, usage=usage, finish="stop")

    def skip(self, call: ModelCall) -> None:
        self._take(call)

    async def aclose(self) -> None: ...

    def unused_entries(self) -> tuple[ScriptEntry, ...]:
        return tuple(entry for entry, used in zip(self._entries, self._used, strict=True) if not used)

    def _take(self, call: ModelCall) -> ScriptEntry | None:
        for index, entry in enumerate(self._entries):
            if entry.matches(call) and (entry.times is None or self._used[index] < entry.times):
                self._used[index] += 1
                return entry
        return None

    def _dry(self, call: ModelCall) -> str:
        left = ", ".join(str(entry.number) for entry in self.unused_entries()) or "none"
        asked = f"seat {call.seat!r}, phase {call.phase!r}, round {call.round}"
        return (
            f"script {self._file!r} has no entry left for {asked}, "
            f"after {count_things(sum(self._used), 'answered call')} (entries not used: number {left}); "
            "add an entry for it"
        )

    def _failure(self, number: int, failure: ScriptFailure) -> ModelError:
        text = failure.message or f"{failure.kind}, as entry {number} of the script says"
        return ModelError(f"model {self._name!r}: {text}", kind=failure.kind, retry_after=failure.retry_after)


def read_script(path: Path) -> tuple[ScriptEntry, ...]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"script {str(path)!r} cannot be read: {reason}; check the path") from None
    return parse_script(text, str(path))


def parse_script(text: str, file: str) -> tuple[ScriptEntry, ...]:
    try:
        items: object = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" at line {line + 1}"
        raise UsageError(f"script {file!r} is not valid YAML{where}; fix it there") from None
    if not isinstance(items, list):
        raise UsageError(f"script {file!r} is not a list; write entries that start with '- '")
    return tuple(_entry(item, number, file) for number, item in enumerate(items, start=1))


def _entry(item: object, number: int, file: str) -> ScriptEntry:
    fields = _Fields(item, f"script {file!r}, entry {number}", KEYS)
    if ("reply" in fields.values) == ("error" in fields.values):
        raise fields.wrong("needs either 'reply' or 'error'")
    return ScriptEntry(
        number=number,
        answer=_reply(fields) if "reply" in fields.values else _failure(fields),
        seat=fields.text("seat"),
        phase=fields.text("phase"),
        round=fields.whole("round", 0),
        contains=fields.text("contains"),
        delay=fields.number("delay_s") or 0.0,
        times=_times(fields),
    )


def _times(fields: "_Fields") -> int | None:
    always = fields.values.get("always", False)
    if not isinstance(always, bool):
        raise fields.wrong("'always' must be true or false")
    if always and "times" in fields.values:
        raise fields.wrong("has both 'times' and 'always'; keep one")
    return None if always else fields.whole("times", 1) or 1


def _reply(fields: "_Fields") -> str:
    reply = fields.values["reply"]
    if isinstance(reply, str):
        return reply
    if not isinstance(reply, dict | list):
        raise fields.wrong("'reply' must be text, a mapping or a list; put other values in quotes")
    try:
        return json.dumps(reply, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise fields.wrong("'reply' holds a value that JSON does not have, such as a date; put it in quotes") from None


def _failure(fields: "_Fields") -> ScriptFailure:
    error = fields.values["error"]
    inner = _Fields({"kind": error} if isinstance(error, str) else error, f"{fields.where}, 'error'", ERROR_KEYS)
    kind = next((kind for kind in KINDS if kind == inner.values.get("kind")), None)
    if kind is None:
        raise inner.wrong(f"'kind' must be one of {', '.join(KINDS)}")
    return ScriptFailure(kind, inner.text("message") or "", inner.number("retry_after"))


class _Fields:
    """The keys of one mapping in the file, checked one by one so that errors name their place."""

    def __init__(self, item: object, where: str, allowed: tuple[str, ...]) -> None:
        self.where = where
        if not isinstance(item, dict):
            raise self.wrong(f"must be a mapping of {', '.join(allowed)}")
        unknown = [key for key in item if key not in allowed]
        if unknown:
            raise self.wrong(f"has the unknown key {unknown[0]!r}; known are {', '.join(allowed)}")
        self.values: dict[str, object] = item

    def wrong(self, what: str) -> UsageError:
        return UsageError(f"{self.where}: {what}")

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        if key in self.values and not isinstance(value, str):
            raise self.wrong(f"{key!r} must be text; put it in quotes")
        return value if isinstance(value, str) else None

    def whole(self, key: str, least: int) -> int | None:
        value = self.values.get(key)
        if key not in self.values:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(f"{key!r} must be a whole number, {least} or more")
        return value

    def number(self, key: str) -> float | None:
        value = self.values.get(key)
        if key not in self.values:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise self.wrong(f"{key!r} must be a number of seconds, 0 or more")
        return float(value)
