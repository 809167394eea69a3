"""Short ways to run a suite and to wait for what it leaves behind."""

import asyncio
import marshal
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pytest
from patience import wait_until

from moot.core.ports import Sandbox
from moot.core.types import Code, Language, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import Bubblewrap, Container, SandboxLimits, find_sandbox
from moot.edge.sandbox.container import Engine, container_trial
from moot.edge.sandbox.process import ProcessEnd
from moot.edge.sandbox.python.suite import PARTS_APART, PARTS_BARE
from moot.edge.sandbox.suite import Errand, Suite

ORDINARY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--")
SERVICE = "def double(number):\n    return 2 * number\n"


def boxed(**limits: float) -> Sandbox:
    """Fails, and says what to install, where there is no sandbox: these tests must not be skipped."""
    return find_sandbox(unsafe_local=False, limits=SandboxLimits.model_validate(limits))


def cold(**limits: float) -> Sandbox:
    """A new sandbox and a new interpreter for every run."""
    assert isinstance(boxed(), Bubblewrap), "only bubblewrap has both ways"
    return Bubblewrap(SandboxLimits.model_validate(limits), warm=False)


def warm(**limits: float) -> Sandbox:
    """A started interpreter, also for what would otherwise not be run in one; never the other way."""
    assert isinstance(boxed(), Bubblewrap), "only bubblewrap has both ways"
    return OnlyWarm(SandboxLimits.model_validate(limits))


@dataclass(frozen=True)
class OnlyWarm(Bubblewrap):
    async def _execute(self, suite: Suite) -> ProcessEnd:
        errand = suite.errand or _without_packages(suite)
        ended = await self._in_started(replace(suite, files={**suite.files, "work/pytest.py": PYTEST}), errand)
        assert ended is not None, "the run was lost"
        return ended

    async def _execute_apart(self, suite: Suite) -> ProcessEnd:
        if suite.worker is not None:
            worker = suite.worker.errand or Errand("in_worker", _spec(suite.worker), PARTS_WORKER)
            suite = replace(suite, worker=replace(suite.worker, errand=worker))
        return await self._execute(suite)


def _without_packages(suite: Suite) -> Errand:
    parts = (*PARTS_BARE, "in_unittest", *(part.removesuffix(".py") for part in PARTS_APART))
    return Errand("in_python", _spec(suite) | {"pytest": False}, parts)


def _spec(suite: Suite) -> dict[str, object]:
    spec: dict[str, object] = marshal.loads(suite.files["run/spec.bin"].encode("utf-8", "surrogateescape"))
    return spec


PARTS_WORKER = ("in_record", "in_script", "in_tree", "in_values")


PYTEST = """
class raises:
    def __init__(self, kind): self.kind = kind
    def __enter__(self): return self
    def __exit__(self, kind, value, _):
        assert kind is not None, f"{self.kind} was not raised"
        self.value = value
        return issubclass(kind, self.kind)
class mark:
    def parametrize(name, values):
        def each(test):
            def test_all():
                for value in values: test(value)
            return test_all
        return each
"""
"""As much of pytest as the hostile tests use, where there are no packages."""
BOTH = pytest.mark.parametrize("make", [cold, warm])


def local(**limits: float) -> Sandbox:
    return find_sandbox(unsafe_local=True, limits=SandboxLimits.model_validate(limits))


def docker(**limits: float) -> Sandbox:
    return _container("docker", limits)


def podman(**limits: float) -> Sandbox:
    return _container("podman", limits)


def _container(engine: Engine, limits: dict[str, float]) -> Sandbox:
    """Only where an engine runs; elsewhere the test says which one it lacks."""
    if reason := container_trial(engine):
        pytest.skip(f"not run: {engine} cannot be used here: {reason}")
    return Container(SandboxLimits.model_validate(limits), engine=engine)


def code_of(**texts: str) -> Code:
    return Code(files=tuple(SourceFile(path=f"{n}.py", language="python", text=text) for n, text in texts.items()))


def suite_of(text: str, path: str = "test_service.py", language: Language = "python") -> Tests:
    return Tests(files=((path, text),), language=language)


def run(test: str, sandbox: Sandbox | None = None, service: str = SERVICE) -> SuiteRun:
    return asyncio.run((sandbox or boxed()).run(code_of(service=service), suite_of(test)))


def run_with_pytest(test: str, sandbox: Sandbox) -> SuiteRun:
    """A test that uses what only pytest has; the image of an engine may not have it."""
    suite = run(test, sandbox)
    if isinstance(sandbox, Container) and any("No module named 'pytest'" in one.detail for one in suite.outcomes):
        pytest.skip(f"not run: the image {sandbox.image} of {sandbox.engine} has no pytest")
    return suite


def statuses(suite: SuiteRun) -> list[str]:
    return [outcome.status for outcome in suite.outcomes]


def marker() -> str:
    """A number of seconds that no other process sleeps for."""
    return f"86{uuid4().int % 10**9}.25"


def running(mark: str) -> list[str]:
    """The processes of this machine that sleep for this time; not those that only name it."""
    sleeps = f"sleep\0{mark}\0".encode()
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/cmdline") if _bytes(path) == sleeps]


def until(true: Callable[[], bool]) -> None:
    wait_until(true, "what the test waits for")


async def until_async(true: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, true)


def run_script(script: str, given: str = "", *, ordinary: bool) -> str:
    """What a Python program of its own prints; it has Moot and this module. Run by root, it can be an ordinary user."""
    source = ":".join(str(Path(__file__).parents[up] / part) for up, part in ((3, "src"), (2, ""), (0, "")))
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": source, "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"}
    who = [*_opened(Path(sys.base_prefix)), *ORDINARY] if ordinary else []
    ended = subprocess.run([*who, sys.executable, "-c", script], input=given, env=env, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _opened(folder: Path) -> list[str]:
    """Root's interpreter may lie in root's home: a view of the files in which all may read it, for one command."""
    closed = [parent for parent in reversed(folder.parents) if not parent.stat().st_mode & stat.S_IXOTH]
    if not closed:
        return []
    script = (
        'mount -t tmpfs none /mnt && mkdir /mnt/kept && mount --bind "$0" /mnt/kept && '
        'mount -t tmpfs -o mode=0755 none "$1" && mkdir -p "$0" && mount --bind /mnt/kept "$0" && shift && exec "$@"'
    )
    return ["unshare", "--mount", "--", "/bin/sh", "-c", script, str(folder), str(closed[0])]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
