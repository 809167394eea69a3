"""Forks: a new session from any step of another, with a change."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from moot.core.errors import ReplayMismatch, StoreError, UsageError
from moot.core.gates import GateRules
from moot.core.ports import Row, SessionRecord, StepRow
from moot.core.types import Limits
from moot.edge.clock import SystemClock
from moot.edge.store import SqlStore
from moot.edge.store.session_copy import begin_with
from moot.edge.store.snapshots import whole
from moot.protocols import PROTOCOLS
from moot.record.chain import SessionSnapshot, flaws_of
from moot.record.replay import run_again
from moot.runtime.runner import About, SessionPlan, new_record
from moot.surfaces.history.imports import Ask, agree_to_imported, ask_nobody
from moot.surfaces.session.settings import ENDPOINTS, Settings, check_points


async def fork(  # noqa: PLR0913 - everything but the first three is by name
    store: SqlStore,
    session_id: str,
    at: int,
    *,
    changes: Mapping[str, JsonValue],
    seats: Mapping[str, Sequence[str]],
    by: str | None = None,
    check: Callable[[SessionPlan, SessionPlan], Awaitable[None]] | None = None,
    ask: Ask = ask_nobody,
    settings: Settings | None = None,
) -> SessionRecord:
    """A new session, not started, with the steps before `at` copied. Refuses a change that would alter one of those
    steps, what `check` refuses of the new plan, and a fork of an imported session without consent."""
    parent = await whole(store, session_id)
    if found := flaws_of(parent):
        raise StoreError(f"session {parent.session.id} cannot be forked: its record was changed ({found[0]})")
    steps = [step for step in parent.steps if step.seq > 0]
    last = max((step.seq for step in steps), default=0)
    if not 1 <= at <= last + 1:
        raise UsageError(f"--at {at}: the session has steps 1 to {last}; give one of them, or {last + 1} to continue")
    before = SessionPlan.model_validate(parent.session.config)
    plan = change_plan(before, changes, seats)
    if settings is not None:  # endpoints of the new models
        plan = plan.model_copy(update={"notes": {**plan.notes, **_endpoint_notes(plan, settings)}})
    if check is not None:
        await check(plan, before)
    copied = [step for step in steps if step.seq < at]
    await _refuse_other_steps(parent.session, plan, copied)
    marks = await agree_to_imported(store, parent.session, plan, ask)
    about = About(by=by, parent=parent.session.id, priority=parent.session.priority)
    child = new_record(plan, SystemClock().now(), about)
    await begin_with(store, child, at, group_rows(parent, copied), marks)
    return await store.session(child.id)


async def _refuse_other_steps(record: SessionRecord, plan: SessionPlan, copied: Sequence[StepRow]) -> None:
    """The protocol must reach the same steps with the change."""
    again = await run_again(record, plan, copied, ended=False)
    missed = {step.seq for step in copied} - {seq for seq, _ in again.used}
    if isinstance(again.error, ReplayMismatch):
        missed.add(again.error.seq)
    if missed:
        first = min(missed)
        raise UsageError(f"the change affects step {first}: fork at that step or earlier (--at {first})")


def _endpoint_notes(plan: SessionPlan, settings: Settings) -> dict[str, JsonValue]:
    kept, now = (table.get(ENDPOINTS) for table in (plan.notes, settings.endpoint_notes(plan.seats)))
    return {ENDPOINTS: {**(kept if isinstance(kept, dict) else {}), **now}} if isinstance(now, dict) else {}


def group_rows(parent: SessionSnapshot, copied: Sequence[StepRow]) -> list[list[Row]]:
    """Log rows by step; turn and version go with the last part."""
    groups = []
    last = {step.seq: step.part for step in copied}
    for step in copied:
        beside: list[Row] = [log for log in parent.logs if (log.seq, log.part) == (step.seq, step.part)]
        if last[step.seq] == step.part:
            beside += [turn for turn in parent.turns if turn.seq == step.seq]
            beside += [version for version in parent.versions if version.seq == step.seq]
        groups.append([step, *beside])
    return groups


def change_plan(plan: SessionPlan, changes: Mapping[str, JsonValue], seats: Mapping[str, Sequence[str]]) -> SessionPlan:
    """The plan with other rules, limits, gates and models."""
    rules, limits, gates = dict(plan.rules), plan.limits.model_dump(), plan.gates.model_dump()
    kind = PROTOCOLS[plan.protocol].rules
    for key, value in changes.items():
        name = key.removeprefix(f"{plan.protocol}.")
        if name in kind.model_fields:
            rules[name] = value
        elif key in Limits.model_fields:
            limits[key] = value
        elif key.startswith("gates.") and key.removeprefix("gates.") in GateRules.model_fields:
            gates[key.removeprefix("gates.")] = value
        else:
            known = ", ".join(
                [*kind.model_fields, *Limits.model_fields, *(f"gates.{g}" for g in GateRules.model_fields)]
            )
            raise UsageError(f"{plan.protocol} has no {key!r} to set; known are {known}")
    try:
        update: dict[str, Any] = {
            "rules": kind.model_validate(rules).model_dump(mode="json"),
            "limits": Limits.model_validate(limits),
            "gates": GateRules.model_validate(gates),
        }
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(f"{'.'.join(map(str, first['loc']))} cannot be set to this value: {first['msg']}") from None
    if "gates.points" in changes:
        check_points(plan.protocol, update["gates"].points)
    return _change_seats(plan.model_copy(update=update), seats)


def _change_seats(plan: SessionPlan, seats: Mapping[str, Sequence[str]]) -> SessionPlan:
    known = dict.fromkeys([*plan.seats, *PROTOCOLS[plan.protocol].seats])
    for seat, models in seats.items():
        if seat not in known:
            raise UsageError(f"the session has no seat {seat!r}; its seats are {', '.join(known)}")
        if not models or not all(models):
            raise UsageError(f"seat {seat!r} needs a model, provider:model")
    chains = {seat: tuple(models) for seat, models in seats.items()}
    return plan.model_copy(update={"seats": {**plan.seats, **chains}, "input": _members(plan.input, chains)})


def _members(given: dict[str, JsonValue], chains: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """A debate's team also names models in its input."""
    team = given.get("team")
    if not isinstance(team, list):
        return given
    named = [
        {**member, "model": chains[str(member.get("seat"))][0]}
        if isinstance(member, dict) and str(member.get("seat")) in chains
        else member
        for member in team
    ]
    return {**given, "team": named}


def parse_value(text: str) -> JsonValue:
    """JSON if valid, else the text itself."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return text
    return value
