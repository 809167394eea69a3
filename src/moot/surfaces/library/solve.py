"""Solutions from Python: `await solve("Write add(a, b)", tests=Path("tests"))`."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.events import Event
from moot.core.types import Limits
from moot.edge.sandbox import find_sandbox
from moot.protocols.solve.script import SolveResult, SolveRules
from moot.surfaces.library.given import session_flags
from moot.surfaces.projects import project_note, project_of
from moot.surfaces.setup import Settings, check_prices, workshop
from moot.surfaces.solving import Asked, check_seated, solve_plan, write_out
from moot.surfaces.toolset import check_tools
from moot.text.secrets import Vault


async def solve(  # noqa: PLR0913 - a public door: everything but the first two is by name
    task: str,
    rules: SolveRules | None = None,
    *,
    tests: str | Path | None = None,
    python: str | Path | None = None,
    file: str | Path | None = None,
    language: str | None = None,
    out: str | Path | None = None,
    write_anyway: bool = False,
    force: bool = False,
    repo: str | Path | None = None,
    branch: bool = False,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    use_models: bool = True,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    listen: Callable[[Event], None] | None = None,
) -> SolveResult:
    """Write code for a task, run its tests and the examples in its text, and learn from what fails.

    `file` is code that is there already; with `use_models=False` it is only run, and its failures looked into by
    rules. `branch` commits each version to the branch `debate/<session>` of the repository `repo` (default: the one
    we are in), and leaves the checkout alone. `out` gets the best attempt; where tests still fail, only with
    `write_anyway`, and over a file that is there only with `force`. `keep=False` leaves no record, and neither uses
    nor leaves lessons.
    """
    settings = Settings.load(session_flags(model, seats, store, limits))
    vault = Vault(os.environ)
    given = (("tests", tests), ("file", file), ("out", out), ("repo", repo))
    paths = {name: str(path) if path else None for name, path in given}
    if branch and not keep:
        raise UsageError("a branch needs a session that is kept, so that it can be carried on")
    asked = Asked(task, language=language, branch=branch, write_anyway=write_anyway, force=force, **paths)
    plan = solve_plan(settings, asked, vault, project_note((tests, file, repo), python))
    if rules is not None:
        plan = plan.model_copy(update={"rules": rules.model_dump(mode="json")})
    if limits is not None:
        plan = plan.model_copy(update={"limits": limits})
    if not use_models:
        plan = plan.model_copy(update={"seats": {}})
    check_seated(plan, no_llm=not use_models)
    check_prices(plan)
    tools = check_tools(plan.rules["tools"], settings)
    sandbox = find_sandbox(False, settings.sandbox(), project_of(plan)) if plan.notes["runs_code"] or tools else None
    async with workshop(settings, listen, sandbox, vault, keep=keep, plan=plan) as shop:
        shop.check_models(plan.seats)
        result = await shop.runner.start(plan)
    assert isinstance(result, SolveResult)
    write_out(result.code, result, plan, vault)
    return result
