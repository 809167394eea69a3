"""Chooses how the tests of each language are run."""

import sys
from typing import assert_never

from moot.core.types import Code, SuiteRun, Tests
from moot.edge.sandbox.go.split import Run
from moot.edge.sandbox.go.suite import go_suite
from moot.edge.sandbox.layout import Layout, lay_out, safe_path
from moot.edge.sandbox.node.suite import NodeRun, node_suite
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment, Python, has_package
from moot.edge.sandbox.python.pytests import PYTEST, packages
from moot.edge.sandbox.python.suite import PythonRun, python_suite
from moot.edge.sandbox.suite import Suite
from moot.evidence.trials.values import is_named_as_test


async def plan(
    code: Code,
    tests: Tests,
    seconds: float,
    *,
    cover: bool = False,
    project: ProjectEnvironment = NO_PROJECT,
    run: Run | None = None,
) -> Suite | SuiteRun:
    """How to run these tests, each within so many seconds, or a run that says why they cannot be run here. `cover`
    measures coverage, in Python. `run` is for what must first be found out in a sandbox."""
    layout = lay_out(code, tests)
    if layout.clash:
        return SuiteRun(problem=f"two files would lie at {layout.clash!r}")
    match tests.language:
        case "python":
            python = project.python if _is_for(project.python, layout) else None
            return python_suite(layout, PythonRun(tests.entry, seconds, select_measured(code) if cover else [], python))
        case "javascript" | "typescript":
            node = NodeRun(seconds, tests.language == "typescript", project.node_modules)
            return node_suite(layout, node, apart=not cover)
        case "go":
            return await go_suite(layout, project, seconds, run)
        case _:
            assert_never(tests.language)


def _is_for(python: Python | None, layout: Layout) -> bool:
    """Whether the project's interpreter must run these tests. Moot's own starts faster, and suffices if both are the
    same Python and no project package is imported."""
    if python is None or python.chosen:
        return python is not None
    if python.version != sys.version_info[:2]:
        return True
    foreign = packages(layout)
    return bool(foreign - PYTEST) or (bool(foreign) and has_package(python, "pytest"))


def select_measured(code: Code) -> list[str]:
    return [safe_path(f.path) for f in code.files if f.language == "python" and not is_named_as_test(f.path)]
