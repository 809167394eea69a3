"""Vet beyond its descriptor: direct answers without a debate, and the memory of debates."""

import asyncio
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, JsonValue

from moot.core.errors import StoreError, UsageError
from moot.core.events import Event
from moot.core.gates import GateRules
from moot.core.ports import JournalMark
from moot.core.protocol import Option
from moot.core.report import GIVE_A_MODEL
from moot.core.types import Limits, Value
from moot.edge.command_inspection import names_program, raise_route
from moot.edge.files.memory import MemoryFolder, PastDebate, action_digest, memory_folder
from moot.edge.files.sources import read_text
from moot.edge.files.surroundings import NOTHING_AROUND, Around, look_around
from moot.edge.store import SqlStore
from moot.edge.store.tokens import LOCAL
from moot.evidence.failures import Next, TaskStanding, next_step, stamp, task_id
from moot.protocols.vet import PROTOCOL
from moot.protocols.vet.script import VetInput, VetResult
from moot.protocols.vet.synthesis import Resolution
from moot.protocols.vet.verdict import verdict
from moot.routing import Route, route
from moot.routing.answer import ORDER, Stakes
from moot.routing.switch import find_off_switch
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Extension
from moot.surfaces.history.daily_log import day_and_block
from moot.surfaces.session.plans import Request, make_plan
from moot.surfaces.session.request_bodies import Line, Long
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.wiring import run_plan
from moot.text.controls import clean
from moot.text.csp import FailureRequest, PlanRequest, Synthesis, read_request, write_synthesis
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending
    from moot.surfaces.cli.session_flags import SessionFlags

MOST_FAILURES = 3
OWNERS = "owners"
"""The folder below the memory that holds those of the owners of tokens."""


class VetBody(Value):
    action: Long = Field(min_length=1)
    stakes: Literal["low", "medium", "high"] | None = None
    context: Long = ""
    session: Line = Field(default="", description="session of a coding tool; it debates the same action once")
    failed: bool = False
    attempts: tuple[Long, ...] = Field(default=(), max_length=20)
    errors: tuple[Long, ...] = Field(default=(), max_length=20)


class VetOptions(Value):
    action: Annotated[str | None, Option(positional=True, help="The action to vet.")] = None
    stakes: Annotated[Stakes | None, Option(help="Force a debate, with these stakes.")] = None
    failure: Annotated[str | None, Option(help="Debate this task, which keeps failing.")] = None
    attempt: Annotated[tuple[str, ...], Option(help="What was tried. Repeatable; default: as tracked.")] = ()
    error: Annotated[tuple[str, ...], Option(help="What went wrong. Repeatable; default: as tracked.")] = ()
    session: Annotated[str, Option(help="Session name; within it an action is debated only once.")] = ""
    csp: Annotated[
        str | None, Option(after=True, help="Read a CSP/1 request from this file (- is stdin), answer in CSP/1.")
    ] = None


