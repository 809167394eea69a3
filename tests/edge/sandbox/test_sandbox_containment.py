"""What hostile code cannot do. Where it helps, the same code without the sandbox shows that the trick is real."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_runs import (
    BOTH,
    boxed,
    code_of,
    cold,
    local,
    marker,
    run,
    running,
    statuses,
    suite_of,
    until,
    until_async,
    warm,
)

from moot.core.ports import Sandbox
from moot.edge.sandbox import bubblewrap, memory

Make = Callable[..., Sandbox]
PROJECT = Path(__file__).parents[3]


@pytest.fixture
def listener() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@BOTH
def test_tcp_to_this_machine_is_blocked(make: Make, listener: int) -> None:
    test = f"""
import pytest, socket
def test_no_network():
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", {listener}), timeout=5)
"""
    assert run(test, make()).passed
    assert statuses(run(test, local())) == ["failed"]


@BOTH
def test_unix_sockets_of_this_machine_are_out_of_reach(make: Make, tmp_path: Path) -> None:
    abstract = f"\0moot-{marker()}"
    test = f"""
import pytest, socket
@pytest.mark.parametrize("address", [{str(tmp_path / "socket")!r}, {abstract!r}])
def test_no_socket(address):
    with pytest.raises(OSError):
        socket.socket(socket.AF_UNIX).connect(address)
"""
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as nameless:
        named.bind(str(tmp_path / "socket"))
        nameless.bind(abstract)
        named.listen()
        nameless.listen()
        assert run(test, make()).passed
        assert statuses(run(test, local())) == ["failed", "failed"]


@BOTH
def test_the_environment_is_not_inherited(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_TEST_SECRET", "hunter2")
    test = """
import glob, os
def readable(path):
    try: return open(path, "rb").read()
    except OSError: return b""
def test_no_secret():
    assert "MOOT_TEST_SECRET" not in os.environ
    assert not [path for path in glob.glob("/proc/[0-9]*/environ") if b"hunter2" in readable(path)]
"""
    assert run(test, make()).passed
    assert set(os.environ) - {"PATH", "HOME", "LANG", "USER", "TZ", "TMPDIR", "PYTHONPATH"}


@BOTH
def test_home_and_other_projects_are_not_there(make: Make, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    files = [str(path) for path in Path.home().iterdir() if path.is_file()]
    hidden = [
        str(secret),
        str(PROJECT / "pyproject.toml"),
        "/etc/passwd",
        "/etc/shadow",
        "/run",
        "/var",
        "/sys",
        *files,
    ]
    test = f"import os\ndef test_hidden(): assert not [path for path in {hidden!r} if os.path.exists(path)]\n"
    assert run(test, make()).passed


@BOTH
def test_nothing_outside_the_work_folder_can_be_written(make: Make) -> None:
    test = f"""
import os, pytest
@pytest.mark.parametrize("folder", ["/", "/usr", "/usr/lib", "/etc", "/dev", "/proc", "/proc/sys", {sys.prefix!r}])
def test_read_only(folder):
    with pytest.raises(OSError):
        open(folder + "/moot-was-here", "w")
def test_work_is_writable():
    open("here", "w").close(); open("/tmp/here", "w").close()
"""
    assert run(test, make()).passed


@BOTH
def test_links_do_not_lead_out(make: Make, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    test = f"""
import os, pytest
def test_symlink():
    os.symlink({str(secret)!r}, "link")
    with pytest.raises(OSError):
        open("link")
def test_hard_link():
    with pytest.raises(OSError):
        os.link("/usr/bin/env", "env")
"""
    assert run(test, make()).passed


@BOTH
def test_there_are_no_rights_to_gain(make: Make) -> None:
    test = """
import ctypes, os, pytest, subprocess
def status(name):
    return dict(line.split(":", 1) for line in open("/proc/self/status"))[name].strip()
def test_nobody():
    assert os.getuid() == os.geteuid() == 65534
