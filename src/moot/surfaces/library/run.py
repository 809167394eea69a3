"""Tests from Python: `await run_tests("app.py", tests="tests", coverage=True, mutants=40)`."""

from pathlib import Path

from moot.edge.files.sources import read_code, read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.code_checks.measurements import Watched, own_tests, run_measured
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings


async def run_tests(  # noqa: PLR0913 - a public door: everything but the first is by name
    path: str | Path,
    *,
    tests: str | Path | None = None,
    python: str | Path | None = None,
    entry: str = "",
    language: str | None = None,
    coverage: bool = False,
    mutants: int = 0,
) -> Watched:
    """Run a file or folder against its tests in the sandbox. `coverage` measures what they reach; `mutants` makes that
    many small faults, and the score is the share that the tests notice. `python`: an environment other than the
    project's own."""
    code = read_code([str(path)], language, None, bytes).code
    given = read_tests(str(tests)).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    sandbox = find_sandbox(False, Settings.load({}).sandbox(), project_at((tests, path), python))
    return await run_measured(code, given, sandbox, coverage=coverage, mutants=mutants)
