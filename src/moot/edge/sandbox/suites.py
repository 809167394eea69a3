"""How the tests of each language are run: what is laid out, what is started, how its report is read."""

import json
import re
import secrets
import shutil
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import assert_never

from moot.edge.sandbox.gotests import go_suite
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout, lay_out
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.suite import Suite
from moot.types import Code, SuiteRun, Tests

HERE = Path(__file__).parent
NO_TESTS = frozenset({"conftest.py", "__init__.py"})
NODE_TEST = re.compile(r"((^|/)tests?/.*|(^|/)test(-[^/]*)?|[^/]*[._-]test)\.[cm]?[jt]s$")
MODULE_SYNTAX = re.compile(r"^\s*(import\s[^(]|export\s)", re.MULTILINE)


async def plan(code: Code, tests: Tests) -> Suite | SuiteRun:
    """How to run these tests, or the run that says why they cannot be run here."""
    layout = lay_out(code, tests)
    if layout.clash:
        return SuiteRun(problem=f"two files would lie at {layout.clash!r}")
    match tests.language:
        case "python":
            return _python(layout)
        case "javascript" | "typescript":
            return _node(layout, typed=tests.language == "typescript")
        case "go":
            return await go_suite(layout)
        case _:
            assert_never(tests.language)


def python_tools() -> tuple[Path, ...]:
    """The interpreter that runs Moot: its folders, never the home they may lie in."""
    real = Path(sys.executable).resolve().parent.parent
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    folders = [Path(sys.prefix), Path(sys.base_prefix), *([real] if (real / library).is_dir() else [])]
    return tuple(dict.fromkeys(folders))


def _python(layout: Layout) -> Suite:
    key = secrets.token_hex(32)
    tests = [path for path in layout.tests if path.endswith(".py") and PurePosixPath(path).name not in NO_TESTS]
    spec = {"key": key, "front": layout.front, "back": layout.back, "given": layout.tests, "tests": tests}
    return Suite(
        files=run_files(layout, "in_python.py", spec),
        command=(sys.executable, "-P", "-s", "-B", f"../{RUN}/in_python.py"),
        read=partial(read_signed, key=key),
        env={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        tools=python_tools(),
    )


def _node(layout: Layout, *, typed: bool) -> Suite | SuiteRun:
    node = shutil.which("node")
    if node is None:
        return SuiteRun(problem="no Node.js on PATH")
    program = str(Path(node).resolve())
    key = secrets.token_hex(32)
    scripts = [path for path in layout.tests if re.search(r"\.[cm]?[jt]s$", path)]
    named = [path for path in scripts if NODE_TEST.search(path)]
    spec = {"key": key, "tests": named or scripts, "typescript": typed}
    files = run_files(layout, "in_node.mjs", spec)
    if _uses_modules(layout):
        files[f"{WORK}/package.json"] = '{"type": "module"}'
    return Suite(
        files=files,
        command=(program, f"../{RUN}/in_node.mjs"),
        read=partial(read_signed, key=key),
        env={"PATH": _path(program)},
        tools=(Path(program),),
        reserves_memory=True,
    )


def run_files(layout: Layout, runner: str, spec: Mapping[str, object]) -> dict[str, str]:
    return {
        **{f"{WORK}/{path}": text for path, text in layout.files.items()},
        f"{RUN}/{runner}": (HERE / runner).read_text("utf-8"),
        f"{RUN}/spec.json": json.dumps(spec),
    }


def _uses_modules(layout: Layout) -> bool:
    """Whether `.js` files here are ES modules, which the project's package.json would say if it were here."""
    scripts = [text for path, text in layout.files.items() if path.endswith((".js", ".ts"))]
    return "package.json" not in layout.files and any(MODULE_SYNTAX.search(text) for text in scripts)


def _path(program: str) -> str:
    return ":".join(dict.fromkeys((str(Path(program).parent), *SYSTEM_PATH)))
