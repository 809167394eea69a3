"""`debate` as every surface offers it: a task and a team in, a session, the winner and the file it goes to."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.experience import Judged, Tried
from moot.core.types import Code, Tests
from moot.edge.files.outputs import check_output
from moot.edge.files.roles import read_roles, read_team_file
from moot.edge.files.sources import chosen_language, read_code
from moot.edge.store import SqlStore
from moot.edge.store.records import RecordShelf
from moot.protocols.debate.types import DebateInput, DebateResult, DebateRules, Member
from moot.protocols.harden.script import HardenRules
from moot.protocols.solve.attempts import DEFINED, task_examples
from moot.runtime.runner import Plan
from moot.surfaces.branching import branch_notes
from moot.surfaces.hardening import given_tests, hidden, hidden_tests, learn_all
from moot.surfaces.setup import Settings
from moot.surfaces.solving import solution_path
from moot.surfaces.toolset import check_tools, repository_of
from moot.teams.roles import Agent, Role, as_team, best_team, domain_of
from moot.teams.roles.building import FIRST
from moot.text.secrets import Vault

EXIT_CODES = {"agreed": 0, "chosen": 0, "contested": 1, "unresolved": 1}
CUT_SHORT = 2
Seats = dict[str, tuple[str, ...]]
INTERRUPTED = 130
FIRST_ANSWERS = ("self_evolvement", "proposal")
ATTACKERS = {"red_team": "red", "blue_team": "blue"}
"""Roles whose seats are those of `harden`."""
NO_MODEL = (
    "debate needs a model: set `model` in moot.toml or MOOT_MODEL, or give --model PROVIDER:MODEL, as often as you like"
)


@dataclass(frozen=True)
class Asked:
    """A task as a user gives it."""

    task: str
    tests: str | Tests | None = None
    """The path of tests, or the tests themselves."""
    hidden: str | Tests | None = None
    files: tuple[str, ...] | Code = ()
    """Paths, or the code itself."""
    language: str | None = None
    team: str | tuple[Agent, ...] | None = None
    """The path of a team file, or who sits in the team."""
    out: str | None = None
    topic: bool = False
    repo: str | None = None
    branch: bool = False
    write_anyway: bool = False
    force: bool = False
    """Whether `out` may be overwritten."""

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.files.files) if isinstance(self.files, Code) else self.files


def exit_code(result: DebateResult) -> int:
    if result.outcome == "cancelled":
        return INTERRUPTED
    if result.path and not result.tested and result.outcome != "unresolved":
        return CUT_SHORT
    return EXIT_CODES.get(result.outcome, CUT_SHORT)


def debate_plan(
    settings: Settings, asked: Asked, vault: Vault, notes: Mapping[str, JsonValue], tried: Sequence[Tried] = ()
) -> Plan:
    """The session to run; `tried` is how models did before. Secrets are masked before anything else sees them."""
    check_output(asked.out, force=asked.force, flag="--out")
    if not asked.task.strip():
        raise UsageError("there is no task; say what is to be debated")
    rules = settings.rules("debate")
    team, seats = members_of(settings, asked, tried, adversarial=DebateRules.model_validate(rules).held("adversarial"))
    if not team:
        raise UsageError(NO_MODEL)
    tests, held_out = (given_tests(each) if each else None for each in (asked.tests, asked.hidden))
    context = _context(asked)
    learn_all(vault, context, tests, held_out)
    vault.learn(asked.task)
    given = DebateInput(
        task=vault.hide(asked.task.strip()),
        tests=hidden_tests(tests, vault) if tests else None,
        hidden=hidden_tests(held_out, vault) if held_out else None,
        context=hidden(context, vault) if context else None,
        # Texts have names, but lie nowhere: a repository of this machine is no business of whoever sent them.
        repository="" if isinstance(asked.files, Code) or not asked.paths else repository_of(asked.paths[0]),
        harden=HardenRules.model_validate(settings.rules("harden")),
        team=tuple(team),
    )
    given = with_kind(given, asked)
    ci: JsonValue = settings.ci().model_dump(mode="json")
    tools = check_tools(rules["tools"], settings)
    own: dict[str, JsonValue] = {"runs_code": given.kind == "code" or bool(tools), "ci": ci}
    if given.kind == "code":
        origin = asked.paths[0] if len(asked.paths) == 1 else None
        own |= branch_notes(asked.repo, {given.path: origin}, branch=asked.branch)
    if asked.out:
        own |= {"out": os.path.abspath(asked.out), "write_anyway": asked.write_anyway, "force": asked.force}
    return Plan(
        protocol="debate",
        topic=" ".join(given.task.split())[:200],
        input=given.model_dump(mode="json"),
        rules=rules,
        limits=settings.limits(),
        gates=settings.gates("debate"),
        seats=seats,
        notes={**notes, **own, **settings.endpoint_notes(seats)},
    )


def with_kind(given: DebateInput, asked: Asked) -> DebateInput:
    """Code, unless it is said, or plain, that the task is a question about something else."""
    tests = given.tests or given.hidden
    if asked.topic or is_topic(asked):
        return given.model_copy(update={"kind": "topic", "path": ""})
    file = PurePosixPath(asked.paths[0]).name if len(asked.paths) == 1 else ""
    language = chosen_language(asked.language) or (tests.language if tests else "python")
    return given.model_copy(update={"language": language, "path": file or solution_path(tests, language)})


def is_topic(asked: Asked) -> bool:
    """A question without tests, files, language, a definition or an example: nothing in it could be run."""
    about_code = asked.tests or asked.paths or asked.language or DEFINED.search(asked.task)
    return asked.task.strip().endswith("?") and not about_code and not task_examples(asked.task, "python")


def _context(asked: Asked) -> Code | None:
    if not asked.paths:
        return None
    given = asked.files
    return given if isinstance(given, Code) else read_code(given, asked.language, None, bytes).code


def members_of(
    settings: Settings, asked: Asked, tried: Sequence[Tried], *, adversarial: bool
) -> tuple[list[Member], Seats]:
    """Who sits at the table, and with which models: the team of the file, or the usual roles with the models given."""
    roles = read_roles(str(settings["debate.roles_folder"]))
    models: tuple[str, ...] = settings["model"]
    if asked.team:
        agents = read_team_file(asked.team, roles).agents if isinstance(asked.team, str) else asked.team
    elif models:
        wanted = [*FIRST, *(ATTACKERS if adversarial else ())]
        agents = as_team(best_team(wanted, models, roles, domain_of(asked.task), tried)).agents
    else:
        return [], {}
    named = {key.removeprefix("seats."): r for key, r in settings.resolved.items() if key.startswith("seats.")}
    known = [seat_of(agent) for agent in agents]
    if unknown := [seat for seat, r in named.items() if r.source == "flag" and seat not in known]:
        raise UsageError(f"this team has no seat {unknown[0]!r}; its seats are {', '.join(known)}")
    own: Seats = {seat: settings[f"seats.{seat}"] for seat in known if seat in named}
    seats = {seat_of(agent): own.get(seat_of(agent), (agent.model,)) for agent in agents}
    return [member(agent, seats[seat_of(agent)][0], roles[agent.role]) for agent in agents], seats


def seat_of(agent: Agent) -> str:
    return ATTACKERS.get(agent.role, agent.id)


def member(agent: Agent, model: str, role: Role) -> Member:
    return Member(seat=seat_of(agent), role=agent.role, model=model, system=role.prompt, tools=role.tools)


async def keep_records(result: DebateResult, plan: Plan, store: SqlStore) -> None:
    """Who was right, for the teams of later debates; keeping it again changes nothing."""
    await RecordShelf(store).judge(result.session_id, judged(result, plan), datetime.now(UTC))


def judged(result: DebateResult, plan: Plan) -> list[Judged]:
    """Whose first answer behaves as the winner does; said only where the winner passes its tests."""
    winner = next((c for c in result.candidates if c.id == result.winner), None)
    if winner is None or not winner.checked.green or result.resumable:
        return []
    team = {member.seat: member for member in DebateInput.model_validate(plan.input).team}
    domain = domain_of(plan.topic)
    firsts = {c.seat: c for c in reversed(result.candidates) if not c.parent and c.phase in FIRST_ANSWERS}
    return [
        Judged(
            agent=seat,
            role=team[seat].role,
            model=team[seat].model,
            domain=domain,
            right=candidate.checked.marks == winner.checked.marks,
        )
        for seat, candidate in firsts.items()
        if seat in team
    ]