class VetExtension(Extension):
    body = VetBody
    options = VetOptions

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        action, failure, csp = said.pop("action", None), said.pop("failure", None), said.get("csp")
        attempts, errors = said.pop("attempt", ()), said.pop("error", ())
        given = [text for text in (action, failure, csp) if text is not None]
        if len(given) != 1:
            raise UsageError("say what to vet, once: an ACTION, --failure TASK, or --csp FILE")
        if (attempts or errors) and failure is None:
            raise UsageError("--attempt and --error belong to --failure TASK")
        context = read_text(said.pop("context")) if "context" in said else ""
        stakes, session = parse_stakes(said.pop("stakes", "")), said.pop("session", "")
        failed, rounds = failure is not None, None
        question = VetQuestion(given[0], stakes, context, session, failed, tuple(attempts), tuple(errors))
        if csp is not None:
            question, rounds = read_csp(read_text(csp), question)
        check(question)
        said |= vars(with_surroundings(question, Path.cwd()))
        return {"vet.rounds": rounds} if rounds else {}

    def read_body(self, body: VetBody, request: Request) -> dict[str, Any]:
        # The command line has the same memory: never repeat an answer given to another tool of the same name.
        session = body.session and f"{request.caller}:{body.session}"
        return {**body.model_dump(), "session": session}

    def plan(self, request: Request) -> SessionPlan:
        return vet_or_answer(request, VetQuestion(**request.given))

    def answer(self, plan: SessionPlan) -> VetResult | None:
        return VetInput.model_validate(plan.input).answer

    def own_notes(self, plan: SessionPlan, settings: Settings) -> dict[str, JsonValue]:
        shared, kept = memory_of(settings).folder, Path(str(plan.notes.get("memory", "")))
        own = kept == shared or (kept.parent == shared / OWNERS and kept.name.isalnum())
        return {"memory": str(kept)} if own else {}

    async def settle(self, result: VetResult, plan: SessionPlan, store: SqlStore | None) -> VetResult:
        """In a thread, because the files may be locked. Failures to remember are also noted in the journal."""
        if not plan.notes.get("memory"):
            return result
        kept = await asyncio.to_thread(remember_result, plan, result)
        said = kept.degraded[len(result.degraded) :]
        if said and store is not None:
            mark = JournalMark(kind="noted", name="not_remembered", value={"problem": said[-1]})
            await store.append(result.session_id, [mark])
        return kept

    def format(self, result: VetResult, ending: "Ending") -> str:
        if not ending.csp:
            return ""
        names = ("resolution", "rationale", "modifications", "next_approach", "escalate_to", "next_attempt_limit")
        return f"{clean(write_synthesis(Synthesis(*(getattr(result, name) for name in names))))}\n"


EXTENSION = VetExtension()


@dataclass(frozen=True)
class VetQuestion:
    action: str
    stakes: Stakes | None = None
    """None: by the router. If set, the action is debated even if the router would let it pass."""
    context: str = ""
    session: str = ""
    """The session of a coding tool; nothing is debated in it twice."""
    failed: bool = False
    """The action is a failed task; details are in `attempts` and `errors`, else in the memory."""
    attempts: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    around: Around = NOTHING_AROUND
    """Files and git state around it; empty for requests of other machines."""


def read_csp(text: str, given: VetQuestion) -> tuple[VetQuestion, int | None]:
    """The question and rounds of a CSP/1 request; flags take precedence."""
    match read_request(text):
        case PlanRequest(proposal=proposal, rounds=rounds, stakes=stakes):
            return replace(given, action=proposal, stakes=given.stakes or parse_stakes(stakes)), rounds
        case FailureRequest(task=task, attempts=attempts, errors=errors):
            return replace(given, action=task, failed=True, attempts=attempts, errors=errors), None


def with_surroundings(question: VetQuestion, folder: Path) -> VetQuestion:
    """Adds what the command would run and delete, and the state of git; skipped for commands that only read."""
    reads = route(question.action).is_harmless and not names_program(question.action)
    if reads and question.stakes is None and not question.failed:
        return question
    return replace(question, around=look_around(question.action, question.context, folder, os.environ))


def way_of(question: VetQuestion) -> Route:
    """The route of the text, raised by the files around it."""
    return raise_route(route(question.action), list(question.around.sights))


async def vet_question(
    settings: Settings, question: VetQuestion, listen: Callable[[Event], None] | None = None, *, keep: bool = True
) -> VetResult:
    """Vets an action or a failed task, and remembers it. Raises only `MootError`."""
    question = with_surroundings(question, Path.cwd())
    if (at_once := answer_directly(memory_of(settings), question)) is not None:
        return at_once
    vault = Vault(os.environ)
    plan = vet_plan(Request(protocol=PROTOCOL, given={}, settings=settings, vault=vault), question)
    result = await run_plan(settings=settings, plan=plan, vault=vault, listen=listen, keep=keep)
    assert isinstance(result, VetResult)
    return result


def parse_stakes(said: str) -> Stakes | None:
    if said and said not in ("low", "medium", "high"):
        raise UsageError(f"stakes are low, medium or high, not {said!r}")
    return said or None  # type: ignore[return-value]


