"""A session in front of a person: progress while it runs, then its result, and how to go on."""

import json
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from moot.edge.sandbox import find_sandbox
from moot.errors import UsageError
from moot.protocols.harden import HardenResult
from moot.runner import Plan, Runner
from moot.sarif import sarif
from moot.surfaces.cli.hardened import show_result
from moot.surfaces.cli.progress import progress
from moot.surfaces.cli.screen import err, plain, print_json
from moot.surfaces.hardening import exit_code, found, write_result
from moot.surfaces.setup import Settings, stopping_on_interrupt, workshop
from moot.types import Result
from moot.vault import Vault

WHY_MORE = defaultdict(
    lambda: "a provider failed; to try again from there",
    cancelled="stopped; carry on with",
    budget_exhausted="carry on with a larger --max-calls, --max-tokens or --max-usd",
    timed_out="carry on with a larger --timeout",
)


@dataclass(frozen=True)
class Ending:
    """What to do with the result."""

    write: bool = False
    sarif: str | None = None
    json: bool = False
    quiet: bool = False


Begin = Callable[[Runner], Awaitable[Result]]


async def play(settings: Settings, plan: Plan, vault: Vault, ending: Ending, begin: Begin) -> int:
    """Run a session and give the exit code. `begin` starts it, or carries it on."""
    sandbox = find_sandbox(bool(plan.notes.get("unsafe_local"))) if plan.input.get("tests") else None
    with progress(quiet=ending.quiet) as listen:
        async with workshop(settings, listen, sandbox, vault) as shop:
            shop.check_models(plan.seats)
            with stopping_on_interrupt(shop.runner):
                result = await begin(shop.runner)
    assert isinstance(result, HardenResult)
    return finish(result, plan, vault, ending)


def finish(result: HardenResult, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write what was asked to be written."""
    if ending.json:
        print_json(result)
    else:
        show_result(result, plan)
    if ending.sarif:
        _write_sarif(result, ending)
    if ending.write and result.diff:
        written = write_result(result, plan, vault)
        err().print(
            plain(f"written: {', '.join(written)}" if written else "nothing to write to: the code came from no file")
        )
    elif vault.count and result.diff and not ending.write:
        err().print(plain(f"{vault.count} secrets are masked in what is shown; --write keeps them as they are"))
    if result.resumable:
        err().print(plain(f"{WHY_MORE[result.outcome]}: moot resume {result.session_id}"))
    return exit_code(result)


def _write_sarif(result: HardenResult, ending: Ending) -> None:
    """Before `--write` the files hold every finding; after it, only what is left."""
    entries = [f for f in found(result) if f.state == "open" or not ending.write]
    report = sarif([f.finding for f in entries], frozenset(f.finding.id for f in entries if f.state == "patched"))
    try:
        Path(ending.sarif or "").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {ending.sarif!r}: {error.strerror}") from None
