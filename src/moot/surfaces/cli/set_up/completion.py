"""`moot completion`: shell completion of commands and options."""

from typing import Annotated, Literal

import typer
from typer.completion import get_completion_script, install  # type: ignore[attr-defined]

from moot.core.errors import UsageError
from moot.surfaces.cli.app import COMPLETING
from moot.surfaces.cli.screen import out, plain, write_text

ZSH_FIRST_TAB = """

# zsh loads this file at the first TAB of a shell, which must already complete.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _moot_completion "$@"
fi"""
EXAMPLES = """Examples:

  moot completion --install                   for the shell you are in

  moot completion zsh > ~/.zfunc/_moot
"""


def register(app: typer.Typer) -> None:
    app.command("completion", epilog=EXAMPLES)(completion_command)


def completion_command(
    shell: Annotated[
        Literal["bash", "zsh", "fish"] | None, typer.Argument(help="The shell; default with --install: yours.")
    ] = None,
    add: Annotated[bool, typer.Option("--install", help="Add it to the shell's start-up files.")] = False,
) -> None:
    """Print or install shell completion: the commands and their options."""
    if add:
        found, path = install(shell=shell, prog_name="moot", complete_var=COMPLETING)
        path.write_text(make_script(found))
        return out().print(plain(f"{found} completion is in {path}; open a new terminal to use it"), soft_wrap=True)
    if shell is None:
        raise UsageError("name a shell: moot completion bash, zsh or fish; or moot completion --install")
    write_text(make_script(shell))


def make_script(shell: str) -> str:
    script = get_completion_script(prog_name="moot", complete_var=COMPLETING, shell=shell)
    return f"{script}{ZSH_FIRST_TAB if shell == 'zsh' else ''}\n"