def memory_of(settings: Settings, caller: str = "") -> MemoryFolder:
    """Each owner of tokens has a memory of its own: what others remember must not reach its prompts or its answers."""
    folder = memory_folder(str(settings["vet.memory"]), Path.cwd(), os.environ)
    if caller not in ("", LOCAL):
        folder = folder / OWNERS / hashlib.sha256(caller.encode()).hexdigest()[:16]
    return MemoryFolder(folder, os.environ, settings["vet.reset_after_hours"])


# --- without a debate


def answer_directly(memory: MemoryFolder, question: VetQuestion) -> VetResult | None:
    """The answer, if no debate is needed."""
    check(question)
    way = way_of(question)
    if switch := find_off_switch(os.environ):
        note = f"no debate: switched off by {switch}"
        return build_undebated(question, way, "PROCEED", note).model_copy(update={"degraded": (note,)})
    if way.is_harmless and question.stakes is None and not question.failed:
        return build_undebated(question, way, "PROCEED", f"no debate needed: {way.reason}")
    now = datetime.now(UTC)
    step, task = due(question, way, memory.standings(now))
    if step.due == "escalate":
        return escalate(question, way, task, step.why, memory, now)
    if step.due == "debate" or question.failed:
        return None
    earlier = memory.find_debate(question.session, question.action)
    if earlier and ORDER[stakes_of(question, way)] <= ORDER.get(earlier.stakes, 0):
        return repeat_answer(question, way, earlier)
    return None


def check(question: VetQuestion) -> None:
    if not question.action.strip():
        raise UsageError("nothing to vet: describe the action")


def stakes_of(question: VetQuestion, way: Route) -> Stakes:
    return question.stakes or way.stakes


def due(question: VetQuestion, way: Route, tasks: Mapping[str, TaskStanding]) -> tuple[Next, TaskStanding]:
    name = task_id(question.action)
    task = tasks.get(name, TaskStanding(name))
    stakes = stakes_of(question, way)
    step = next_step(tasks, name, stakes=stakes, security=way.security)
    stated = max(len(question.attempts), len(question.errors))
    if question.failed and stated and way.security and stakes == "high":
        return Next("escalate", "a high-stakes security task has failed"), task
    if question.failed and stated >= MOST_FAILURES:
        return Next("escalate", f"the task has failed {stated} times"), task
    return step, task


def build_undebated(question: VetQuestion, way: Route, resolution: Resolution, why: str) -> VetResult:
    kind: Literal["planning", "failure"] = "failure" if question.failed else "planning"
    given = VetInput(kind=kind, action=question.action, stakes=stakes_of(question, way))
    return verdict(given, resolution, why).model_copy(update={"debated": False})


def repeat_answer(question: VetQuestion, way: Route, earlier: PastDebate) -> VetResult:
    resolution: Resolution = earlier.resolution if earlier.resolution in get_args(Resolution) else "ESCALATE"  # type: ignore[assignment]
    said = f": {earlier.rationale}" if earlier.rationale else ""
    result = build_undebated(question, way, resolution, f"already debated in this session{said}")
    return result.model_copy(
        update={"modifications": earlier.modifications, "next_approach": earlier.next_approach,
                "session_id": earlier.debate_id}
    )  # fmt: skip


def escalate(
    question: VetQuestion, way: Route, task: TaskStanding, why: str, memory: MemoryFolder, now: datetime
) -> VetResult:
    """Escalates to a person without a debate."""
    result = build_undebated(question, way, "ESCALATE", f"{why}; no further debate")
    count = max(len(task.failures) + len(task.rejections), len(question.attempts), len(question.errors))
    debate = PastDebate(
        debate_id=f"auto-{task.task_id}-{count}",
        type="failure",
        task=question.action,
        resolution="ESCALATE",
        ts=stamp(now),
        task_id=task.task_id,
        stakes=stakes_of(question, way),
        category=category(way),
        session=question.session,
        auto=True,
        rationale=result.rationale,
    )
    try:
        memory.record(debate)
    except StoreError as error:
        return result.model_copy(update={"degraded": (f"not remembered: {error}",)})
    return result


