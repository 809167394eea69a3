"""Runs Python tests: the tests in one sandbox and the code in another; in one process if necessary."""

import marshal
import os
import re
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path, PurePosixPath

from moot.edge.sandbox.layout import RUN, WORK, Layout
from moot.edge.sandbox.python.project import Python
from moot.edge.sandbox.python.pytests import NO_TESTS, find_imports, modules, needs_packages, needs_pytest
from moot.edge.sandbox.python.runner_files import as_text, own_text, runner_parts
from moot.edge.sandbox.python.shared_state import find_shared_state
from moot.edge.sandbox.report import read_signed
from moot.edge.sandbox.suite import NO_RESULTS, Errand, KnownResults, Suite

PARTS = ("in_honest.py", "in_plain.py", "in_pytest.py", "in_record.py", "in_script.py", "in_tree.py", "in_unittest.py")
PARTS_APART = ("in_build.py", "in_link.py", "in_stand.py", "in_values.py")
PARTS_WORKER = ("in_record.py", "in_script.py", "in_tree.py", "in_values.py")
COVER = ("in_cover.py",)
PARTS_BARE = ("in_honest", "in_plain", "in_record", "in_script", "in_tree")
ENV = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
STUB = "getattr(__import__('builtins'), '@moot_stub')(__name__)\n"
"""The content of a code file on the tests' side."""
CONFIGURES = frozenset({"pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml"})
MEASURED = "what tests reach is measured in one process"
ONE_FILE = "the tests stand in the code's own file"


@dataclass(frozen=True)
class PythonRun:
    entry: str
    seconds: float
    cover: list[str] = field(default_factory=list)
    """The files whose coverage is measured."""
    python: Python | None = None
    known: KnownResults = NO_RESULTS
    """Results of an interrupted run: those tests are skipped."""


def python_suite(layout: Layout, run: PythonRun) -> Suite:
    if run.cover:
        return replace(one_process_suite(layout, run), in_process=MEASURED)
    if layout.one:
        return replace(one_process_suite(layout, run), in_process=ONE_FILE)
    if not _code(layout):
        return one_process_suite(layout, run)
    forced = find_shared_state({path: layout.files[path] for path in layout.tests if path.endswith(".py")})
    tests = _tests(layout)
    if tests and all(path in forced for path in tests):
        return replace(one_process_suite(layout, run), in_process=forced[tests[0]])
    return _suite(layout, run, forced=forced)


def one_process_suite(layout: Layout, run: PythonRun) -> Suite:
    """Every test in one process with the code, even those that could be judged separately."""
    return _suite(layout, run)


def _tests(layout: Layout) -> list[str]:
    return [path for path in layout.tests if path.endswith(".py") and PurePosixPath(path).name not in NO_TESTS]


def _code(layout: Layout) -> list[str]:
    return [path for path in layout.files if path.endswith(".py") and path not in layout.tests]


def _suite(
    layout: Layout, run: PythonRun, *, forced: dict[str, str] | None = None, only: Sequence[str] | None = None
) -> Suite:
    """`forced`: separate from the code, except for these tests. `only`: in one process with it, only these tests."""
    apart = forced is not None
    key = secrets.token_hex(32)
    tests = _tests(layout)
    texts = [layout.files[path] for path in tests]
    spec = {
        "key": key,
        "front": layout.front,
        "back": layout.back,
        "given": layout.tests,
        "tests": tests,
        "modules": modules(layout),
        "entry": run.entry,
        "cover": run.cover,
        "seconds": run.seconds,
        "known": run.known.done,
        "late": run.known.late,
        "pytest": needs_pytest(layout),
        "unittest": any("unittest" in text for text in texts),
        "doctests": any(">>>" in text for text in texts),
        "any": any(re.search(r"\bANY\b", text) for text in texts),
        "apart": apart,
        "forced": forced or {},
        "only": None if only is None else list(only),
        "packages": sorted(_packages(layout)) if apart else [],
        "names": sorted(_module_names(layout)) if apart else [],
    }
    # Without installed packages the interpreter starts in half the time.
    bare = not needs_packages(layout)
    more = (*(PARTS_APART if apart else ()), *(COVER if run.cover else ()))
    needed = (*PARTS_BARE, *(["in_unittest"] if spec["unittest"] else []), *(name.removesuffix(".py") for name in more))
    suite = Suite(
        files={
            **_lay_out_files(layout, stubs=apart),
            **_runner("in_python.py", spec, (*PARTS, *more)),
        },
        command=_command("in_python.py", bare=bare),
        read=partial(read_signed, key=key),
        env=ENV,
        tools=python_tools(),
        errand=Errand("in_python", spec, needed) if bare else None,
        each=run.seconds,
        without=lambda known: _suite(layout, replace(run, known=known), forced=forced, only=only),
        worker=_worker(layout, run, bare=bare) if apart else None,
        together=(lambda names: _suite(layout, run, only=names)) if apart else None,
    )
    return with_python(suite, run.python)


