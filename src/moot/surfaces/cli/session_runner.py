"""Runs a session for a person: progress, result, and how to continue."""

import asyncio
import sys
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import typer

from moot.core.errors import Parked, UsageError
from moot.core.types import Result
from moot.protocols import PROTOCOLS
from moot.runtime.runner import Runner, SessionPlan, cut_by
from moot.surfaces.cli.gate_prompt import wait_for
from moot.surfaces.cli.interrupts import stop_on_interrupt
from moot.surfaces.cli.notification import notify_end
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.progress import ProgressDisplay, progress
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import ask_on_terminal, err, plain, print_json, write_text
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.estimates import estimate_plan, report_estimate
from moot.surfaces.session.project_environment import project_of
from moot.surfaces.session.settings import PICKED, Settings, check_prices
from moot.surfaces.session.wiring import SessionRuntime, open_runtime, runs_code
from moot.text.secrets import Vault

WHY_MORE = defaultdict(
    lambda: "a provider failed; to retry from there",
    cancelled="stopped; continue with",
    budget_exhausted="continue with a higher --max-calls, --max-tokens or --max-usd",
    timed_out="continue with a higher --timeout",
)

Begin = Callable[[Runner], Awaitable[Result]]


def run_command(settings: Settings, plan: SessionPlan, vault: Vault, ending: Ending, begin: Begin | None = None) -> int:
    """Runs a session, shows its result and returns the exit code. `begin` resumes one; by default it is new."""
    ending = replace(ending, store=settings.store)
    begin = begin or (lambda runner: runner.start(plan))
    result = asyncio.run(run_session(settings, plan, vault, ending, begin))
    return finish(result, plan, vault, ending)


async def run_session(settings: Settings, plan: SessionPlan, vault: Vault, ending: Ending, begin: Begin) -> Result:
    if settings.picked and PICKED in plan.notes:  # the payer is told even with --quiet
        err().print(plain(f"{settings.picked.reason}; --no-llm uses no model"))
    check_prices(plan)
    agree_to_cost(settings, plan, ending)
    project = project_of(plan)
    if runs_code(plan) and project.notice and not ending.quiet:
        err().print(plain(project.notice))
    person = ask_person if plan.notes.get("ask_me") else None
    extension, began = find_extension(plan.protocol), time.monotonic()
    with progress(quiet=ending.quiet) as listen:
        opened = open_runtime(settings=settings, plan=plan, vault=vault, listen=listen, person=person)
        async with opened as session:
            session.check_models(plan.seats)
            result = await through_gates(begin, session, ending, listen)
            result = await extension.settle(result, plan, session.store)
            assert isinstance(result, Result)
            if session.store is not None:
                result = await extension.amend(result, session.store)
    ended = f"{plan.protocol}: {PROTOCOLS[plan.protocol].report(result).headline.verdict}"
    notify_end(ended, time.monotonic() - began, wanted=bool(settings["notify"]) and not ending.quiet)
    return result


def agree_to_cost(settings: Settings, plan: SessionPlan, ending: Ending) -> None:
    """Before anything is spent: prints the estimate and ends, or asks if it may exceed the limit."""
    limit = settings["ask_above"]
    if settings.before == "go" or (settings.before == "ask" and limit is None):
        return
    estimate = estimate_plan(plan)
    if settings.before == "estimate":
        if ending.json:
            print_json(estimate)
        else:
            show_report(report_estimate(estimate))
        raise typer.Exit(0)
    most = estimate.usd.most
    if not estimate.models or (most is not None and most <= limit):
        return
    cost = "an amount that cannot be estimated" if most is None else f"up to ${most:.2f}"
    asked = f"moot: this may cost {cost} (ask_above is ${limit:.2f}; --estimate says more). Continue? [y/N] "
    if ask_on_terminal(asked) not in ("y", "yes"):
        raise UsageError(
            f"not started: it may cost {cost}; give --yes, or a limit it cannot exceed: --max-usd {limit:g}"
        )


async def through_gates(begin: Begin, shop: SessionRuntime, ending: Ending, shown: ProgressDisplay) -> Result:
    """Runs to the result, waiting at each gate."""
    while True:
        try:
            with stop_on_interrupt(shop.runner.stop):
                return await begin(shop.runner)
        except Parked as parked:
            session = parked.session_id
            if session is None or shop.store is None:
                raise
            shown.wait_at_gate()
            await wait_for(parked, shop.store, ending)

            def begin(runner: Runner, session: str = session) -> Awaitable[Result]:
                return runner.resume(session)


async def ask_person(questions: Sequence[str]) -> list[str]:
    """Asks each question on the terminal; an empty line, or no terminal, is no answer."""
    answers = []
    for question in questions:
        err().print(plain(f"? {question}"))
        err().print(plain("  (Enter: don't know)"))
        answers.append((await asyncio.to_thread(sys.stdin.readline)).strip())
    return answers


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Shows the result, writes the requested files, and says how to continue."""
    extension = find_extension(plan.protocol)
    if ending.json:
        print_json(extension.present(result))
    elif text := extension.format(result, ending):
        write_text(text)
    else:
        show_report(PROTOCOLS[plan.protocol].report(result))
    delivery = extension.deliver(result, plan, vault, ending)
    for note in delivery.notes:
        err().print(plain(note))
    if delivery.problem:
        raise UsageError(delivery.problem)
    if result.resumable:
        err().print(plain(f"{WHY_MORE[cut_by(result)]}: moot resume {result.session_id}"))
    asks = delivery.exit_code == 1 and ending.store and not ending.json and sys.stdin.isatty() and sys.stdout.isatty()
    return 0 if asks and extension.ask_person(result, ending) else delivery.exit_code