def test_no_capabilities():
    assert {int(status(name), 16) for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert status("NoNewPrivs") == "1"
def test_no_new_user_namespace():
    assert ctypes.CDLL(None, use_errno=True).unshare(0x10000000) == -1
def test_no_mount():
    assert ctypes.CDLL(None, use_errno=True).mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1
def test_no_other_process():
    assert len([name for name in os.listdir("/proc") if name.isdigit()]) <= 3
"""
    suite = run(test, make())
    assert suite.passed, suite


@BOTH
@pytest.mark.parametrize("folder", [".", "/tmp", "/dev/shm"])
def test_writable_folders_are_small(make: Make, folder: str) -> None:
    test = f"""
import errno, pytest
def test_full():
    with pytest.raises(OSError) as caught:
        for number in range(100):
            with open({folder!r} + f"/fill{{number}}", "wb") as file:
                file.write(bytes(4 * 1024 * 1024))
    assert caught.value.errno == errno.ENOSPC
"""
    assert run(test, make(tmpfs=32 * 1024 * 1024)).passed


@BOTH
def test_files_have_a_largest_size(make: Make) -> None:
    test = """
import pytest
def test_a():
    with pytest.raises(OSError):
        open("big", "wb").write(bytes(3_000_000))
"""
    assert run(test, make(file_size=2_000_000)).passed


@BOTH
def test_a_fork_bomb_is_contained(make: Make) -> None:
    mark = marker()
    test = f"""
import subprocess, pytest
def test_bomb():
    children = []
    with pytest.raises(BlockingIOError):
        while len(children) < 1000:
            children.append(subprocess.Popen(["sleep", "{mark}"]))
    assert len(children) < 64
"""
    suite = run(test, make(processes=64))
    assert suite.passed, suite
    until(lambda: not running(mark))


@BOTH
def test_a_bomb_that_never_stops_ends_with_the_time(make: Make) -> None:
    suite = run(
        "import os\ndef test_bomb():\n    while True:\n        try: os.fork()\n        except OSError: pass\n",
        make(wall=3),
    )
    assert not suite.passed
    assert suite.seconds < 20


@BOTH
def test_one_process_cannot_take_all_memory(make: Make) -> None:
    suite = run("def test_hog(): bytearray(10 ** 12)\n", make())
    assert (suite.passed, statuses(suite)) == (False, ["failed"])
    assert "MemoryError" in suite.outcomes[0].detail


MANY_HOGS = """
import os, signal
def test_hogs():
    for _ in range(20):
        if os.fork() == 0:
            hoard = b"x" * 60_000_000
            signal.pause()
    signal.pause()
"""


@BOTH
def test_many_processes_cannot_take_all_memory(make: Make) -> None:
    suite = run(MANY_HOGS, make(memory=300 * 1024 * 1024))
    assert suite.problem == "the tests used more memory than the limit of 300 MiB"
    assert suite.seconds < 50


def test_many_processes_are_watched_where_there_is_no_control_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "GROUPS", Path("/nowhere"))
    suite = run(MANY_HOGS, boxed(memory=300 * 1024 * 1024))
    assert suite.problem == "the tests used more memory than the limit of 300 MiB"
    assert suite.seconds < 50


@BOTH
def test_a_daemon_does_not_outlive_the_run(make: Make) -> None:
    mark = marker()
    test = f"""
import os, subprocess
def test_daemon():
    daemon = subprocess.Popen(["sleep", "{mark}"], start_new_session=True, stdin=-3, stdout=-3, stderr=-3)
    assert os.path.exists(f"/proc/{{daemon.pid}}")
"""
    assert run(test, make()).passed
    until(lambda: not running(mark))


@BOTH
def test_the_time_limit_kills_everything(make: Make) -> None:
    mark = marker()
    test = (
        f"import subprocess\ndef test_a():\n    subprocess.Popen(['sleep', '{mark}'], start_new_session=True).wait()\n"
    )
    suite = run(test, make(wall=8))
    assert statuses(suite) == ["timeout"]
    until(lambda: not running(mark))


SLEEPER = "import subprocess\ndef test_a():\n    subprocess.Popen(['sleep', '{mark}'], start_new_session=True).wait()\n"


@pytest.mark.parametrize("make", [cold, warm, local])
def test_a_cancelled_run_leaves_nothing(make: Make) -> None:
    mark = marker()
    sleeper = SLEEPER if make is not local else SLEEPER.replace(", start_new_session=True", "")

    async def cancelled() -> None:
        task = asyncio.create_task(make().run(code_of(service=""), suite_of(sleeper.format(mark=mark))))
        await until_async(lambda: bool(running(mark)))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    until(lambda: not running(mark))
    assert not list(memory.GROUPS.glob(f"**/moot-{os.getpid()}-*"))


def test_a_memory_group_is_closed_also_when_its_run_is_cancelled_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """As it happens to the code's half of a run, which ends with the tests' half."""
    let, closed = threading.Event(), []

    class Group:
        def close(self) -> None:
            let.wait(60)
            closed.append(True)

    async def cancelled() -> None:
        async def hold() -> None:
            async with bubblewrap._memory_group(1):
                await asyncio.sleep(60)

        monkeypatch.setattr(bubblewrap, "open_group", lambda _: Group())
        task = asyncio.create_task(hold())
        for _ in range(3):
            await asyncio.sleep(0)
            task.cancel()
        let.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert closed, "it is closed when the call returns"

    asyncio.run(cancelled())


def test_when_moot_is_killed_its_sandbox_goes_too() -> None:
    mark = marker()
    script = (
        "import asyncio, sys\nfrom moot.edge.sandbox import find_sandbox\nfrom moot.core.types import Code, Tests\n"
        "asyncio.run(find_sandbox().run(Code(files=()), Tests(files=(('test_a.py', sys.argv[1]),))))"
    )
    with subprocess.Popen([sys.executable, "-c", script, SLEEPER.format(mark=mark)]) as moot:
        until(lambda: bool(running(mark)))
        moot.send_signal(signal.SIGKILL)
    until(lambda: not running(mark))
    groups = f"**/moot-{moot.pid}-*"
    until(lambda: run("def test_next(): pass\n").passed and not list(memory.GROUPS.glob(groups)))
