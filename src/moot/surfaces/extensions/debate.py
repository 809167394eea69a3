"""Debate beyond its descriptor: team, topics, track records of models."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.experience import TrackRecord
from moot.core.protocol import Option
from moot.core.report import GIVE_A_MODEL
from moot.core.types import Code, Language, Value
from moot.edge.files.roles import read_roles, read_team_file
from moot.edge.files.sources import parse_language
from moot.edge.models import offers_tools
from moot.edge.store import SqlStore
from moot.edge.store.records import TrackRecords
from moot.protocols.debate.acts import UnseatedRole
from moot.protocols.debate.estimate import count_acts
from moot.protocols.debate.exit_code import exit_code
from moot.protocols.debate.phases.adaptive import FIRST as FIRST_DRAFTS
from moot.protocols.debate.truth import judge_members
from moot.protocols.debate.types import PHASES, DebateInput, DebateResult, DebateRules, Member
from moot.protocols.solve.attempts import DEFINED, task_examples
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Delivery, Extension
from moot.surfaces.extensions.solve import solution_path
from moot.surfaces.history.result_files import OutOptions, deliver_text, split_output
from moot.surfaces.session.plans import Request, make_plan, origin_of, repository_at
from moot.surfaces.session.request_bodies import Files, Line, Long, code_of, tests_of
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.toolset import NO_TOOLS
from moot.teams.roles import Agent, Role, TaskTraits, as_team, best_team, domain_of, reason_not_to_seat
from moot.teams.roles.team_builder import FIRST
from moot.teams.roles.templates import MAX_AGENTS, number_role
from moot.teams.roles.values import FREE
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending

Seats = dict[str, tuple[str, ...]]
ATTACKERS = {"red_team": "red", "blue_team": "blue"}
"""Roles that use the seats of `harden`."""
FILE_TOOLS = ("read_file", "search_files")
NO_MODEL = f"debate needs a model: {GIVE_A_MODEL}; repeat -m for more models"


class TeamSeat(Value):
    role: Line
    model: Line
    id: Line = Field(default="", description="default: the role, counted")


class DebateBody(Value):
    task: Long = Field(min_length=1)
    kind: Literal["code", "topic"] | None = Field(default=None, description="default: by the task")
    language: Language | None = None
    files: Files = Field(default={})
    tests: Files = Field(default={})
    hidden_tests: Files = Field(default={})
    entry: Line = ""
    team: tuple[TeamSeat, ...] = Field(default=(), max_length=MAX_AGENTS)


class DebateOptions(OutOptions):
    topic: Annotated[bool, Option(help="A topic, not code: nothing is run, ballots decide.")] = False
    team: Annotated[str | None, Option(help="Team file: roles and models of the agents.")] = None
    ask_me: Annotated[bool, Option(help="Ask you about what is unclear in the task.")] = False


class DebateExtension(Extension):
    body = DebateBody
    options = DebateOptions

    def read_body(self, body: DebateBody, request: Request) -> dict[str, Any]:
        roles = read_roles(str(request.settings["debate.roles_folder"]))
        return {
            "task": body.task,
            "tests": tests_of(body.tests, body.entry),
            "hidden": tests_of(body.hidden_tests, body.entry),
            "context": code_of(body.files, body.language) if body.files else None,
            "language": body.language if body.kind != "code" else body.language or "python",
            "team": team_of(body.team, roles) or None,
            "topic": body.kind == "topic",
        }

    def plan(self, request: Request) -> SessionPlan:
        """`team`: the path of a team file, or its members; `topic`: nothing is run, ballots decide."""
        given, own = split_output(request.given)
        settings, task, team = request.settings, str(given["task"]).strip(), given.pop("team", None)
        topic, language = given.pop("topic", False), given.pop("language", None)
        if given.pop("ask_me", False):
            own["ask_me"] = True
        if not task:
            raise UsageError("no task given; say what is to be debated")
        if not request.use_models:
            raise UsageError(
                f"--no-llm leaves no model to debate. {NO_MODEL}; `moot solve --no-llm` only runs the tests"
            )
        rules = DebateRules.model_validate(settings.rules("debate"))
        adversarial = rules.includes_phase("adversarial")
        agents = agents_of(settings, task, team, request.tried, adversarial=adversarial)
        if not agents:
            raise request.explain_no_model(NO_MODEL)
        code: Code | None = given.get("context")
        paths = [file.path for file in code.files] if code else []
        tests = given.get("tests") or given.get("hidden")
        about_code = given.get("tests") or paths or language
        found: dict[str, Any] = {"task": task, "harden": settings.rules("harden")}
        found["repository"] = repository_at(request.origins.get(paths[0])) if paths else ""
        if topic or (not about_code and is_topic(task)):
            refuse_idle(given, language, branch=request.branch)
            found |= {"kind": "topic", "path": ""}
        else:
            chosen = parse_language(language) or (tests.language if tests else "python")
            sole = PurePosixPath(paths[0]).name if len(paths) == 1 else ""
            found |= {"language": chosen, "path": sole or solution_path(tests, chosen)}
        is_code = "kind" not in found
        traits = TaskTraits(
            code=is_code,
            language=found.get("language", ""),
            tested=bool(given.get("tests")),
            files=bool(paths),
            phases=[phase for phase in PHASES if rules.includes_phase(phase)],
        )
        seated, found["unseated"] = split_team(agents, traits)
        members, seats = members_of(settings, seated, rules, traits)
        found["team"] = tuple(members)
        places = {found["path"]: origin_of(request, paths[0]) if len(paths) == 1 else None}
        plan = cap_effort(make_plan(replace(request, given={**given, **found}, places=places, seats=seats)))
        own |= {"runs_code": is_code or rules.tools not in ((), NO_TOOLS), "ci": settings.ci().model_dump(mode="json")}
        return plan.model_copy(update={"notes": {**plan.notes, **own}})

    async def settle(self, result: DebateResult, plan: SessionPlan, store: SqlStore | None) -> DebateResult:
        if store is not None:
            await keep_records(result, plan, store)
        return result

    def deliver(self, result: DebateResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> Delivery:
        return deliver_text(result.code or result.text, result.outcome, exit_code(result), result, plan, vault)


EXTENSION = DebateExtension()


def cap_effort(plan: SessionPlan) -> SessionPlan:
    """Fewer calls than the usual effort: plan with those, so that the debate comes to its own end within them."""
    most, rules = plan.limits.max_calls, DebateRules.model_validate(plan.rules)
    if most is None or most < FIRST_DRAFTS:
        return plan
    most = max(most - count_acts(DebateInput.model_validate(plan.input), rules), FIRST_DRAFTS)
    if most >= rules.effort:
        return plan
    return plan.model_copy(update={"rules": {**plan.rules, "effort": most}})


def refuse_idle(given: Mapping[str, Any], language: str | None, *, branch: bool) -> None:
    """Refuses options for code in a debate about a topic."""
    tests, hidden = given.get("tests"), given.get("hidden")
    of_code = {"--tests": tests, "--hidden-tests": hidden, "--language": language, "--branch": branch}
    if idle := [name for name, said in of_code.items() if said]:
        raise UsageError(f"{idle[0]} is for code, and this is a topic: leave out {idle[0]}, or --topic")


def is_topic(task: str) -> bool:
    """A question without a definition or example: nothing in it can be run."""
    return task.endswith("?") and not DEFINED.search(task) and not task_examples(task, "python")


def team_of(seats: Sequence[TeamSeat], roles: Mapping[str, Role]) -> tuple[Agent, ...]:
    taken, agents = Counter[str](), list[Agent]()
    for seat in seats:
        if seat.role not in roles:
            raise UsageError(f"unknown role {seat.role!r}; known are {', '.join(roles)}")
        taken[seat.role] += 1
        try:
            agents.append(
                Agent(id=seat.id or number_role(seat.role, taken[seat.role]), role=seat.role, model=seat.model)
            )
        except ValueError:
            raise UsageError(f"the id {seat.id!r} must consist of lowercase letters, digits, - and _") from None
    if len({agent.id for agent in agents}) != len(agents):
        raise UsageError("two agents of the team have the same id")
    return tuple(agents)


def agents_of(
    settings: Settings,
    task: str,
    team: str | tuple[Agent, ...] | None,
    tried: Sequence[TrackRecord],
    *,
    adversarial: bool,
) -> tuple[Agent, ...]:
    """The team of the file, or the default roles; empty without a model."""
    roles = read_roles(str(settings["debate.roles_folder"]))
    models: tuple[str, ...] = settings["model"]
    if team:
        return read_team_file(team, roles).agents if isinstance(team, str) else team
    wanted = [*FIRST, *(ATTACKERS if adversarial else ())]
    return as_team(best_team(wanted, models, roles, domain_of(task), tried)).agents if models else ()


def split_team(agents: Sequence[Agent], task: TaskTraits) -> tuple[list[Agent], tuple[UnseatedRole, ...]]:
    """Those with an act in this task, and the others with the reason."""
    whys = [(agent, reason_not_to_seat(agent.role, task)) for agent in agents]
    unseated = tuple(UnseatedRole(seat=agent.id, role=agent.role, why=why) for agent, why in whys if why)
    if len(unseated) == len(whys):
        reasons = "; ".join(f"{each.role}: {each.why}" for each in unseated)
        raise UsageError(f"no role of this team has anything to do here: {reasons}")
    return [agent for agent, why in whys if not why], unseated


def members_of(
    settings: Settings, agents: Sequence[Agent], rules: DebateRules, task: TaskTraits
) -> tuple[list[Member], Seats]:
    roles = read_roles(str(settings["debate.roles_folder"]))
    named = {key.removeprefix("seats."): r for key, r in settings.resolved.items() if key.startswith("seats.")}
    known = [seat_of(agent) for agent in agents]
    if unknown := [seat for seat, r in named.items() if r.source == "flag" and seat not in known]:
        raise UsageError(f"this team has no seat {unknown[0]!r}; its seats are {', '.join(known)}")
    own: Seats = {seat: settings[f"seats.{seat}"] for seat in known if seat in named}
    seats = {seat_of(agent): own.get(seat_of(agent), (agent.model,)) for agent in agents}
    free = () if rules.tools else FREE if task.code else FILE_TOOLS if task.files else ()
    members = []
    for agent in agents:
        role, model = roles[agent.role], seats[seat_of(agent)][0]
        wanted = tuple(tool for tool in role.tools if tool in free)
        offered = wanted if wanted and offers_tools(model, os.environ, settings.endpoints()) else ()
        members.append(
            Member(
                seat=seat_of(agent),
                role=agent.role,
                model=model,
                system=role.prompt,
                tools=role.tools,
                offered=offered,
            )
        )
    return members, seats


def seat_of(agent: Agent) -> str:
    return ATTACKERS.get(agent.role, agent.id)


async def keep_records(result: DebateResult, plan: SessionPlan, store: SqlStore) -> None:
    """Records who was right, for later teams and ballots. Idempotent."""
    team = {member.seat: member for member in DebateInput.model_validate(plan.input).team}
    judged = judge_members(result, team, domain_of(plan.topic))
    await TrackRecords(store).judge(result.session_id, judged, datetime.now(UTC))
