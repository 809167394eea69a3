"""Debates from Python: `await debate("Write add(a, b)", model=["openai:gpt-5"], tests=Path("tests"))`."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.config import flat
from moot.core.events import Event
from moot.core.types import Limits
from moot.edge.sandbox import find_sandbox
from moot.protocols.debate.types import DebateResult, DebateRules
from moot.runtime.ports import Person
from moot.surfaces.debating import Asked, debate_plan, keep_records
from moot.surfaces.library.given import session_flags
from moot.surfaces.projects import project_note, project_of
from moot.surfaces.setup import Settings, check_prices, workshop
from moot.surfaces.solving import write_out
from moot.text.secrets import Vault


async def debate(  # noqa: PLR0913 - a public door: everything but the first two is by name
    task: str,
    rules: DebateRules | None = None,
    *,
    tests: str | Path | None = None,
    hidden_tests: str | Path | None = None,
    python: str | Path | None = None,
    files: Sequence[str | Path] = (),
    language: str | None = None,
    topic: bool = False,
    team: str | Path | None = None,
    out: str | Path | None = None,
    write_anyway: bool = False,
    force: bool = False,
    repo: str | Path | None = None,
    branch: bool = False,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    person: Person | None = None,
    listen: Callable[[Event], None] | None = None,
) -> DebateResult:
    """Turn a task into a solution by a team that drafts apart, tests, argues and votes.

    Several models go round the seats. `hidden_tests` are run at the end and decide nothing. `person` answers what the
    task leaves unclear. `out` gets the winner; where tests fail or grave findings are left, only with `write_anyway`;
    over a file that is there only with `force`.
    `keep=False` leaves no record, and neither uses nor leaves lessons.
    """
    flags = session_flags(model, seats, store, limits)
    own = flat(rules.model_dump(exclude={"timeout"}), "debate.") if rules else {}
    settings = Settings.load({**flags, **own, **({"timeout": rules.timeout} if rules else {})})
    vault = Vault(os.environ)
    paths = {name: str(path) if path else None for name, path in (("tests", tests), ("hidden", hidden_tests))}
    more = {name: str(path) if path else None for name, path in (("team", team), ("out", out), ("repo", repo))}
    about = tuple(map(str, files))
    asked = Asked(
        task, files=about, language=language, topic=topic, branch=branch, write_anyway=write_anyway, force=force,
        **paths, **more,
    )  # fmt: skip
    plan = debate_plan(settings, asked, vault, project_note((tests, hidden_tests, *files, repo), python))
    if limits is not None:
        plan = plan.model_copy(update={"limits": limits})
    check_prices(plan)
    sandbox = find_sandbox(False, settings.sandbox(), project_of(plan)) if plan.notes["runs_code"] else None
    async with workshop(settings, listen, sandbox, vault, keep=keep, plan=plan, person=person) as shop:
        shop.check_models(plan.seats)
        result = await shop.runner.start(plan)
        assert isinstance(result, DebateResult)
        if shop.store:
            await keep_records(result, plan, shop.store)
    write_out(result.code or result.text, result, plan, vault)
    return result