def _worker(layout: Layout, run: PythonRun, *, bare: bool) -> Suite:
    spec = {
        "front": layout.front,
        "back": layout.back,
        "modules": modules(layout),
        "entry": run.entry,
        "names": sorted(_module_names(layout)),
    }
    files = {f"{WORK}/{path}": text for path, text in layout.files.items() if path not in layout.tests}
    suite = Suite(
        files={**files, **_runner("in_worker.py", spec, PARTS_WORKER)},
        command=_command("in_worker.py", bare=bare),
        read=partial(read_signed, key=""),
        env=ENV,
        tools=python_tools(),
        errand=Errand("in_worker", spec, tuple(part.removesuffix(".py") for part in PARTS_WORKER)) if bare else None,
    )
    return with_python(suite, run.python)


def _lay_out_files(layout: Layout, *, stubs: bool) -> dict[str, str]:
    code = frozenset(_code(layout)) if stubs else frozenset()
    files = {path: text for path, text in layout.files.items() if not stubs or not _stands_in_the_way(path, layout)}
    return {f"{WORK}/{path}": STUB if path in code else text for path, text in files.items()}


def _stands_in_the_way(path: str, layout: Layout) -> bool:
    """A file of the code that would change how tests are found, or what they compare with: by `statistics` a test does
    not mean a `statistics.py` beside the tested module."""
    if path in layout.tests:
        return False
    pure = PurePosixPath(path)
    tops = {pure.relative_to(each).parts[0] for each in layout.front if each == "." or pure.is_relative_to(each)}
    beside = any(top.removesuffix(".py") in sys.stdlib_module_names for top in tops) and len(_code(layout)) > 1
    return beside or pure.name in CONFIGURES


def _runner(name: str, spec: Mapping[str, object], parts: tuple[str, ...]) -> dict[str, str]:
    return {
        f"{RUN}/{name}": own_text(name),
        f"{RUN}/spec.bin": as_text(marshal.dumps(dict(spec))),
        **runner_parts(parts),
    }


def _command(runner: str, *, bare: bool) -> tuple[str, ...]:
    return (sys.executable, "-P", "-s", "-B", *(("-S",) if bare else ()), f"../{RUN}/{runner}")


def _packages(layout: Layout) -> set[str]:
    own = {part for path in layout.files for part in PurePosixPath(path).with_suffix("").parts}
    named = {name for path in _tests(layout) for name in find_imports(layout.files[path])}
    return named - own - sys.stdlib_module_names - {"pytest", "_pytest", "hypothesis"}


def _module_names(layout: Layout) -> set[str]:
    """Every name under which a file of the code can be imported."""
    found = set()
    for path in _code(layout):
        pure = PurePosixPath(path)
        parts = pure.parent.parts if pure.name == "__init__.py" else pure.with_suffix("").parts
        found |= {".".join(parts[start:]) for start in range(len(parts))}
    return found


def with_python(suite: Suite, python: Python | None) -> Suite:
    """The same run with the project's interpreter and its packages."""
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


@cache
def python_tools() -> tuple[Path, ...]:
    """The interpreter that runs Moot: its folders, never the home they may be in."""
    real = Path(sys.executable).resolve().parent.parent
    library = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    # Not `Path.is_dir`, which raises without permission.
    folders = [Path(sys.prefix), Path(sys.base_prefix), *([real] if os.path.isdir(real / library) else [])]
    return tuple(dict.fromkeys(folders))
