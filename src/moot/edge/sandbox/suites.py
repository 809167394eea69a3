"""How the tests of each language are run: what is laid out, what is started, how its report is read."""

import importlib.util
import json
import marshal
import os
import re
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path, PurePosixPath
from typing import assert_never

from moot.edge.sandbox.gotests import go_suite
from moot.edge.sandbox.layout import RUN, SYSTEM_PATH, WORK, Layout, lay_out, safe_path
from moot.edge.sandbox.project import NO_PROJECT, Project, Python, has_package
from moot.edge.sandbox.pytests import NO_TESTS, PYTEST, modules, needs_packages, needs_pytest, packages
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.suite import Errand, Suite
from moot.trials.values import named_as_test
from moot.types import Code, SuiteRun, Tests

HERE = Path(__file__).parent
PARTS = ("in_honest.py", "in_plain.py", "in_pytest.py", "in_record.py", "in_script.py", "in_tree.py", "in_unittest.py")
COVER = ("in_cover.py",)
PARTS_BARE = ("in_honest", "in_plain", "in_record", "in_script", "in_tree")
NODE_TEST = re.compile(r"((^|/)tests?/.*|(^|/)test(-[^/]*)?|[^/]*[._-]test)\.[cm]?[jt]s$")
MODULE_SYNTAX = re.compile(r"^\s*(import\s[^(]|export\s)", re.MULTILINE)


async def plan(
    code: Code, tests: Tests, seconds: float, *, cover: bool = False, project: Project = NO_PROJECT
) -> Suite | SuiteRun:
    """How to run these tests, each within so many seconds, or the run that says why they cannot be run here.
    `cover` watches, in Python, what they reach."""
    layout = lay_out(code, tests)
    if layout.clash:
        return SuiteRun(problem=f"two files would lie at {layout.clash!r}")
    match tests.language:
        case "python":
            suite = _python(layout, tests.entry, seconds, measured(code) if cover else [])
            return with_python(suite, project.python) if _is_for(project.python, layout) else suite
        case "javascript" | "typescript":
            return _node(layout, typed=tests.language == "typescript", modules=project.node_modules)
        case "go":
            return await go_suite(layout, project)
        case _:
            assert_never(tests.language)


@cache
def python_tools() -> tuple[Path, ...]:
    """The interpreter that runs Moot: its folders, never the home they may lie in."""
    real = Path(sys.executable).resolve().parent.parent
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    # Not `Path.is_dir`, which raises where one may not look.
    folders = [Path(sys.prefix), Path(sys.base_prefix), *([real] if os.path.isdir(real / library) else [])]
    return tuple(dict.fromkeys(folders))


def _is_for(python: Python | None, layout: Layout) -> bool:
    """Whether the project's interpreter has to run these tests. Moot's own starts faster, and will do where both are
    the same Python and nothing is imported that only the project has."""
    if python is None or python.chosen:
        return python is not None
    if python.version != sys.version_info[:2]:
        return True
    foreign = packages(layout)
    return bool(foreign - PYTEST) or (bool(foreign) and has_package(python, "pytest"))


def with_python(suite: Suite, python: Python | None) -> Suite:
    """The same run by the project's interpreter, with what is installed for it."""
    if python is None:
        return suite
    flags = ("-P", "-s", "-B") if python.version >= (3, 11) else ("-s", "-B")
    return replace(
        suite,
        command=(python.program, *flags, suite.command[-1]),
        tools=(),
        mounts={Path(place): Path(folder) for place, folder in python.folders.items()},
        errand=None,
    )


def measured(code: Code) -> list[str]:
    """The files of which it is worth knowing what tests reach."""
    return [safe_path(f.path) for f in code.files if f.language == "python" and not named_as_test(f.path)]


def _python(layout: Layout, entry: str, seconds: float, cover: list[str]) -> Suite:
    key = secrets.token_hex(32)
    tests = [path for path in layout.tests if path.endswith(".py") and PurePosixPath(path).name not in NO_TESTS]
    texts = [layout.files[path] for path in tests]
    spec = {
        "key": key,
        "front": layout.front,
        "back": layout.back,
        "given": layout.tests,
        "tests": tests,
        "modules": modules(layout),
        "entry": entry,
        "cover": cover,
        "seconds": seconds,
        "pytest": needs_pytest(layout),
        "unittest": any("unittest" in text for text in texts),
        "doctests": any(">>>" in text for text in texts),
        "any": any(re.search(r"\bANY\b", text) for text in texts),
    }
    # Without installed packages the interpreter starts in half the time.
    bare = not needs_packages(layout)
    needed = (*PARTS_BARE, *(["in_unittest"] if spec["unittest"] else []), *(["in_cover"] if cover else []))
    return Suite(
        files={
            **run_files(layout, "in_python.py", {}),
            f"{RUN}/spec.bin": _as_text(marshal.dumps(spec)),
            **_runner_parts((*PARTS, *(COVER if cover else ()))),
        },
        command=(sys.executable, "-P", "-s", "-B", *(("-S",) if bare else ()), f"../{RUN}/in_python.py"),
        read=partial(read_signed, key=key),
        env={"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        tools=python_tools(),
        errand=Errand("in_python", spec, needed) if bare else None,
    )


@cache
def _runner_parts(names: tuple[str, ...]) -> dict[str, str]:
    """The files that the runner imports, under the names they have here."""
    package = PurePosixPath(RUN, *__name__.split(".")[:-1])
    empty = {f"{folder}/__init__.py": "" for folder in (package, *package.parents[:-2])}
    parts = {f"{package}/{part}": _own_text(part) for part in names}
    return empty | parts | {f"{package}/__pycache__/{name}": _as_text(data) for name, data in _compiled(names).items()}


@cache
def _compiled(names: tuple[str, ...]) -> Mapping[str, bytes]:
    """The runner's parts as Python keeps them, not to be checked against the source. Another version ignores them."""
    header = importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)
    tag = sys.implementation.cache_tag
    return {
        f"{part.removesuffix('.py')}.{tag}.pyc": header
        + marshal.dumps(compile(_own_text(part), part, "exec", dont_inherit=True))
        for part in names
    }


def _as_text(data: bytes) -> str:
    """Bytes among texts; `pack` makes them bytes again."""
    return data.decode("utf-8", "surrogateescape")


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


def run_files(layout: Layout, runner: str, spec: Mapping[str, object]) -> dict[str, str]:
    return {
        **{f"{WORK}/{path}": text for path, text in layout.files.items()},
        f"{RUN}/{runner}": _own_text(runner),
        f"{RUN}/spec.json": json.dumps(spec),
    }


@cache
def _own_text(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def uses_modules(layout: Layout) -> bool:
    """Whether `.js` files here are ES modules, which the project's package.json would say if it were here."""
    scripts = [text for path, text in layout.files.items() if path.endswith((".js", ".ts"))]
    return "package.json" not in layout.files and any(MODULE_SYNTAX.search(text) for text in scripts)


def _path(program: str) -> str:
    return ":".join(dict.fromkeys((str(Path(program).parent), *SYSTEM_PATH)))
