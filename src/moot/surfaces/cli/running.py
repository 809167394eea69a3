"""A session in front of a person: progress while it runs, then its result, and how to go on."""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence

from moot.core.errors import Parked
from moot.core.ports import Store
from moot.core.types import Result
from moot.edge.sandbox import find_sandbox
from moot.protocols import PROTOCOLS
from moot.protocols.debate.types import DebateResult
from moot.protocols.decide.script import DecideResult
from moot.runtime.runner import Plan, Runner, cut_by
from moot.surfaces.choices import with_choices
from moot.surfaces.cli import debated, decided, hardened, reviewed, solved, vetted
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.progress import progress
from moot.surfaces.cli.screen import err, plain
from moot.surfaces.cli.waiting import wait_for
from moot.surfaces.debating import keep_records
from moot.surfaces.projects import project_of
from moot.surfaces.setup import Settings, Workshop, stopping_on_interrupt, workshop
from moot.text.secrets import Vault

WHY_MORE = defaultdict(
    lambda: "a provider failed; to try again from there",
    cancelled="stopped; carry on with",
    budget_exhausted="carry on with a larger --max-calls, --max-tokens or --max-usd",
    timed_out="carry on with a larger --timeout",
)

Begin = Callable[[Runner], Awaitable[Result]]
Finish = Callable[[Result, Plan, Vault, Ending], int]
FINISH: Mapping[str, Finish] = {
    "harden": hardened.finish,
    "debate": debated.finish,
    "vet": vetted.finish,
    "review": reviewed.finish,
    "solve": solved.finish,
    "decide": decided.finish,
}
"""How each protocol's result is shown and written; gives the exit code."""


async def play(settings: Settings, plan: Plan, vault: Vault, ending: Ending, begin: Begin) -> int:
    """Run a session and give the exit code. `begin` starts it, or carries it on."""
    say_pick(settings, plan)
    runs_code = bool(plan.input.get("tests") or plan.notes.get("runs_code"))
    unsafe = bool(plan.notes.get("unsafe_local"))
    project = project_of(plan)
    sandbox = find_sandbox(unsafe, settings.sandbox(), project) if runs_code else None
    if runs_code and project.told and not ending.quiet:
        err().print(plain(project.told))
    person = asked_on_terminal if plan.notes.get("ask_me") else None
    with progress(quiet=ending.quiet) as listen:
        async with workshop(settings, listen, sandbox, vault, plan=plan, person=person) as shop:
            shop.check_models(plan.seats)
            result = await through_gates(begin, shop, ending)
            result = await amended(result, shop.store) if shop.store else result
            if shop.store and isinstance(result, DebateResult):
                await keep_records(result, plan, shop.store)
    return finish(result, plan, vault, ending)


def say_pick(settings: Settings, plan: Plan) -> None:
    """Whoever pays for a model that nobody named is told so, also where no progress is wanted."""
    pick = settings.picked
    if pick is None or pick.model not in {"", *(name for chain in plan.seats.values() for name in chain)}:
        return
    err().print(plain(pick.reason))


async def through_gates(begin: Begin, shop: Workshop, ending: Ending) -> Result:
    """The result, however often the session waits for a person on the way."""
    while True:
        try:
            with stopping_on_interrupt(shop.runner):
                return await begin(shop.runner)
        except Parked as parked:
            session = parked.session_id
            if session is None or shop.store is None:
                raise
            await wait_for(parked, shop.store, ending)

            def begin(runner: Runner, session: str = session) -> Awaitable[Result]:
                return runner.resume(session)


async def asked_on_terminal(questions: Sequence[str]) -> list[str]:
    """Each question on the terminal; an empty line, or no terminal to answer on, is no answer."""
    answers = []
    for question in questions:
        err().print(plain(f"? {question}"))
        err().print(plain("  (Enter: you do not know)"))
        answers.append((await asyncio.to_thread(sys.stdin.readline)).strip())
    return answers


async def amended(result: Result, store: Store) -> Result:
    """The result with what a person decided since."""
    if not isinstance(result, DecideResult):
        return result
    return with_choices(result, await store.steps(result.session_id))


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, write what was asked to be written, and say how to carry on."""
    assert isinstance(result, PROTOCOLS[plan.protocol].result)
    code = FINISH[plan.protocol](result, plan, vault, ending)
    if result.resumable:
        err().print(plain(f"{WHY_MORE[cut_by(result)]}: moot resume {result.session_id}"))
    return code
