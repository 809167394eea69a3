"""Reviews from Python: `await review(Path(".planning/REQUIREMENTS.md"))`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.events import Event
from moot.core.types import Limits
from moot.edge.files.plans import read_planning
from moot.evidence.artefacts.values import ArtefactType
from moot.protocols.review.script import ReviewResult, ReviewRules
from moot.surfaces.extensions.review import record_decisions, write_revisions
from moot.surfaces.library.protocols import run_protocol


async def review(  # noqa: PLR0913 - a public door: everything but the first two is by name
    path: str | Path,
    rules: ReviewRules | None = None,
    *,
    type: ArtefactType | None = None,
    context: str | Path | None = None,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    profile: str | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    write: bool = False,
    listen: Callable[[Event], None] | None = None,
) -> ReviewResult:
    """Check a planning artefact, or a whole folder, and let an adversary and a defender debate it.

    Without a `model` and with none configured, only the structural checks run. `write=True` saves the revised artefact.
    The decision is recorded in STATE.md if there is one. `keep=False` leaves no record.
    """
    planning = read_planning([str(path)], type, str(context) if context else None)
    done = await run_protocol(
        "review", {"planning": planning}, rules=rules, flags={"review.profile": profile}, model=model, seats=seats,
        limits=limits, store=store, keep=keep, listen=listen,
    )  # fmt: skip
    result: ReviewResult = done.result
    written, problems = write_revisions(result, done.plan, done.vault) if write else ([], [])
    record_decisions(result, done.plan, frozenset(written))
    if problems:
        raise UsageError("; ".join(problems))
    return result
