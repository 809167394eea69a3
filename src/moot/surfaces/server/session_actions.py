"""Actions on sessions: decide, answer, choose, pause, resume, cancel, fork."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from pydantic import Field, JsonValue, model_validator
from starlette.responses import Response

from moot.core.errors import LeaseLost, UsageError
from moot.core.ports import JournalMark, SessionRecord
from moot.core.types import Limits, Status, Value
from moot.record.chain import digest_of
from moot.runtime.runner import SessionPlan, find_result
from moot.surfaces.history import forks
from moot.surfaces.history.choices import choose
from moot.surfaces.history.imports import agree_to_imported
from moot.surfaces.server import shapes
from moot.surfaces.server.auth import RequiredScope
from moot.surfaces.server.client_rights import Identity, check_client_plan
from moot.surfaces.server.gate_decisions import AnswersBody, Decision, answer_gate, decide_gate
from moot.surfaces.server.problems import Refusal, document_problems
from moot.surfaces.server.requests import Budget, Name, Names, refuse_unkept
from moot.surfaces.server.sessions import Here, SessionId, check_runnable, json_response
from moot.surfaces.server.site import OVER, ServerSite
from moot.surfaces.server.strictness import refuse_unknown

router = APIRouter(prefix="/v1/debates", responses=document_problems(), dependencies=[Depends(refuse_unknown)])
Runner = Annotated[Identity, Depends(RequiredScope("run"))]
Approver = Annotated[Identity, Depends(RequiredScope("approve"))]


class Resume(Value):
    budget: Budget = Field(default=Budget(), description="limits from now on; default: unchanged")


class ChoiceBody(Value):
    question: Name
    option: Name
    reason: Annotated[str, Field(min_length=1, max_length=2000)]


class Fork(Value):
    at: int = Field(ge=0, le=2**31 - 1, description="the first step to run again")
    changes: dict[Name, JsonValue] = Field(default={}, description="settings to change from there on")
    seats: dict[Name, Names] = Field(default={}, description="seat -> its models from there on")

    @model_validator(mode="before")
    @classmethod
    def _can_be_kept(cls, given: Any) -> Any:
        refuse_unkept(given)
        return given


@router.post("/{id}/approve", response_model=shapes.Decided, summary="Approve at the gate")
async def approve(session: SessionId, who: Approver, site: Here, told: Decision | None = None) -> Response:
    record = await site.session(session, who)
    return json_response(await decide_gate(site, record.id, who, told or Decision(), "approved"))


@router.post("/{id}/reject", response_model=shapes.Decided, summary="Reject at the gate: the session ends")
async def reject(session: SessionId, who: Approver, site: Here, told: Decision | None = None) -> Response:
    record = await site.session(session, who)
    return json_response(await decide_gate(site, record.id, who, told or Decision(), "rejected"))


@router.post("/{id}/answers", response_model=shapes.Decided, summary="Answer the questions about the task")
async def answers(session: SessionId, who: Approver, site: Here, told: AnswersBody) -> Response:
    record = await site.session(session, who)
    return json_response(await answer_gate(site, record.id, who, told))


@router.post("/{id}/choice", response_model=shapes.Chosen, summary="Choose an option of a contested question")
async def choice(session: SessionId, who: Approver, site: Here, told: ChoiceBody) -> Response:
    record = await site.session(session, who)
    try:
        verdict = await choose(site.store, site.clock, record.id, told.question, told.option, told.reason, by=who.name)
    except UsageError as error:
        raise Refusal(409, "no_choice", str(error)) from None
    site.feeds.wake(record.id)
    assert verdict.choice is not None
    return json_response(shapes.Chosen(question_id=verdict.question_id, **verdict.choice.model_dump()))


@router.post("/{id}/pause", status_code=202, response_model=shapes.Accepted, summary="Pause after the running steps")
async def pause(session: SessionId, who: Runner, site: Here) -> Response:
    return json_response(await pause_session(site, session, who), 202)


async def pause_session(site: ServerSite, session: str, who: Identity) -> shapes.Accepted:
    record = await site.session(session, who)
    mark = JournalMark(kind="noted", name="paused", value=_by(who))
    if record.status == "pending" and await _change_status(site, record, "paused", mark):
        return shapes.Accepted(id=record.id, status="paused")
    record = await site.session(session, who)
    if record.status != "running":
        raise Refusal(409, "not_running", f"this session is {record.status}")
    return await _record_wish(site, record, "pause")


@router.post("/{id}/cancel", status_code=202, response_model=shapes.Accepted, summary="Cancel at once")
async def cancel(session: SessionId, who: Runner, site: Here) -> Response:
    record = await site.session(session, who)
    if record.status in ("pending", "paused"):
        outcome: JsonValue = {"result": shapes.result_of(record), "outcome": "cancelled", "cut": "cancelled"}
        said: JsonValue = {"status": "cancelled", "outcome": digest_of(outcome), "said": "cancelled", "by": who.name}
        ended = record.model_copy(update={"outcome": outcome, "completed_at": site.now(), "waiting_on": None})
        if await _change_status(site, ended, "cancelled", JournalMark(kind="ended", value=said)):
            return json_response(shapes.Accepted(id=record.id, status="cancelled"), 202)
        record = await site.session(session, who)
    if record.status in OVER:
        raise Refusal(409, "ended", f"this session is {record.status}")
    return json_response(await _record_wish(site, record, "cancel"), 202)


@router.post("/{id}/resume", status_code=202, response_model=shapes.Accepted, summary="Resume a session")
async def resume(session: SessionId, who: Runner, site: Here, told: Resume | None = None) -> Response:
    record = await site.session(session, who)
    if record.status in ("pending", "running"):
        raise Refusal(409, "running", f"this session is {record.status}")
    if record.waiting_on:
        raise Refusal(409, "at_gate", "this session is waiting for a decision; approve or reject it")
    if record.status == "cancelled" or find_result(record) is not None:
        raise Refusal(409, "ended", f"this session is {record.status}; there is nothing left to do")
    await agree_to_imported(site.store, record, SessionPlan.model_validate(record.config))
    limits = told.budget.given_limits() if told else {}
    mark = JournalMark(kind="noted", name="resumed", value=_by(who))
    plan = SessionPlan.model_validate(record.config)
    changed = plan.model_copy(update={"limits": Limits.model_validate({**plan.limits.model_dump(), **limits})})
    check_client_plan(changed, who, site.settings, plan)
    if limits:
        record = record.model_copy(update={"config": changed.model_dump(mode="json")})
        mark = JournalMark(kind="plan", value={"plan": digest_of(record.config), "by": who.name})
    if not await _change_status(site, record.model_copy(update={"completed_at": None}), "pending", mark):
        raise Refusal(409, "running", "this session has already been resumed")
    await site.queue.put(record.id, record.priority)
    return json_response(shapes.Accepted(id=record.id, status="pending"), 202)


@router.post(
    "/{id}/fork",
    status_code=202,
    response_model=shapes.Summary,
    summary="Fork: start a new session from a step",
)
async def fork(session: SessionId, who: Runner, site: Here, told: Fork) -> Response:
    record = await site.session(session, who)
    seats = {seat: (chain,) if isinstance(chain, str) else tuple(chain) for seat, chain in told.seats.items()}

    async def check(plan: SessionPlan, before: SessionPlan) -> None:
        check_client_plan(plan, who, site.settings, before)
        await check_runnable(site, plan)

    new = await forks.fork(
        site.store,
        record.id,
        told.at,
        changes=told.changes,
        seats=seats,
        by=who.name,
        check=check,
        settings=site.settings,
    )
    await site.queue.put(new.id, new.priority)
    return json_response(shapes.summary_of(new), 202, {"Location": f"/v1/debates/{new.id}"})


def _by(who: Identity) -> JsonValue:
    return {"by": who.name}


async def _change_status(site: ServerSite, record: SessionRecord, status: Status, mark: JournalMark) -> bool:
    """Changes the status; False if another process took the session meanwhile."""
    new = record.model_copy(update={"status": status, "updated_at": site.now()})
    try:
        await site.store.update(new, mark)
    except LeaseLost:
        return False
    site.feeds.wake(record.id)
    return True


async def _record_wish(site: ServerSite, record: SessionRecord, wish: Any) -> shapes.Accepted:
    await site.store.wish(record.id, wish)
    if site.carrier is not None:
        site.carrier.stop(record.id, wish)
    return shapes.Accepted(id=record.id, status=record.status, wish=wish)
