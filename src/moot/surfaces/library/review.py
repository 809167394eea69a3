"""Reviews from Python: `await review(Path(".planning/REQUIREMENTS.md"))`."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.events import Event
from moot.core.types import Limits
from moot.edge.files.plans import read_planning
from moot.evidence.artefacts.values import ArtefactType
from moot.protocols.review.script import ReviewResult, ReviewRules
from moot.surfaces.library.given import session_flags
from moot.surfaces.reviewing import record_decisions, review_plan, write_revisions
from moot.surfaces.setup import Settings, check_prices, workshop
from moot.text.secrets import Vault


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

    Without a `model`, and with none configured, the structural checks alone speak. `write=True` saves the revised
    artefact. The last word goes into STATE.md when there is one. `keep=False` leaves no record.
    """
    flags = {**session_flags(model, seats, store, limits), "review.profile": profile}
    flags |= {f"review.{name}": getattr(rules, name) for name in rules.model_fields_set} if rules else {}
    settings = Settings.load({key.replace("review.timeout", "timeout"): value for key, value in flags.items()})
    vault = Vault(os.environ)
    desk = read_planning([str(path)], type, str(context) if context else None)
    plan = review_plan(settings, desk, vault, {})
    if limits is not None:
        plan = plan.model_copy(update={"limits": limits})
    check_prices(plan)
    async with workshop(settings, listen, None, vault, keep=keep) as shop:
        shop.check_models(plan.seats)
        result = await shop.runner.start(plan)
    assert isinstance(result, ReviewResult)
    written, problems = write_revisions(result, plan, vault) if write else ([], [])
    record_decisions(result, plan, frozenset(written))
    if problems:
        raise UsageError("; ".join(problems))
    return result
