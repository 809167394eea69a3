"""`moot team`: lists roles, and builds a team for a task."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.core.errors import UsageError
from moot.edge.files.roles import read_roles, read_team_file
from moot.edge.store.records import TrackRecords
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import err, out, plain, print_json, write_text
from moot.surfaces.extensions.debate import is_topic
from moot.surfaces.session.settings import Settings
from moot.teams.roles import (
    DOMAINS,
    DUTIES,
    Domain,
    Role,
    Scored,
    TaskTraits,
    best_team,
    domain_of,
    find_domain,
    positions,
    reason_not_to_seat,
)

EXAMPLES = """Examples:

  moot team show                               every role: what it is for, its tools

  moot team show critic                        one role with its system prompt

  moot team build --task "Make the parser faster" -m openai:gpt-5.4 -m anthropic:claude-sonnet-4-6 > team.toml
"""
MAX_SEATS = 50
RolesFlag = Annotated[str, typer.Option("--roles", help="Folder with your own roles, one NAME.md each.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Roles and teams.", no_args_is_help=True, epilog=EXAMPLES)
    group.command("show")(show_command)
    group.command("build")(build_command)
    app.add_typer(group, name="team")


def show_command(
    what: Annotated[str, typer.Argument(help="A role, or a team file; default: all roles.")] = "",
    roles: RolesFlag = "",
    json_output: JsonFlag = False,
) -> None:
    """Show the roles, one role, or the team of a file."""
    known = read_roles(roles)
    if what in known:
        return show_role(known[what], json_output=json_output)
    if what and not Path(what).exists() and not what.endswith(".toml"):
        raise UsageError(f"no role or team file {what!r}; roles are {', '.join(known)}")
    if what:
        agents = read_team_file(what, known).agents
        if json_output:
            return print_json({"agents": [agent.model_dump() for agent in agents]})
        return _table(("agent", "role", "model"), [(agent.id, agent.role, agent.model) for agent in agents])
    if json_output:
        return print_json({"roles": [role.model_dump(mode="json") for role in known.values()]})
    _table(
        ("role", "act in a debate", "tools"),
        [(role.name, find_act(role), ", ".join(role.tools)) for role in known.values()],
    )


def find_act(role: Role) -> str:
    """What it does in a debate; a role of your own is known by its focus."""
    duty = DUTIES.get(role.name)
    return f"{duty.act} ({', '.join(duty.phases)})" if duty else role.focus


def show_role(role: Role, *, json_output: bool) -> None:
    if json_output:
        return print_json(role.model_dump(mode="json"))
    affinities = ", ".join(f"{domain} {role.affinity(domain):.2f}" for domain in DOMAINS)
    head = (
        f"{role.name}: {role.focus}",
        f"act: {find_act(role)}",
        f"tools: {', '.join(role.tools)}",
        f"affinities: {affinities}",
    )
    out().print(plain("\n".join((*head, "", role.prompt))))


def build_command(
    task: Annotated[str, typer.Option("--task", help="What the debate is about.")] = "",
    model: Annotated[
        list[str] | None, typer.Option("--model", "-m", help="A model to choose from. Repeatable.")
    ] = None,
    domain: Annotated[str, typer.Option("--domain", help=f"{', '.join(DOMAINS)}; default: by the task.")] = "",
    size: Annotated[int, typer.Option("--size", min=1, max=MAX_SEATS, help="How many agents.")] = 5,
    role: Annotated[
        list[str] | None, typer.Option("--role", help="A role the team must have, instead of --size.")
    ] = None,
    roles: RolesFlag = "",
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Build a team for a task, and print it as a team file.

    Agents are scored by 0.40 record + 0.35 domain + 0.25 affinity; different models are preferred.
    """
    known = read_roles(roles)
    models = _models(model)
    about = _domain(domain, task)
    traits = TaskTraits(code=not is_topic(task))
    seats = tuple(role) if role else positions(known, about, size, traits)
    if strange := [name for name in seats if name not in known]:
        raise UsageError(f"unknown role {strange[0]!r}; known are {', '.join(known)}")
    tried = with_store(store, lambda db: TrackRecords(db).count_results(), new=True)
    unseated = {name: why for name in seats if (why := reason_not_to_seat(name, traits))}
    team = best_team([name for name in seats if name not in unseated], models, known, about, tried)
    if json_output:
        agents = [format_scored(agent) for agent in team]
        return print_json({"domain": about, "agents": agents, "unseated": dict[str, JsonValue](unseated)})
    for name, why in unseated.items():
        err().print(plain(f"not seated: {name}: {why}"))
    results = sum(row.total for row in tried)
    err().print(plain(f"domain {about}; {results} earlier results" + ("" if results else ": every record counts 0.50")))
    write_text(as_toml(team))


def as_toml(team: tuple[Scored, ...]) -> str:
    """The team as a file for `moot debate --team`, with the parts of each score."""
    parts = []
    for each in team:
        agent = each.agent
        why = f"record {each.record:.2f}, domain {each.domain:.2f}, affinity {each.affinity:.2f}"
        model = agent.model.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(
            f"[[agents]]  # score {each.score:.3f}: {why}\n"
            f'id = "{agent.id}"\nrole = "{agent.role}"\nmodel = "{model}"\n'
        )
    return "\n".join(parts)


def format_scored(each: Scored) -> JsonValue:
    parts: dict[str, float] = {"record": each.record, "domain": each.domain, "affinity": each.affinity}
    rounded = {name: round(value, 4) for name, value in {**parts, "score": each.score}.items()}
    return {**each.agent.model_dump(), **rounded}


def _models(given: list[str] | None) -> tuple[str, ...]:
    settings = Settings.load({})
    models = tuple(name.strip() for name in given or settings["model"])
    if not models:
        raise UsageError("no models to build a team from; name one or more with --model, or set `model` in moot.toml")
    for name in models:
        named = name.partition(":")[2] or name in settings.endpoints()
        if not named or any(not character.isprintable() for character in name):
            raise UsageError(f"{name!r} is not of the form provider:model, e.g. openai:gpt-5, and no [models.NAME]")
    return models


def _domain(said: str, task: str) -> Domain:
    if not said:
        return domain_of(task)
    if (domain := find_domain(said.lower())) is None:
        raise UsageError(f"unknown --domain {said!r}; known are {', '.join(DOMAINS)}")
    return domain


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(plain(cell) for cell in row))
    out().print(table)
