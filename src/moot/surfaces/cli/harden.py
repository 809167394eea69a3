"""`moot harden`: attack and patch code until it holds."""

import asyncio
import os
import sys
from typing import Annotated

import typer

from moot.edge.sources import read_code
from moot.errors import UsageError
from moot.surfaces.cli.options import (
    CallsFlag,
    CallTimeoutFlag,
    JsonFlag,
    ModelFlag,
    QuietFlag,
    SeatFlag,
    StoreFlag,
    TimeoutFlag,
    TokensFlag,
    UnsafeFlag,
    UsdFlag,
    seat_settings,
)
from moot.surfaces.cli.running import Ending, play
from moot.surfaces.hardening import harden_plan
from moot.surfaces.setup import Settings, check_prices
from moot.vault import Vault

EXAMPLES = """Examples:

  moot harden app.py                          no model, no key: the deterministic teams

  moot harden src --tests tests --write       patches that keep the tests green, written back

  moot harden app.py -m openai:gpt-5 --max-usd 0.50

  moot harden --diff main                     only what this branch changes

  cat app.py | moot harden - --language python --json
"""


def register(app: typer.Typer) -> None:
    app.command("harden", epilog=EXAMPLES)(harden_command)


def harden_command(
    paths: Annotated[list[str] | None, typer.Argument(help="Files or folders; - is standard input.")] = None,
    diff: Annotated[str | None, typer.Option("--diff", help="Only what differs from this commit.")] = None,
    language: Annotated[
        str | None, typer.Option("--language", "-l", help="Language, where the name does not say.")
    ] = None,
    tests: Annotated[
        str | None, typer.Option("--tests", help="Tests that patches must keep green; run in a sandbox.")
    ] = None,
    model: ModelFlag = None,
    seat: SeatFlag = None,
    max_rounds: Annotated[int | None, typer.Option("--max-rounds", help="Rounds of attack and defence.")] = None,
    min_vulnerabilities: Annotated[
        int | None, typer.Option(help="Fewer new findings than this end the attack.")
    ] = None,
    risk_threshold: Annotated[float | None, typer.Option(help="Stop when the overall risk is below this.")] = None,
    write: Annotated[
        bool, typer.Option("--write", "-w", help="Write the patched code back; default shows a diff.")
    ] = False,
    sarif_file: Annotated[str | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0.")] = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Use no model, whatever is configured.")] = False,
    max_calls: CallsFlag = None,
    max_tokens: TokensFlag = None,
    max_usd: UsdFlag = None,
    timeout: TimeoutFlag = None,
    call_timeout: CallTimeoutFlag = None,
    store: StoreFlag = None,
    unsafe_local: UnsafeFlag = False,
    json_output: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Attack code, patch it, and check every patch, until it holds.

    Exit code 0: hardened or risk accepted; 1: findings are left; 2: inconclusive or cut short; 130: stopped by Ctrl-C.
    """
    if no_llm and (model or seat):
        raise UsageError("--no-llm contradicts --model and --seat; leave one of them out")
    flags = {
        "model": tuple(model or ()), "store": store, "timeout": timeout, "call_timeout": call_timeout,
        "max_calls": max_calls, "max_tokens": max_tokens, "max_usd": max_usd,
        "harden.max_rounds": max_rounds, "harden.min_vulnerabilities": min_vulnerabilities,
        "harden.risk_threshold": risk_threshold, **seat_settings(seat),
    }  # fmt: skip
    settings = Settings.load(flags)
    vault = Vault(os.environ)
    gathered = read_code(paths or (["."] if diff else []), language, diff, sys.stdin.buffer.read)
    plan = harden_plan(settings, gathered, vault, tests, {"unsafe_local": unsafe_local})
    if no_llm:
        plan = plan.model_copy(update={"seats": {}})
    check_prices(plan.seats, plan.limits)
    ending = Ending(write, sarif_file, json_output, quiet)
    raise typer.Exit(asyncio.run(play(settings, plan, vault, ending, lambda runner: runner.start(plan))))
