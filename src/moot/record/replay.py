"""Replays a session from its journal alone: no model is asked, nothing is run, the clock stands still. The result must
equal the recorded one."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn

from pydantic import JsonValue, ValidationError

from moot.core.ci import Checks, CiHooks, Point
from moot.core.errors import CutKind, MootError, ReplayMismatch, SessionStopped, Unrecorded
from moot.core.ports import Branch, JournalEntry, Model, SessionRecord, StepRow
from moot.core.types import Code, ModelCall, Reply, Result, Tests, Value
from moot.protocols import PROTOCOLS
from moot.record.chain import SessionSnapshot, flaws_of, select_standing, step_of
from moot.record.json_diff import JsonDifference, differences, drop_volatile
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.text.secrets import Vault

BRANCHES = "debate/"
BY_A_CLOCK = ("timed_out", "cancelled")
"""Stops from outside. No step records where they came, so they come where the record ends."""


class Replayed(Value):
    session: str
    steps: int
    """Recorded steps that were requested again with the same words."""
    ended: bool
    """Whether there is a recorded result to compare with."""
    same: bool
    cut: str = ""
    """What ended the session early. A clock or Ctrl-C cannot be replayed: they come where the record ends."""
    why: str = ""
    """A difference outside the result."""
    differences: tuple[JsonDifference, ...] = ()
    flaws: tuple[str, ...] = ()
    result: JsonValue = None


async def replay(whole: SessionSnapshot) -> Replayed:
    """Run the session again and compare. Writes nothing."""
    record, steps = whole.session, [step_of(entry) for entry in select_standing(whole.entries) if entry.seq > 0]
    kept = find_recorded_result(record, whole.entries)
    again = await run_again(record, SessionPlan.model_validate(record.config), steps, ended=kept is not None)
    unlike: tuple[JsonDifference, ...] = ()
    why = _explain_divergence(again, steps, ended=kept is not None)
    made = again.result.model_dump(mode="json") if again.result is not None and not why else None
    if made is not None:
        unlike = tuple(differences(drop_volatile(fill_newer(record.protocol, kept, made)), drop_volatile(made)))
    return Replayed(
        session=record.id,
        steps=len(again.used),
        ended=kept is not None,
        same=not why and not unlike,
        cut=again.cut,
        why=why,
        differences=unlike,
        flaws=tuple(flaws_of(whole)),
        result=made,
    )


def fill_newer(protocol: str, kept: JsonValue, made: JsonValue) -> JsonValue:
    """A recorded result with the fields that results have got since: as made now, inside of others at their defaults.
    The record says nothing of them."""
    try:
        filled: dict[str, JsonValue] = PROTOCOLS[protocol].result.model_validate(kept).model_dump(mode="json")
    except ValidationError:
        return kept
    if isinstance(kept, dict) and isinstance(made, dict):
        filled |= {name: value for name, value in made.items() if name not in kept}
    return filled


def _explain_divergence(again: "ReplayRun", steps: Sequence[StepRow], *, ended: bool) -> str:
    """Why it did not reach its end by the recorded steps; an unfinished session stops where they end."""
    if again.error is not None and (ended or not isinstance(again.error, Unrecorded)):
        return str(again.error)
    missed = sorted({(step.seq, step.part) for step in steps} - again.used)
    if missed:
        return f"step {missed[0][0]}.{missed[0][1]} of the record was not requested"
    return "" if ended or again.result is None else "it reached a result, but the record has none"


def find_recorded_result(record: SessionRecord, entries: Sequence[JournalEntry]) -> JsonValue:
    """The result of the last run, if any; a session resumed since has none yet."""
    last = next((entry.kind for entry in reversed(entries) if entry.kind in ("claimed", "ended")), "")
    outcome = record.outcome if isinstance(record.outcome, dict) else {}
    return outcome.get("result") if last == "ended" else None


@dataclass(frozen=True)
class ReplayRun:
    used: set[tuple[int, int]]
    cut: str = ""
    result: Result | None = None
    error: MootError | None = None


async def run_again(record: SessionRecord, plan: SessionPlan, steps: Sequence[StepRow], *, ended: bool) -> ReplayRun:
    """Run the plan's script over these steps, as far as they reach. `ended`: the session was finished."""
    outcome = record.outcome if ended and isinstance(record.outcome, dict) else {}
    cut = str(outcome.get("cut") or "")
    end = RecordEnd(cut, reason_in(outcome.get("result"), cut))
    runner = Runner(refusing_ports(record, plan), lambda name: UnaskedModel(name, end), begin=end.refuse_step)
    if ended and record.status == "cancelled" and cut == "cancelled":
        runner.wish = "cancel"
    try:
        result = await runner.carry_on(record, plan, steps)
    except (Unrecorded, ReplayMismatch) as error:
        return ReplayRun(used=runner.used, error=error, cut=cut)
    return ReplayRun(used=runner.used, result=result, cut=cut)


