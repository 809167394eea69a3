"""Runs in an interpreter that is started already: none meets another, none outlives its owner, none is lost."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_runs import SERVICE, OnlyWarm, boxed, code_of, marker, run, running, statuses, suite_of, until, warm

from moot.core.types import Probing, SuiteRun
from moot.edge.sandbox import Bubblewrap, SandboxLimits, bubblewrap, memory, probes
from moot.edge.sandbox.process import ProcessEnd, ProcessJob, execute
from moot.edge.sandbox.python import warm as warm_module
from moot.edge.sandbox.python import warm_run
from moot.edge.sandbox.python.warm import Pool
from moot.edge.sandbox.suite import Suite
from moot.edge.sandbox.suites import plan

PASSES = "def test_a(): pass\n"
SLEEPS = "import subprocess\ndef test_a():\n    subprocess.Popen(['sleep', '{mark}'], start_new_session=True).wait()\n"
SCRIPT = """
import asyncio, os, sys
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.python.warm import POOL
from moot.core.types import Code, Tests
def run():
    tests = Tests(files=(("test_a.py", "def test_a(): pass\\n"),))
    return asyncio.run(find_sandbox().run(Code(files=()), tests)).passed
assert run()
"""


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """One of this test's own."""
    own = Pool()
    monkeypatch.setattr(bubblewrap, "POOL", own)
    monkeypatch.setattr(warm_run, "POOL", own)
    yield own
    own.close()


@pytest.fixture
def started_anew(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The runs that got a sandbox and an interpreter of their own."""
    seen: list[object] = []

    async def noted(job: ProcessJob, limits: SandboxLimits) -> ProcessEnd:
        if not any("in_worker" in word for word in job.command):
            seen.append(job)
        return await execute(job, limits)

    monkeypatch.setattr(bubblewrap, "execute", noted)
    return seen


def test_tests_without_packages_run_in_it_and_others_do_not(pool: Pool, started_anew: list[object]) -> None:
    assert run("import service\ndef test_a(): assert service.double(2) == 4\n").passed
    assert asyncio.run(boxed().probe(code_of(service=SERVICE), ["double(2)"])).answers[0].text == "4"
    assert (len(started_anew), pool.count) == (0, 1)
    assert run("import pytest\ndef test_a(): pass\n").passed
    assert len(started_anew) == 1


LEFT = """
import json, os, socket, sys, threading
def test_leave():
    for folder in ("/tmp", "/dev/shm", "/box", "."):
        with open(folder + "/left", "w") as file: file.write("here")
    json.left = sys.left = True
    os.environ["LEFT"] = "here"
    server = socket.create_server(("127.0.0.1", 4711))
    if os.fork() == 0:
        os.setsid()
        while True: server.accept()
"""
FOUND = """
import json, os, socket, sys
def test_nothing_is_left():
    assert [folder for folder in ("/tmp", "/dev/shm", "/box", ".") if os.path.exists(folder + "/left")] == []
    assert not hasattr(json, "left") and not hasattr(sys, "left") and "LEFT" not in os.environ
    socket.create_server(("127.0.0.1", 4711)).close()
    assert sorted(int(name) for name in os.listdir("/proc") if name.isdigit()) == [1, 2]
    assert os.listdir("/dev/pts") == ["ptmx"]
"""


def test_a_run_finds_nothing_of_the_one_before(pool: Pool) -> None:
    assert run(LEFT, warm()).passed
    found = run(FOUND, warm())
    assert found.passed, found
    assert pool.count == 1, "both were made by the same one"


def test_a_run_has_nothing_of_another_in_its_memory(pool: Pool) -> None:
    secret = marker()
    assert run(PASSES, warm(), service=f"SECRET = {secret!r}\n").passed
    first, last = secret[:6], secret[6:]
    looks = f"""
def test_look():
    wanted, found = b"".join(({first.encode()!r}, {last.encode()!r})), 0
    for line in open("/proc/self/maps"):
        start, end = (int(word, 16) for word in line.split()[0].split("-"))
        if "rw" in line and "vsyscall" not in line:
            with open("/proc/self/mem", "rb", 0) as memory:
                memory.seek(start)
                found += memory.read(end - start).count(wanted)
    assert found < 3, found
"""
    alone = run(looks, warm())
    assert alone.passed, alone
    own = run("import service\n" + looks.replace("< 3", "> 2"), warm(), service=f"SECRET = {secret!r}\n")
    assert own.passed, f"what is there would be seen: {own}"


def test_the_first_process_cannot_be_looked_into(pool: Pool) -> None:
    test = """
import ctypes, os
def test_closed():
    assert os.getpid() != 1 and os.getppid() == 1
    for name in ("mem", "environ", "maps"):
        try: open("/proc/1/" + name, "rb").read(1)
        except OSError: continue
        raise AssertionError(name)
    assert ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0) == -1
