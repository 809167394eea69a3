"""`moot debate`: a task through eight phases, by a team, with what was run deciding first."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from moot.core.errors import UsageError
from moot.edge.files.sources import read_code, read_tests
from moot.edge.store.records import RecordShelf
from moot.protocols.debate import PROTOCOL
from moot.protocols.debate.types import PHASES
from moot.surfaces.cli.options import ForceFlag, PythonFlag, RepoFlag, SecretsFlag, TeamModelFlag, UnsafeFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.protocol_command import read_words
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.cli.stored import with_store
from moot.surfaces.extensions.debate import EXTENSION
from moot.surfaces.plans import Request
from moot.surfaces.projects import project_note
from moot.text.secrets import Vault

EXAMPLES = """Examples:

  moot debate "Write slug(title) for URLs" --tests test_slug.py -m openai:gpt-5 -m anthropic:claude-sonnet-5

  moot debate - < task.md --out slug.py       examples in the text, such as f(2) -> 4, are its tests

  moot debate "Should we split the service?" --topic -m openai:gpt-5

  moot debate "Make it faster" --file slug.py --tests test_slug.py --adversarial --ask-me
"""


def register(app: typer.Typer) -> None:
    app.command("debate", epilog=EXAMPLES)(debate_command)


@dataclass(frozen=True)
class DebateFlags(SessionFlags):
    """A debate gives its models to the seats of its team; no other command does."""

    model: TeamModelFlag = None


@with_flags(DebateFlags)
def debate_command(
    flags: DebateFlags,
    task: Annotated[str, typer.Argument(help="The task in words; - is standard input.")],
    file: Annotated[list[str] | None, typer.Option("--file", "-f", help="A file or folder the task is about.")] = None,
    tests: Annotated[str | None, typer.Option("--tests", help="Tests the code must pass; run in a sandbox.")] = None,
    hidden: Annotated[
        str | None,
        typer.Option("--hidden-tests", help="Hidden tests, run only at the end: did the debate help or harm?"),
    ] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the solution.")] = None,
    topic: Annotated[bool, typer.Option("--topic", help="A topic, not code: nothing is run, ballots decide.")] = False,
    team: Annotated[str | None, typer.Option("--team", help="Team file: roles and models of the agents.")] = None,
    roles: Annotated[str | None, typer.Option("--roles", help="Folder with your own roles, one NAME.md each.")] = None,
    topology: Annotated[
        str | None, typer.Option("--topology", help="Who sees whose turns: auto, graph_mesh, star, chain or tree.")
    ] = None,
    planning: Annotated[str | None, typer.Option("--planning", help="off, auto, cpde, dpde or adaptive.")] = None,
    voting: Annotated[
        str | None,
        typer.Option("--voting", help="auto, weighted, majority, plurality, borda, condorcet or unanimous."),
    ] = None,
    rounds: Annotated[int | None, typer.Option("--rounds", help="Rounds at most.")] = None,
    drafts: Annotated[int | None, typer.Option("--drafts", help="Independent drafts at the start.")] = None,
    phases: Annotated[str | None, typer.Option("--phases", help="Phases to run, separated by commas.")] = None,
    phase_timeout: Annotated[
        list[str] | None, typer.Option("--phase-timeout", help="PHASE=SECONDS: time limit of a phase. Repeatable.")
    ] = None,
    phase_calls: Annotated[
        list[str] | None, typer.Option("--phase-calls", help="PHASE=N: question limit of a phase. Repeatable.")
    ] = None,
    adversarial: Annotated[
        bool, typer.Option("--adversarial", help="Attack and patch the solution before the vote.")
    ] = False,
    tools: Annotated[
        str | None,
        typer.Option(
            "--tools", help="Tools that seats may use if their role allows, e.g. run_tests; see `moot tools`."
        ),
    ] = None,
    ask_me: Annotated[bool, typer.Option("--ask-me", help="Ask you about what is unclear in the task.")] = False,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Write the winner to this file.")] = None,
    write_anyway: Annotated[
        bool, typer.Option("--write-anyway", help="Write --out even if tests fail or serious findings remain.")
    ] = False,
    force: ForceFlag = False,
    repo: RepoFlag = None,
    branch: Annotated[
        bool,
        typer.Option(
            "--branch", help="Commit each milestone to the branch debate/SESSION; your checkout is untouched."
        ),
    ] = False,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    run_with_secrets: SecretsFlag = False,
) -> None:
    """Turn a task into a solution: independent drafts, tests, critique, review, improvement, a vote.

    Exit code 0: agreed or chosen; 1: contested, or the winner fails tests or has serious findings; 2: not tested,
    inconclusive or cut short; 130: stopped by Ctrl-C.
    """
    own: dict[str, object] = {
        "max_rounds": rounds,
        "drafts": drafts,
        "topology": topology,
        "planning": planning,
        "voting": voting,
    }
    own |= {"phases": phases, "roles_folder": roles, "adversarial": adversarial or None, "tools": tools}
    own |= by_phase("--phase-timeout", "phase_timeouts", phase_timeout)
    own |= by_phase("--phase-calls", "phase_calls", phase_calls)
    named = {f"debate.{name}": value for name, value in own.items()}
    settings = flags.settings({**named, "run_with_secrets": run_with_secrets or None})
    read = read_code(file, language, None, bytes) if file else None
    given: dict[str, Any] = {"task": read_words(task), "language": language, "team": team, "topic": topic}
    given |= {"tests": read_tests(tests) if tests else None, "hidden": read_tests(hidden) if hidden else None}
    given |= {"context": read.code if read else None, "out": out, "write_anyway": write_anyway, "force": force}
    found = project_note((tests, hidden, *(file or ()), repo), python)
    request = Request(
        protocol=PROTOCOL,
        given=given,
        settings=settings,
        vault=Vault(os.environ),
        notes={"unsafe_local": unsafe_local, "ask_me": ask_me, **found},
        origins=read.origins if read else {},
        repo=repo,
        branch=branch,
        use_models=not flags.no_llm,
        tried=with_store(settings.store, lambda db: RecordShelf(db).count_results()),
    )
    ending = Ending(json=flags.json_output, quiet=flags.quiet)
    raise typer.Exit(run_command(settings, EXTENSION.plan(request), request.vault, ending))


def by_phase(flag: str, rule: str, given: Sequence[str] | None) -> dict[str, object]:
    """`critique=60` as the setting of one phase."""
    found: dict[str, object] = {}
    for said in given or ():
        phase, equals, value = said.partition("=")
        if not equals:
            raise UsageError(f"{flag} must be PHASE=NUMBER, e.g. critique=60, not {said!r}")
        if phase.strip() not in PHASES:
            raise UsageError(f"{flag}: unknown phase {phase.strip()!r}; there are: {', '.join(PHASES)}")
        found[f"{rule}.{phase.strip()}"] = value.strip()
    return found
