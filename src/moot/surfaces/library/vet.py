"""Vetting from Python: `await vet("drop the table")`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.events import Event
from moot.core.types import Limits
from moot.protocols.vet.script import VetResult, VetRules
from moot.surfaces.extensions.vet import VetQuestion, parse_stakes, vet_question
from moot.surfaces.library.given import session_flags
from moot.surfaces.session.settings import Settings

Chain = str | Sequence[str]


async def vet(  # noqa: PLR0913 - a public door: everything but the first two is by name
    action: str,
    rules: VetRules | None = None,
    *,
    stakes: str = "",
    context: str = "",
    failed: bool = False,
    attempts: Sequence[str] = (),
    errors: Sequence[str] = (),
    session: str = "",
    model: Chain | None = None,
    seats: Mapping[str, Chain] | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    memory: str | Path | None = None,
    keep: bool = True,
    listen: Callable[[Event], None] | None = None,
) -> VetResult:
    """Challenge an action before it runs; with `failed`, a task that keeps failing.

    Without `stakes` the router decides, and an action that needs no debate is answered at once. `memory` is the folder
    of the log, the metrics and the failures. `keep=False` leaves no record of the session.
    """
    flags = {**session_flags(model, seats, store, limits), "vet.memory": str(memory) if memory else None}
    if rules is not None:
        flags |= {"vet.rounds": rules.rounds, "timeout": rules.timeout}
    if limits is not None:
        flags |= limits.model_dump()
    question = VetQuestion(action, parse_stakes(stakes), context, session, failed, tuple(attempts), tuple(errors))
    return await vet_question(Settings.load(flags), question, listen, keep=keep)