"""
    found = run(test, warm())
    assert found.passed, found


TRIES_ALL = """
import os, signal, socket, ctypes
libc = ctypes.CDLL(None, use_errno=True)
def refused(action, *args):
    try: action(*args)
    except OSError as problem: return problem.errno
def f(what):
    if what == "sockets":
        kinds = [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_UNIX, socket.SOCK_DGRAM), (socket.AF_NETLINK, 3)]
        return [refused(socket.socket, *kind) for kind in kinds] + [refused(socket.socketpair)]
    if what == "rings": return libc.syscall(425, 8, ctypes.create_string_buffer(200))
    if what == "namespaces": return {libc.unshare(flag) for flag in (0x20000, 0x10000000, 0x20000000, 0x40000000)}
    if what == "processes": return [name for name in os.listdir("/proc") if name.isdigit()]
    if what == "rights": return [line.split()[1] for line in open("/proc/self/status") if line.startswith("Cap")]
    if what == "files": return [os.path.exists(path) for path in ("/etc/passwd", "/var", "/sys")]
    if what == "write": return refused(open, "/usr/here", "w")
    if what == "kill": return refused(os.kill, -1, signal.SIGKILL)
"""


def test_who_gets_around_the_rules_for_sharing_a_process_gains_nothing(
    pool: Pool, started_anew: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "leaves_nothing", lambda texts, calls: True)
    what = ("sockets", "rings", "namespaces", "processes", "rights", "files", "write", "kill")
    found = asyncio.run(boxed().probe(code_of(solution=TRIES_ALL), [f"f({each!r})" for each in what]))
    said = {each: answer.text for each, answer in zip(what, found.answers, strict=True)}
    none = "0" * 16
    assert said == {
        "sockets": "[1, 1, 1, 1]",
        "rings": "-1",
        "namespaces": "{-1}",
        "processes": "['1']",
        "rights": str([none] * 5),
        "files": "[False, False, False]",
        "write": "30",
        "kill": "3",
    }
    assert not started_anew


async def lost(sandbox: OnlyWarm, suite: Suite, mark: str, pool: Pool) -> object:
    assert suite.errand is not None or suite.command
    task = asyncio.ensure_future(sandbox._execute_apart(suite))
    await asyncio.to_thread(until, lambda: bool(running(mark)))
    assert pool.root is not None
    pool.root.process.kill()
    try:
        return await task
    except AssertionError as problem:
        return str(problem)


def test_a_run_that_is_lost_gives_no_verdict(pool: Pool) -> None:
    mark = marker()

    async def whole() -> object:
        suite = await plan(code_of(service=""), suite_of(SLEEPS.format(mark=mark)), 20.0)
        assert isinstance(suite, Suite)
        sandbox = warm()
        assert isinstance(sandbox, OnlyWarm)
        return await lost(sandbox, suite, mark, pool)

    assert asyncio.run(whole()) == "the run was lost"
    until(lambda: not running(mark))
    assert run(PASSES, warm()).passed, "the next one is begun anew"


def test_a_run_that_is_lost_is_done_again_the_usual_way(
    pool: Pool, started_anew: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = warm_run._until_the_end

    async def cut(*args: object) -> object:
        assert pool.root is not None
        pool.root.process.kill()
        return await usual(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(warm_run, "_until_the_end", cut)
    found = run("import service\ndef test_a():\n    for _ in range(10**7): pass\n    assert service.double(2) == 4\n")
    assert found.passed and len(started_anew) == 1


@pytest.mark.parametrize("boot", ["raise SystemExit(1)", "import os, time; os.close(int(__import__('sys').argv[1]))"])
def test_where_it_cannot_be_started_runs_are_begun_the_usual_way(
    boot: str, pool: Pool, started_anew: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_module, "BOOT", boot)
    assert [run(PASSES).passed for _ in range(5)] == [True] * 5
    assert statuses(run("def test_a(): assert False\n")) == ["failed"]
    assert (len(started_anew), pool.failures) == (6, warm_module.TRIES)


def test_where_namespaces_cannot_be_made_runs_are_begun_the_usual_way(
    pool: Pool, started_anew: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = dict(warm_module._compile_parts())
    text = (warm_module.INSIDE / "in_warm.py").read_text("utf-8").replace('"proc", NO_SUID', '"nothing", NO_SUID')
    compiled["in_warm"] = compile(text, "in_warm.py", "exec")
    monkeypatch.setattr(warm_module, "_compile_parts", lambda: compiled)
    assert [run(PASSES).passed for _ in range(4)] == [True] * 4
    assert (len(started_anew), pool.failures) == (4, warm_module.TRIES)


def test_nobody_waits_for_ever_behind_long_runs(
    pool: Pool, started_anew: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_module, "AT_ONCE", 1)
    monkeypatch.setattr(warm_module, "STUCK", 0.05)
    mark = marker()

    async def both() -> SuiteRun:
        long = asyncio.ensure_future(warm().run(code_of(service=""), suite_of(SLEEPS.format(mark=mark))))
        await asyncio.to_thread(until, lambda: bool(running(mark)))
        short = await boxed().run(code_of(service=""), suite_of(PASSES))
        long.cancel()
        await asyncio.gather(long, return_exceptions=True)
        return short

    assert asyncio.run(both()).passed and len(started_anew) == 1
    assert run(PASSES, warm()).passed and pool.count == 1


def test_many_at_once_share_a_few_and_all_are_answered(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_module, "AT_ONCE", 2)

    async def many() -> list[Probing]:
        code = code_of(service="def f(x): return x * x\n")
        return list(await asyncio.gather(*(boxed().probe(code, [f"f({n})"]) for n in range(20))))

    assert [found.answers[0].text for found in asyncio.run(many())] == [str(n * n) for n in range(20)]
    assert pool.count == 2


def test_who_is_left_with_memory_in_use_does_no_more_runs(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(PASSES, warm()).passed
    before = pool.free[0]
    monkeypatch.setattr(warm_module, "SPARE", 0)
    assert run(PASSES, warm()).passed
    counted = before.group is not None  # only a system that has control groups says how much is in use
    assert (pool.free[0] is not before, pool.count) == (counted, 1)


def until_gone(*pids: int) -> None:
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


def test_it_ends_with_its_owner() -> None:
    script = SCRIPT + "print(POOL.root.process.pid, flush=True)\nsys.stdin.read()\n"
    for end in (signal.SIGKILL, signal.SIGINT, None):
        with subprocess.Popen(
            [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as moot:
            assert moot.stdin is not None and moot.stdout is not None
            pid = int(moot.stdout.readline())
            inside = [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
            assert inside
            if end is not None:
                moot.send_signal(end)
            else:
                moot.stdin.close()
        until_gone(pid, *inside)
        if end is not signal.SIGKILL:
            assert not list(memory.GROUPS.glob(f"**/mootwarm-{moot.pid}-*"))
    assert isinstance(boxed(), Bubblewrap)


def test_a_forked_process_has_one_of_its_own() -> None:
    script = SCRIPT + (
        "first = POOL.root.process.pid\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert POOL.root is None and run() and POOL.root.process.pid != first\n"
        "    POOL.close()\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert run() and POOL.root.process.pid == first\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=dict(os.environ))
