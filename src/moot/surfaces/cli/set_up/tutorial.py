"""`moot tutorial`: the six verbs on scripted models, in a temporary folder."""

import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
import yaml

from moot.core.errors import MootError, UsageError
from moot.core.types import Value
from moot.surfaces.cli.screen import out, plain

SCRIPT = Path(__file__).with_name("tutorial.yaml")


class TutorialStep(Value):
    verb: str
    about: str
    command: tuple[str, ...]
    look: str
    """What to look at in the output."""
    code: int


def register(app: typer.Typer) -> None:
    app.command("tutorial")(tutorial_command)


def tutorial_command(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Run through without waiting for Enter.")] = False,
) -> None:
    """Walk through the six verbs in five minutes. The models are scripted: no key, no cost, nothing is kept.

    Exit code 0: all commands did what they should; 1: one did not; `moot doctor` says what is missing.
    """
    if not yes and not sys.stdin.isatty():
        raise UsageError("the tutorial waits for you to press Enter, and there is no terminal; --yes runs through it")
    script = yaml.safe_load(SCRIPT.read_text(encoding="utf-8"))
    steps, failed = [TutorialStep.model_validate(step) for step in script["steps"]], list[str]()
    with _lay_out({**script["files"], "replies.yaml": yaml.safe_dump(script["replies"])}):
        for number, step in enumerate(steps, 1):
            _say(f"[bold]{number} of {len(steps)}: {step.verb}[/]", step.about, f"$ moot {shlex.join(step.command)}")
            if not yes and _wants_to_leave("Enter runs it, q quits: "):
                return
            if (code := _run(step.command)) != step.code:
                failed.append(f"{step.verb} (exit code {code}, not {step.code})")
            _say("", f"Look at: {step.look}")
            if not yes and _wants_to_leave("Enter continues, q quits: "):
                return
    if failed:
        _say("", f"Failed:  {', '.join(failed)}. `moot doctor` says what is missing.")
        raise typer.Exit(1)
    _say(
        "",
        "The sessions of this tutorial are not kept. Yours are: moot list, moot show ID.",
        "Now with your own code: moot harden FILE. For a model: moot models.",
    )


@contextlib.contextmanager
def _lay_out(files: dict[str, str]) -> Iterator[None]:
    """Creates the project in a temporary folder, with its own store and memory."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="moot-tutorial-") as folder, contextlib.chdir(folder):
        for name, text in files.items():
            Path(name).write_text(text, encoding="utf-8")
        os.environ |= {"MOOT_STORE": f"{folder}/sessions.db", "MOOT_VET_MEMORY": f"{folder}/memory"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _run(command: tuple[str, ...]) -> int:
    from moot.surfaces.cli.app import run_app

    try:
        run_app(list(command))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    except MootError as error:
        _say(f"moot: {error}")
        return 2
    return 0


def _wants_to_leave(question: str) -> bool:
    out().print(plain(question), end="")
    line = sys.stdin.readline()
    return not line or line.strip().lower().startswith("q")


def _say(title: str, *lines: str) -> None:
    console = out()
    if title:
        console.print(f"\n{title}")
    for line in lines:
        console.print(plain(line))
