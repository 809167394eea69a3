"""`debate` as every surface offers it: a task and a team in, a session, the winner and the file it may be written to."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import JsonValue

from moot.edge.sources import chosen_language, read_code, read_tests
from moot.edge.teams import read_team
from moot.errors import UsageError
from moot.protocols.attempts import DEFINED, task_examples
from moot.protocols.debated import DebateInput, DebateResult, Member
from moot.roles import Agent, load_roles
from moot.runner import Plan
from moot.surfaces.hardening import hidden_tests
from moot.surfaces.setup import Settings
from moot.surfaces.solving import solution_path
from moot.types import Code, Tests
from moot.vault import Vault

EXIT_CODES = {"agreed": 0, "chosen": 0, "contested": 1}
CUT_SHORT = 2
INTERRUPTED = 130
ROLES = ("proposer", "critic", "reviewer", "optimizer", "moderator")
ATTACKERS = {"red_team": "red", "blue_team": "blue"}
"""Roles whose seats are those of `harden`."""
NO_MODEL = "debate needs a model: set `model` in moot.toml or MOOT_MODEL, or give --model PROVIDER:MODEL, as often as you like"


@dataclass(frozen=True)
class Asked:
    """A task as a user gives it."""

    task: str
    tests: str | None = None
    hidden: str | None = None
    files: tuple[str, ...] = ()
    language: str | None = None
    team: str | None = None
    out: str | None = None
    topic: bool = False


def exit_code(result: DebateResult) -> int:
    if result.outcome == "cancelled":
        return INTERRUPTED
    tested = result.tested or result.path == ""
    return EXIT_CODES.get(result.outcome, CUT_SHORT) if tested or result.outcome != "agreed" else CUT_SHORT


def debate_plan(settings: Settings, asked: Asked, vault: Vault, notes: Mapping[str, JsonValue]) -> Plan:
    """The session to run. Secrets in the task, the files and the tests are masked before anything else sees them."""
    if not asked.task.strip():
        raise UsageError("there is no task; say what is to be debated")
    rules = settings.rules("debate")
    agents = team_of(settings, asked.team, adversarial=bool(rules["adversarial"]))
    if not agents:
        raise UsageError(NO_MODEL)
    tests = hidden_tests(read_tests(asked.tests), vault) if asked.tests else None
    given = DebateInput(
        task=vault.hide(asked.task.strip()),
        tests=tests,
        hidden=hidden_tests(read_tests(asked.hidden), vault) if asked.hidden else None,
        context=_context(asked, vault),
        team=tuple(member(agent) for agent in agents),
        **_kind(asked, tests),
    )
    own: dict[str, JsonValue] = {"runs_code": given.kind == "code"}
    if asked.out:
        own["out"] = os.path.abspath(asked.out)
    return Plan(
        protocol="debate",
        topic=" ".join(given.task.split())[:200],
        input=given.model_dump(mode="json"),
        rules=rules,
        limits=settings.limits(),
        seats={seat_of(agent): agent.models for agent in agents if agent.models},
        notes={**notes, **own},
    )


def _kind(asked: Asked, tests: Tests | None) -> dict[str, str]:
    """Code, unless it is said, or plain, that the task is a question about something else."""
    if asked.topic or is_topic(asked):
        return {"kind": "topic", "path": ""}
    file = PurePosixPath(asked.files[0]).name if len(asked.files) == 1 else ""
    language = chosen_language(asked.language) or (tests.language if tests else "python")
    return {"kind": "code", "language": language, "path": file or solution_path(tests, language)}


def is_topic(asked: Asked) -> bool:
    """A question without tests, files, language, a definition or an example: nothing in it could be run."""
    about_code = asked.tests or asked.files or asked.language or DEFINED.search(asked.task)
    return asked.task.strip().endswith("?") and not about_code and not task_examples(asked.task, "python")


def _context(asked: Asked, vault: Vault) -> Code | None:
    if not asked.files:
        return None
    code = read_code(asked.files, asked.language, None, bytes).code
    return code.with_texts({file.path: vault.hide(file.text) for file in code.files})


def team_of(settings: Settings, file: str | None, *, adversarial: bool) -> list[Agent]:
    """The team of the file, or the five usual roles; models go round, a seat's own setting comes first."""
    roles = [*ROLES, *(ATTACKERS if adversarial else ())]
    agents = read_team(file) if file else [Agent(id=role, role=role) for role in roles]
    models: Sequence[str] = settings["model"]
    named = {key.removeprefix("seats."): r.value for key, r in settings.resolved.items() if key.startswith("seats.")}
    known = {seat_of(agent) for agent in agents}
    if unknown := sorted(set(named) - known - set(ATTACKERS.values())):
        flagged = [seat for seat in unknown if settings.resolved[f"seats.{seat}"].source == "flag"]
        if flagged:
            raise UsageError(f"this team has no seat {flagged[0]!r}; its seats are {', '.join(sorted(known))}")
    seated = [
        agent.model_copy(update={"models": tuple(named.get(seat_of(agent)) or agent.models or _turn(models, place))})
        for place, agent in enumerate(agents)
    ]
    return [agent for agent in seated if agent.models]


def _turn(models: Sequence[str], place: int) -> tuple[str, ...]:
    return (models[place % len(models)],) if models else ()


def seat_of(agent: Agent) -> str:
    return ATTACKERS.get(agent.role, agent.id)


def member(agent: Agent) -> Member:
    role = load_roles()[agent.role]
    return Member(
        seat=seat_of(agent), role=agent.role, model=agent.models[0], system=role.system, tools=role.tools
    )