@dataclass(frozen=True)
class RecordEnd:
    """Where the record ends: raise the stop that ended the session, or refuse to continue."""

    cut: str
    why: str

    def refuse_step(self) -> None:
        """Called before anything new starts; a replay starts nothing."""
        if self.cut in BY_A_CLOCK:
            kind: CutKind = "timed_out" if self.cut == "timed_out" else "cancelled"
            raise SessionStopped(kind, self.why)
        if self.cut != "budget_exhausted":  # the ledger raises that in its own words
            raise Unrecorded("the session asks for a step that is not in its record")

    def refuse_call(self, call: ModelCall) -> NoReturn:
        if self.cut == "budget_exhausted":
            # Calls in parallel left it no room then; in the replay they are finished.
            raise SessionStopped("budget_exhausted", self.why)
        raise Unrecorded(f"{call.seat} is asked something in round {call.round} that is not in the record")


def reason_in(result: JsonValue, cut: str) -> str:
    """The words with which a session was stopped: only its result has them, no step does."""
    notes = result.get("degraded") if isinstance(result, dict) else None
    begins = f"{cut.replace('_', ' ')}: "
    reasons = [str(note) for note in notes] if isinstance(notes, list) else []
    return next((note.removeprefix(begins) for note in reasons if note.startswith(begins)), "")


def refusing_ports(record: SessionRecord, plan: SessionPlan) -> SessionPorts:
    """Ports that refuse to be used. Secrets were masked before recording, so there are none to hide."""
    nobody: Any = RefusingPort()
    return SessionPorts(
        scanner=nobody,
        clock=StoppedClock(record.created_at),
        sandbox=nobody,
        vault=Vault({}),
        memory=nobody,
        linter=nobody,
        checks=HookPoints(CiHooks.model_validate(plan.notes.get("ci") or {})),
        branches=NamedBranch() if isinstance(plan.notes.get("repository"), str) else None,
        toolbox=nobody,
        person=nobody.ask if plan.notes.get("ask_me") else None,
        gates=nobody,
    )


class RefusingPort:
    """Stands in for every port and does nothing: a replay must not use any."""

    def __getattr__(self, verb: str) -> "RefusingPort":
        return self

    def __call__(self, *arguments: object, **more: object) -> NoReturn:
        raise Unrecorded("the session asks for something to be done that is not in its record")

    async def ask(self, questions: Sequence[str]) -> NoReturn:
        self()


class UnaskedModel(Model):
    def __init__(self, name: str, end: RecordEnd) -> None:
        self._name = name
        self._end = end

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, call: ModelCall) -> Reply:
        self._end.refuse_call(call)

    def turn(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def skip(self, call: ModelCall) -> None: ...

    async def aclose(self) -> None: ...


class StoppedClock:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise Unrecorded("the session waits for something that is not in its record")


class HookPoints:
    """Where CI hooks were configured; their results are in the record."""

    def __init__(self, hooks: CiHooks) -> None:
        self._hooks = hooks

    def at(self, point: Point) -> bool:
        return self._hooks.at(point)

    async def check(self, point: Point, code: Code, tests: Tests) -> Checks:
        raise Unrecorded(f"the checks at {point} are not in the record")


class NamedBranch:
    def name(self, session: str) -> str:
        return BRANCHES + session

    def open(self, session: str) -> Branch:
        raise Unrecorded("the session commits something that is not in its record")

    def close(self, session: str) -> None: ...
