"""Start `moot` in processes of its own without importing everything each time: a server that forks them.

`run_forked` sends one line of JSON to the server, which forks, runs `moot WORDS` (or a Python text) in the child, waits
for its end and answers with the return code as `subprocess` counts it. A new interpreter needs a second of CPU to
import what a session needs, and the tests start hundreds. Tests of the start itself use `python -m moot`.
"""

import asyncio
import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).parents[1]
RUN_AS_SCRIPTS = (
    "moot.__main__", "moot.edge.sandbox.python.inside", "moot.edge.store.migrations", "moot.edge.models.local",
    "moot.surfaces.inspect_bridge",
)  # fmt: skip
"""Not imported ahead: they act when they are imported, or need what is not installed everywhere."""


@cache
def _server() -> "subprocess.Popen[str]":
    """One a test process. It ends when its stdin closes: with us, however we end."""
    paths = os.pathsep.join([str(ROOT / "src"), str(Path(__file__).parent)])
    env = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": "error"}
    command = [sys.executable, __file__]
    server = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)
    return server


@dataclass(frozen=True)
class Order:
    """What one process does."""

    words: list[str]
    folder: str
    env: dict[str, str]
    streams: list[str]
    kill_after: int
    python: str
    timeout: float


def run_forked(
    words: Sequence[str], folder: Path, env: Mapping[str, str], *,
    kill_after: int = 0, given: str = "", python: str = "", timeout: float = 300.0,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """`moot WORDS` in `folder`; with `python` that text instead; killed -9 right after its N-th write to the record."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    with tempfile.TemporaryDirectory(prefix="moot-forked-") as name:
        streams = [str(Path(name, stream)) for stream in ("in", "out", "err")]
        Path(streams[0]).write_text(given, encoding="utf-8")
        order = Order([*words], str(folder), {**env}, streams, kill_after, python, timeout)
        server.stdin.write(json.dumps(asdict(order)) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        out, err = (Path(path).read_text(encoding="utf-8") for path in streams[1:])
    return subprocess.CompletedProcess([*words], code, out, err)


def import_everything() -> None:
    import moot

    for module in pkgutil.walk_packages(moot.__path__, "moot."):
        if not module.name.startswith(RUN_AS_SCRIPTS):
            importlib.import_module(module.name)
    from moot.scan import StaticTeam
    from moot.testing import one_file

    StaticTeam().scan(one_file("x = 1\n"))
    StaticTeam().scan(one_file("x\n", "a.js", "javascript"))


def die_after(writes: int) -> None:
    """SIGKILL right after so many writes to the record."""
    from moot.core.ports import Row
    from moot.edge.store import SqlStore

    append, left = SqlStore.append, writes

    def count_and_die(done: "asyncio.Future[None]") -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def append_and_die(self: SqlStore, session_id: str, rows: Sequence[Row], fence: int = 0) -> "asyncio.Future[None]":
        done = asyncio.ensure_future(append(self, session_id, rows, fence))
        done.add_done_callback(count_and_die)
        return done

    SqlStore.append = append_and_die  # type: ignore[method-assign]


def carry_out(order: Order) -> NoReturn:
    """The child: what a new process would find, then what was ordered."""
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(order.env)
        os.chdir(order.folder)
        for number, path in enumerate(order.streams):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY), number)
        code = run_text(order.python) if order.python else run_words(order)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def run_words(order: Order) -> int:
    from moot.__main__ import run

    if order.kill_after:
        die_after(order.kill_after)
    return run(order.words, debug=False)


def run_text(text: str) -> int:
    try:
        exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def wait_for(child: int, timeout: float) -> int:
    """Its exit code; killed when the time is over."""
    signal.signal(signal.SIGALRM, lambda number, frame: os.kill(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, timeout)
    status = os.waitpid(child, 0)[1]
    signal.setitimer(signal.ITIMER_REAL, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    import_everything()
    gc.freeze()  # children leave the pages they share with us alone
    for line in iter(sys.stdin.readline, ""):
        order = Order(**json.loads(line))
        child = os.fork()
        if not child:
            carry_out(order)
        sys.stdout.write(f"{wait_for(child, order.timeout)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
