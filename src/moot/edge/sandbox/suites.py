"""How the tests of each language are run: what is laid out, what is started, how its report is read."""

import re
import secrets
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import assert_never

from moot.edge.sandbox.gosplit import Run
from moot.edge.sandbox.gotests import go_suite
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout, lay_out, safe_path
from moot.edge.sandbox.project import NO_PROJECT, Project, Python, has_package
from moot.edge.sandbox.pytests import PYTEST, packages
from moot.edge.sandbox.python_suite import PythonRun, python_suite
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.runner_files import run_files
from moot.edge.sandbox.suite import Suite
from moot.trials.values import named_as_test
from moot.types import Code, SuiteRun, Tests

NODE_TEST = re.compile(r"((^|/)tests?/.*|(^|/)test(-[^/]*)?|[^/]*[._-]test)\.[cm]?[jt]s$")
MODULE_SYNTAX = re.compile(r"^\s*(import\s[^(]|export\s)", re.MULTILINE)


async def plan(
    code: Code,
    tests: Tests,
    seconds: float,
    *,
    cover: bool = False,
    project: Project = NO_PROJECT,
    run: Run | None = None,
) -> Suite | SuiteRun:
    """How to run these tests, each within so many seconds, or the run that says why they cannot be run here.
    `cover` watches, in Python, what they reach. `run` is for what has to be found out in a sandbox first."""
    layout = lay_out(code, tests)
    if layout.clash:
        return SuiteRun(problem=f"two files would lie at {layout.clash!r}")
    match tests.language:
        case "python":
            python = project.python if _is_for(project.python, layout) else None
            return python_suite(layout, PythonRun(tests.entry, seconds, measured(code) if cover else [], python))
        case "javascript" | "typescript":
            return _node(layout, typed=tests.language == "typescript", modules=project.node_modules)
        case "go":
            return await go_suite(layout, project, seconds, run)
        case _:
            assert_never(tests.language)


def _is_for(python: Python | None, layout: Layout) -> bool:
    """Whether the project's interpreter has to run these tests. Moot's own starts faster, and will do where both are
    the same Python and nothing is imported that only the project has."""
    if python is None or python.chosen:
        return python is not None
    if python.version != sys.version_info[:2]:
        return True
    foreign = packages(layout)
    return bool(foreign - PYTEST) or (bool(foreign) and has_package(python, "pytest"))


def measured(code: Code) -> list[str]:
    """The files of which it is worth knowing what tests reach."""
    return [safe_path(f.path) for f in code.files if f.language == "python" and not named_as_test(f.path)]


def _node(layout: Layout, *, typed: bool, modules: str) -> Suite | SuiteRun:
    node = shutil.which("node")
    if node is None:
        return SuiteRun(problem="no Node.js on PATH")
    program = str(Path(node).resolve())
    key = secrets.token_hex(32)
    scripts = [path for path in layout.tests if re.search(r"\.[cm]?[jt]s$", path)]
    named = [path for path in scripts if NODE_TEST.search(path)]
    spec = {"key": key, "tests": named or scripts, "typescript": typed}
    files = run_files(layout, "in_node.mjs", spec)
    if uses_modules(layout):
        files[f"{WORK}/package.json"] = '{"type": "module"}'
    return Suite(
        files=files,
        command=(program, f"../{RUN}/in_node.mjs"),
        read=partial(read_signed, key=key),
        env={"PATH": _path(program)},
        tools=(Path(program),),
        beside=node_modules(modules),
        reserves_memory=True,
    )


def node_modules(folder: str) -> dict[str, Path]:
    """Above the work folder, where Node.js looks when it finds nothing in it."""
    return {"node_modules": Path(folder)} if folder else {}


def uses_modules(layout: Layout) -> bool:
    """Whether `.js` files here are ES modules, which the project's package.json would say if it were here."""
    scripts = [text for path, text in layout.files.items() if path.endswith((".js", ".ts"))]
    return "package.json" not in layout.files and any(MODULE_SYNTAX.search(text) for text in scripts)


def _path(program: str) -> str:
    return ":".join(dict.fromkeys((str(Path(program).parent), *SYSTEM_PATH)))
