"""Tests from Python: `await run_tests("app.py", tests="tests", coverage=True, mutants=40)`."""

from pathlib import Path

from moot.edge.sandbox import find_sandbox
from moot.edge.sources import read_code, read_tests
from moot.surfaces.measuring import Watched, own_tests, watched
from moot.surfaces.setup import Settings


async def run_tests(
    path: str | Path,
    *,
    tests: str | Path | None = None,
    entry: str = "",
    language: str | None = None,
    coverage: bool = False,
    mutants: int = 0,
) -> Watched:
    """Run a file or folder against its tests in the sandbox. `coverage`: what they reach; `mutants`: so many small
    faults are put into the code, and the score is the share that the tests notice."""
    code = read_code([str(path)], language, None, bytes).code
    given = read_tests(str(tests)).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    sandbox = find_sandbox(limits=Settings.load({}).sandbox())
    return await watched(code, given, sandbox, coverage=coverage, mutants=mutants)