def vet_or_answer(request: Request, question: VetQuestion) -> SessionPlan:
    """A plan of a debate, or one that has its answer already."""
    found = answer_directly(memory_of(request.settings, request.caller), question)
    if found is None:
        return vet_plan(request, question)
    given = {"kind": found.kind, "action": question.action, "stakes": found.stakes, "context": question.context}
    plan = make_plan(replace(request, given={**given, "answer": found}, use_models=False))
    notes = {"session": question.session, "task_id": task_id(question.action), "debate": found.session_id}
    return plan.model_copy(update={"notes": {**request.notes, **notes}, "gates": GateRules(), "limits": Limits()})


# --- with one


def vet_plan(request: Request, question: VetQuestion) -> SessionPlan:
    """A debate about the plan, or about the failures if there are enough of them."""
    check(question)
    settings = request.settings
    way, memory, now = way_of(question), memory_of(settings, request.caller), datetime.now(UTC)
    step, task = due(question, way, memory.standings(now))
    failed = question.failed or step.due == "debate"
    if "critic" not in settings.seats("vet"):
        raise request.explain_no_model(f"vet needs a model to debate with: {GIVE_A_MODEL}")
    given = VetInput(
        kind="failure" if failed else "planning",
        action=question.action,
        stakes=stakes_of(question, way),
        context="\n\n".join(part for part in (question.context, question.around.text) if part),
        attempts=(question.attempts or _approaches(task)) if failed else (),
        errors=(question.errors or task.errors) if failed else (),
        triggers=way.triggers,
    )
    if failed and not given.attempts and not given.errors:
        raise UsageError(
            "no failure of this task is known; give --attempt and --error, or `moot track fail` them first"
        )
    notes: dict[str, JsonValue] = {
        "memory": str(memory.folder),
        "begun": stamp(now),
        "session": question.session,
        "task_id": task_id(question.action),
        "action": action_digest(question.action),
        "category": category(way),
        "attempt": max(len(task.failures), len(given.attempts), len(given.errors)) if failed else 0,
    }
    plan = make_plan(replace(request, given=dict(given)))
    return plan.model_copy(update={"notes": {**plan.notes, **notes}})


def _approaches(task: TaskStanding) -> tuple[str, ...]:
    return tuple(entry.approach for entry in task.failures if entry.approach)


def category(way: Route) -> str:
    """The first reason for the stakes, in one word."""
    return way.triggers[0].partition(":")[0] if way.triggers else "other"


# --- what is remembered of it


def remember_result(plan: SessionPlan, result: VetResult) -> VetResult:
    """Writes log and metrics, once per result. Reports what could not be written."""
    if result.outcome == "cancelled":
        return result
    notes = {key: str(value) for key, value in plan.notes.items()}
    given = VetInput.model_validate(plan.input)
    memory = MemoryFolder(Path(notes["memory"]))
    try:
        day, block = day_and_block(given, result, notes["begun"], notes["attempt"])
        memory.log(day, f"{result.session_id} {result.resolution}", block)
        memory.record(metrics(given, result, notes))
        if given.kind == "failure":
            memory.record_debate(given.action, notes["task_id"], result.session_id, result.resolution, notes["begun"])
    except StoreError as error:
        return result.model_copy(update={"degraded": (*result.degraded, f"not remembered: {error}")})
    return result


def metrics(given: VetInput, result: VetResult, notes: Mapping[str, str]) -> PastDebate:
    return PastDebate(
        debate_id=result.session_id,
        type=given.kind,
        task=given.action,
        resolution=result.resolution,
        ts=notes["begun"],
        task_id=notes["task_id"],
        action=notes["action"],
        stakes=given.stakes,
        category=notes["category"],
        session=notes["session"],
        rationale=result.rationale,
        modifications=result.modifications,
        next_approach=result.next_approach,
    )
