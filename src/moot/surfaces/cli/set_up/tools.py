"""`moot tools`: lists the tools of seats, and runs one."""

import asyncio
import json
from typing import Annotated

import typer
from rich.table import Table

from moot.core.errors import UsageError
from moot.surfaces.cli.options import JsonFlag, PythonFlag, UnsafeFlag
from moot.surfaces.cli.screen import err, out, plain, print_json
from moot.surfaces.session.toolset import list_tools, use_tool

EXAMPLES = """Examples:

  moot tools                                  what there is, and what is missing on this machine

  moot tools use run_code '{"code": "print(1 + 1)"}'

  moot tools use run_tests --file app.py --tests test_app.py

  moot tools use read_file '{"path": "README.md"}' --repository .
"""
DONE, FAILED, USAGE = 0, 1, 2
tools_app = typer.Typer(invoke_without_command=True, epilog=EXAMPLES)


def register(app: typer.Typer) -> None:
    app.add_typer(tools_app, name="tools")


@tools_app.callback()
def list_command(
    context: typer.Context,
    servers: Annotated[
        bool, typer.Option("--servers", help="Also start the configured MCP servers and list their tools.")
    ] = False,
    json_output: JsonFlag = False,
) -> None:
    """List the tools that seats may use in a session, or try one."""
    if context.invoked_subcommand is not None:
        return
    found = asyncio.run(list_tools(servers=servers))
    if json_output:
        return print_json([tool.model_dump(mode="json") for tool in found])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("tool", "usable", "what it does"):
        table.add_column(column, overflow="fold")
    for tool in found:
        table.add_row(plain(tool.name), "no" if tool.missing else "yes", plain(tool.missing or tool.about))
    out().print(table)


@tools_app.command("use")
def use_command(
    name: Annotated[str, typer.Argument(help="The tool.")],
    arguments: Annotated[str, typer.Argument(help="Arguments as a JSON object.")] = "{}",
    file: Annotated[list[str] | None, typer.Option("--file", help="A file it may read. Repeatable.")] = None,
    tests: Annotated[str | None, typer.Option("--tests", help="A test file, or a folder of them.")] = None,
    repository: Annotated[str | None, typer.Option("--repository", help="A git repository it may read.")] = None,
    python: PythonFlag = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
) -> None:
    """Use one tool. Exit code 0: it ran; 1: it failed; 2: no such tool, or its arguments are wrong."""
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise UsageError(f"the arguments are not JSON: {error}") from None
    if not isinstance(given, dict):
        raise UsageError("the arguments must be one JSON object, such as {}")
    use = use_tool(
        name,
        given,
        files=file or (),
        tests=tests,
        repository=repository,
        python=python,
        unsafe_local=unsafe_local,
    )
    result = asyncio.run(use)
    if json_output:
        print_json(result)
    elif result.status == "done":
        out().print(plain(result.text), soft_wrap=True)
    else:
        err().print(plain(f"{result.status.replace('_', ' ')}: {result.text}"), soft_wrap=True)
    wrong = result.status in ("unknown", "bad_arguments", "missing")
    raise typer.Exit(DONE if result.status == "done" else USAGE if wrong else FAILED)
