"""Quality of code from Python: `await quality("app.py", tests="tests")`."""

from pathlib import Path

from moot.core.measures import Quality
from moot.edge.files.sources import read_code, read_tests
from moot.edge.sandbox import find_sandbox
from moot.surfaces.code_checks.measurements import own_tests, quality_of
from moot.surfaces.session.project_environment import project_at
from moot.surfaces.session.settings import Settings


async def quality(
    path: str | Path,
    *,
    tests: str | Path | None = None,
    python: str | Path | None = None,
    entry: str = "",
    language: str | None = None,
) -> Quality:
    """One score from 0 to 1 with its parts. Without tests, their parts add nothing."""
    code = read_code([str(path)], language, None, bytes).code
    given = read_tests(str(tests)).model_copy(update={"entry": entry}) if tests else own_tests(code, entry)
    project = project_at((tests, path), python)
    return await quality_of(code, given, find_sandbox(False, Settings.load({}).sandbox(), project) if given else None)
