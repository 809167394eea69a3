"""`moot review`: challenge a planning artefact before anyone builds on it."""

import os
from typing import Annotated, get_args

import typer

from moot.core.errors import UsageError
from moot.edge.files.plans import read_planning
from moot.evidence.artefacts.values import GRAVITIES, ArtefactType
from moot.protocols.review import PROTOCOL
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.extensions.review import EXTENSION
from moot.surfaces.plans import Request
from moot.text.secrets import Vault

TYPES: tuple[ArtefactType, ...] = get_args(ArtefactType)
EXAMPLES = """Examples:

  moot review .planning --no-llm              structural checks of a whole project, no model, no key

  moot review .planning/REQUIREMENTS.md -m openai:gpt-5

  moot review REQUIREMENTS.md ROADMAP.md -m openai:gpt-5

  moot review PLAN.md --defend off --fail-on critical

  moot review ROADMAP.md --profile quality --write
"""


def register(app: typer.Typer) -> None:
    app.command("review", epilog=EXAMPLES)(review_command)


@with_flags(SessionFlags)
def review_command(
    flags: SessionFlags,
    paths: Annotated[
        list[str], typer.Argument(help="Planning documents of one project, or a folder such as .planning.")
    ],
    kind: Annotated[
        str | None,
        typer.Option("--type", "-t", help="requirements, roadmap, plan or verification; default: detected."),
    ] = None,
    context: Annotated[
        str | None, typer.Option("--context", help="What the project is about; default: its PROJECT.md.")
    ] = None,
    defend: Annotated[
        str | None, typer.Option("--defend", help="Model of the defender; off: only list challenges.")
    ] = None,
    max_rounds: Annotated[
        int | None, typer.Option("--max-rounds", help="Rounds of challenge and defence; at most 3.")
    ] = None,
    write: Annotated[
        bool, typer.Option("--write", "-w", help="Write the revised document back; default: show a diff.")
    ] = False,
    fail_on: Annotated[
        str | None, typer.Option("--fail-on", help="Exit with 1 if a challenge or finding this serious remains.")
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="Model profile of the adversary: quality, balanced, budget or your own."),
    ] = None,
) -> None:
    """Check planning documents; an adversary challenges them, a defender answers and revises.

    Advisory: exit code 0. With --fail-on, 1: something that serious is left; 2: inconclusive. 130: stopped by Ctrl-C.
    """
    if fail_on is not None and fail_on not in GRAVITIES:
        raise UsageError(f"--fail-on {fail_on!r} is none of {', '.join(GRAVITIES)}")
    settings = flags.settings(
        {
            "review.max_rounds": max_rounds,
            "review.profile": profile,
            "review.defend": False if defend == "off" else None,
            "seats.defender": (defend,) if defend and defend != "off" else None,
        }
    )
    desk = read_planning(paths, parse_type(kind), context)
    request = Request(
        protocol=PROTOCOL,
        given={"desk": desk, "fail_on": fail_on, "no_llm": flags.no_llm},
        settings=settings,
        vault=Vault(os.environ),
        use_models=not flags.no_llm,
    )
    ending = Ending(write=write, json=flags.json_output, quiet=flags.quiet)
    raise typer.Exit(run_command(settings, EXTENSION.plan(request), request.vault, ending))


def parse_type(kind: str | None) -> ArtefactType | None:
    if kind is None:
        return None
    wanted = kind.lower()
    for known in TYPES:
        if wanted in (known, f"{known}s"):
            return known
    raise UsageError(f"unknown type {kind!r}; known are {', '.join(TYPES)}")
