"""Solutions from Python: `await solve("Write add(a, b)", tests=Path("tests"))`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.events import Event
from moot.core.types import Limits
from moot.protocols.solve.script import SolveResult, SolveRules
from moot.surfaces.history.result_files import output_given, write_out
from moot.surfaces.library.protocols import run_protocol
from moot.surfaces.session.input_fields import gather_code, gather_tests


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
    """Write code for a task, run its tests and the examples in its text, and learn from failures.

    `file` is existing code; with `use_models=False` it is only run, and its failures are analysed by rules. `branch`
    commits each version to the branch `debate/<session>` of the repository `repo` (default: the current one), and
    leaves the checkout alone. The best attempt is written to `out`: with failing tests only with `write_anyway`, over
    an existing file only with `force`. `keep=False` leaves no record, and neither uses nor adds lessons.
    """
    read = gather_code(Path(file), language) if file else None
    given = {
        "task": task,
        "tests": gather_tests(tests) if tests else None,
        "file": read.code if read else None,
        "language": language,
        **output_given(out, write_anyway=write_anyway, force=force),
    }
    done = await run_protocol(
        "solve", given, origins=read.origins if read else {}, project=(tests, file, repo), rules=rules, model=model,
        seats=seats, use_models=use_models, limits=limits, store=store, keep=keep, repo=repo, branch=branch,
        python=python, listen=listen,
    )  # fmt: skip
    result: SolveResult = done.result
    write_out(result.code, result, done.plan, done.vault)
    return result
