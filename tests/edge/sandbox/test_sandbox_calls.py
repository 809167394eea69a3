"""The filter of system calls, call by call: as a table, as a program for the kernel, and inside every sandbox."""

import asyncio
import errno
import json
import os
import re
import struct
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from filter_machine import run_filter
from sandbox_runs import boxed, code_of, cold, run, run_script, warm

from moot.core.errors import SandboxError
from moot.core.types import Tests
from moot.edge.sandbox import seccomp
from moot.edge.sandbox.bubblewrap import trial
from moot.edge.sandbox.python import warm_run
from moot.edge.sandbox.python.warm import POOL
from moot.edge.sandbox.seccomp import ALLOW, ERROR, KILL, KINDS, RULES, container_profile, filter_program
from moot.edge.sandbox.syscalls import ALLOWED, MACHINES, REFUSED, numbers

EVERY = pytest.mark.parametrize("machine", MACHINES)
X32 = 0x40000000
HIGHEST = 600
OWN_ANSWER = {"x86_64": {335, 336}, "aarch64": set[int]()}
"""`uretprobe` and `uprobe`: newer kernels ask no filter about them, and end whoever calls them by himself."""
MUST_BE_REFUSED = {
    "keyctl", "add_key", "request_key", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp",
    "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "setns", "unshare", "name_to_handle_at", "open_by_handle_at", "bpf", "perf_event_open",
    "userfaultfd", "seccomp", "init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load",
    "quotactl", "swapon", "swapoff", "reboot", "acct", "syslog", "fanotify_init", "fanotify_mark", "settimeofday",
    "clock_settime", "adjtimex", "sethostname", "setdomainname", "mbind", "migrate_pages", "move_pages",
}  # fmt: skip
"""Not taken from the table that is tested."""
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def verdict(machine: str, number: int, *args: int, kind: int | None = None, sockets: bool = True) -> int:
    program = filter_program(machine=machine, sockets=sockets)
    return run_filter(program, number, KINDS[machine] if kind is None else kind, args)


def refused(error: int) -> int:
    return ERROR | error


@EVERY
def test_the_numbers_are_those_of_the_kernel(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"not run: {header} is not installed")
    text = header.read_text()
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    known["newfstatat"] = known.pop("fstatat", known.get("newfstatat", 0))
    table = {**numbers(ALLOWED, machine), **numbers(REFUSED, machine)}
    # The header may be older than the newest calls.
    wrong = {name: number for name, number in table.items() if known.get(name, number) != number}
    assert wrong == {}
    assert len(set(known) & set(table)) > 250


@EVERY
def test_no_call_is_named_twice(machine: str) -> None:
    allowed, no = numbers(ALLOWED, machine), numbers(REFUSED, machine)
    assert not set(allowed) & set(no) and not set(allowed.values()) & set(no.values())
    assert len(set(allowed.values())) == len(allowed) and len(set(no.values())) == len(no)
    assert set(no) >= MUST_BE_REFUSED
    assert not set(allowed) & {"clone3", "io_uring_setup", "io_uring_enter", "io_uring_register", "vmsplice"}


@EVERY
def test_every_call_gets_its_verdict(machine: str) -> None:
    allowed, no = numbers(ALLOWED, machine), numbers(REFUSED, machine)
    for name, number in allowed.items():
        if name not in RULES:
            assert verdict(machine, number) == ALLOW, name
    for name, number in no.items():
        assert verdict(machine, number) == refused(errno.EPERM), name
    rest = set(range(2000)) - {*allowed.values(), *no.values()}
    rest |= {X32, X32 + 1, X32 + 41, X32 | 0x7FFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF}
    assert {verdict(machine, number) for number in rest} == {refused(errno.ENOSYS)}


@EVERY
@pytest.mark.parametrize("kind", [0x40000003, 0x40000028, 0, 0xFFFFFFFF])
def test_calls_of_another_kind_end_the_process(machine: str, kind: int) -> None:
    """32 bit ones have other numbers: what is `read` here is something else there."""
    assert {verdict(machine, number, kind=kind) for number in range(500)} == {KILL}
    other = next(each for name, each in KINDS.items() if name != machine)
    assert verdict(machine, 0, kind=other) == KILL


ARGUMENTS: list[tuple[str, tuple[int, ...], int]] = [
    *[("socket", (family, 1, 0), 0) for family in (1, 2, 10)],
    *[("socket", (2, kind, protocol), 0) for kind in (1, 2, 1 | 0o2000000, 2 | 0o4000) for protocol in (0, 6, 17)],
    *[("socket", (family, 1, 0), errno.EAFNOSUPPORT) for family in range(256) if family not in (1, 2, 10)],
    *[("socket", (family | 1 << 32, 1, 0), errno.EAFNOSUPPORT) for family in (16, 17, 38, 40)],
    ("socket", (0xFFFFFFFF, 1, 0), errno.EAFNOSUPPORT),
    ("socket", (2, 3, 1), errno.ESOCKTNOSUPPORT),
    ("socket", (2, 6, 33), errno.ESOCKTNOSUPPORT),
    *[("socket", (2, 1, protocol), errno.EPROTONOSUPPORT) for protocol in (33, 132, 136, 256, 262)],
    ("socketpair", (1, 1, 0), 0),
    *[("socketpair", (family, 1, 0), errno.EAFNOSUPPORT) for family in range(256) if family != 1],
    ("clone", (17,), 0),
    ("clone", (0x003D0F00,), 0),
    *[("clone", (17 | 1 << bit,), errno.EPERM) for bit in (17, 25, 26, 27, 28, 29, 30)],
    ("clone", (0x10000000 | 7 << 32,), errno.EPERM),
    *[("ioctl", (0, command), 0) for command in (0x5401, 0x5411, 0x5413, 0x541B, 0x5421, 0x5424, 0x8912)],
    *[("ioctl", (0, command), errno.EPERM) for command in (0x5412, 0x541C, 0x541D, 0x5423)],
    *[("ioctl", (0, command | 5 << 32), errno.EPERM) for command in (0x5412, 0x541C)],
    *[("prctl", (option,), 0) for option in (1, 4, 15, 23, 38, 0x53564D41)],
    *[("prctl", (option,), errno.EINVAL) for option in (22, 28, 35, 59, 62, 0x59616D61, 1000)],
    *[("personality", (kind,), 0) for kind in (0, 0x40000, 0xFFFFFFFF)],
    *[("personality", (kind,), errno.EPERM) for kind in (0x400000, 0x100000, 0x440000, 8, 0x20000)],
]  # fmt: skip


@EVERY
def test_arguments_decide_too(machine: str) -> None:
    table = numbers(ALLOWED, machine)
    for name, args, error in ARGUMENTS:
        expected = refused(error) if error else ALLOW
        assert verdict(machine, table[name], *args) == expected, (name, args)
    assert {name for name, _, _ in ARGUMENTS} == set(RULES)


@EVERY
def test_who_shares_a_process_has_no_socket_at_all(machine: str) -> None:
    for name, args in product(("socket", "socketpair"), [(1, 1, 0), (2, 2, 0), (40, 1, 0)]):
        number = numbers(ALLOWED, machine)[name]
        assert verdict(machine, number, *args, sockets=False) == refused(errno.EPERM)
    assert verdict(machine, numbers(ALLOWED, machine)["read"], sockets=False) == ALLOW


@EVERY
@pytest.mark.parametrize("sockets", [True, False])
def test_the_kernel_can_take_the_program(machine: str, sockets: bool) -> None:
    steps = list(struct.iter_unpack("=HBBI", filter_program(machine=machine, sockets=sockets)))
    assert 10 < len(steps) < 4096
    for place, (code, yes, no, value) in enumerate(steps):
        skips = (value,) if code == 0x05 else (yes, no)
        assert code == 0x06 or all(place + 1 + skip < len(steps) for skip in skips), place


def test_a_machine_without_a_table_gets_no_sandbox() -> None:
    for make in (filter_program, container_profile):
        with pytest.raises(SandboxError, match="no filter of system calls is known for the machine 's390x'"):
            make(machine="s390x")


def decide(profile: dict[str, Any], name: str, args: Sequence[int]) -> int:
    """As an engine's library decides: a rule whose arguments all fit, else the default."""
    for rule in profile["syscalls"]:
        if name in rule["names"] and all(_fits(part, args) for part in rule.get("args", ())):
            return ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else refused(rule["errnoRet"])
    return refused(profile["defaultErrnoRet"])


def _fits(part: dict[str, Any], args: Sequence[int]) -> bool:
    assert part["op"] == "SCMP_CMP_MASKED_EQ"
    given = args[part["index"]] if part["index"] < len(args) else 0
    return bool(given & part["value"] == part["valueTwo"])


@EVERY
def test_a_container_gets_the_same_rules(machine: str) -> None:
    profile = json.loads(container_profile(machine=machine))
    assert (profile["defaultAction"], profile["architectures"]) == ("SCMP_ACT_ERRNO", [f"SCMP_ARCH_{machine.upper()}"])
    for name, number in {**numbers(ALLOWED, machine), **numbers(REFUSED, machine)}.items():
        if name not in RULES:
            assert decide(profile, name, ()) == verdict(machine, number), name
    for name, args, error in ARGUMENTS:
        if name == "ioctl":
            continue  # an engine cannot say it, and a container of ours has no terminal
        assert (decide(profile, name, args) == ALLOW) is (error == 0), (name, args)
    assert decide(profile, "clone3", ()) == refused(errno.ENOSYS)


INSIDE = """
import ctypes, errno, fcntl, mmap, os, pty, signal, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    ctypes.set_errno(0)
    found = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(arg) for arg in args])
    return ctypes.get_errno() if found == -1 else 0
def wrong_numbers():
    found = [(name, call(number, *([0] * 6)), error) for name, number, error in TABLE]
    return [(name, got) for name, got, error in found if got != error]
def wrong_arguments(sockets=True):
    tried = [each for each in ARGUMENTS if sockets or "socket" not in each[0]]
    found = [(name, args, call(number, *args), error) for name, number, args, error in tried]
    return [(name, args, got) for name, args, got, error in found if got != error]
def killed_by(code):
    # Machine code that makes a call the 32 bit way.
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if child == 0:
        ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
def other_ways():
    found = []
    if os.uname().machine == "x86_64":
        for number in (20, 102, 288, 359):  # getpid, socketcall, keyctl, socket
            if killed_by(bytes([0x31, 0xDB, 0xB8]) + number.to_bytes(4, "little") + bytes([0xCD, 0x80, 0xC3])) != 31:
                found.append(f"int 0x80, {number}")
    main, other = pty.openpty()
    for command in (0x5412, 0x541C, 0x541D, 0x5423, 0x5412 | 1 << 32):
        if call({"x86_64": 16, "aarch64": 29}[os.uname().machine], other, command, id(b"x") + 32) != errno.EPERM:
            found.append(f"terminal, {command:#x}")
    return found
"""
WORKS = """
import asyncio, ctypes, mmap, os, resource, select, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time
import multiprocessing
libc = ctypes.CDLL(None, use_errno=True)
def test_processes():
    assert subprocess.run(["/bin/sh", "-c", "echo $((1 + 1)) | cat"], capture_output=True).stdout == b"2\\n"
    assert os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1] == 0
    child = os.fork()
    if child == 0: os._exit(3)
    handle = os.pidfd_open(child)
    select.select([handle], [], [], 30)
    assert os.waitid(os.P_PIDFD, handle, os.WEXITED).si_status == 3
def test_threads():
    found = []
    threads = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    assert sorted(found) == list(range(8))
def test_sockets_of_its_own():
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try: server = socket.create_server((address, 0), family=family)
        except OSError:
            assert family == socket.AF_INET6
            continue
        with server, socket.create_connection(server.getsockname()[:2]) as here:
            there, _ = server.accept()
            here.sendall(b"x")
            assert there.recv(1) == b"x"
            there.close()
    left, right = socket.socketpair()
    socket.send_fds(left, [b"x"], [0])
    assert socket.recv_fds(right, 1, 1)[0] == b"x"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as named: named.bind("/tmp/named")
def test_a_loop_with_a_process():
    async def main():
        child = await asyncio.create_subprocess_exec("/bin/echo", "x", stdout=-1)
        return (await child.communicate())[0]
    assert asyncio.run(main()) == b"x\\n"
def test_files():
    with tempfile.TemporaryDirectory() as folder:
        here, there = f"{folder}/a", f"{folder}/b"
        with open(here, "wb") as file: file.write(b"x" * 100)
        os.link(here, there); os.rename(there, here + "c"); os.symlink(here, there); os.chmod(here, 0o600)
        os.utime(here, (1, 1)); os.truncate(here, 50); os.mkfifo(f"{folder}/fifo"); os.sync()
        with open(here, "rb") as source, open(there + "d", "wb") as target:
            assert os.sendfile(target.fileno(), source.fileno(), 0, 50) == 50
            os.posix_fallocate(target.fileno(), 0, 60)
        assert os.stat(here).st_size == 50 and os.statvfs(folder).f_bsize and len(os.listdir(folder)) == 5
def test_memory():
    page = mmap.mmap(-1, 8192, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.madvise(mmap.MADV_DONTNEED)
    with open("/dev/shm/shared", "wb+") as file:
        file.truncate(4096)
        mmap.mmap(file.fileno(), 4096)[0:1] = b"x"
    with open(os.memfd_create("x"), "wb") as file: file.write(b"x")
def test_processes_of_a_pool():
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool: assert pool.map(abs, [-1, -2]) == [1, 2]
def test_signals_and_timers():
    signal.setitimer(signal.ITIMER_REAL, 0.01)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    assert signal.sigwait([signal.SIGALRM]) == signal.SIGALRM
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])
    time.sleep(0.001); os.getrandom(8); os.eventfd(0); select.epoll().close()
def test_the_process_itself():
    os.nice(1); os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 200)); os.uname(); os.getloadavg(); os.times()
    assert libc.prctl(15, b"name", 0, 0, 0) == 0 and libc.prctl(38, 1, 0, 0, 0) == 0
def test_a_database():
    with sqlite3.connect("/tmp/base") as base: base.execute("create table t (n)")
def test_that_not_all_is_refused_by_chance():
    assert libc.personality(0xFFFFFFFF) == 0
"""
SCRIPT = """
import asyncio, json, sys
from sandbox_runs import boxed, code_of, cold, suite_of, warm
from moot.edge.sandbox import probes
inside, works = json.loads(sys.stdin.read())
tried = ("wrong_numbers", "wrong_arguments", "other_ways")
test = "import calls\\n" + "".join(f"def test_{name}(): assert calls.{name}() == []\\n" for name in tried)
async def main():
    found = {}
    for make in (cold, warm):
        for kind, text in (("refused", test), ("works", works)):
            run = await make().run(code_of(calls=inside), suite_of(text, "test_calls.py"))
            failed = [f"{o.name}: {o.detail}" for o in run.outcomes if o.status != "passed"]
            found[f"{make.__name__}, {kind}"] = [run.problem, failed, len(run.outcomes)]
    probes.leaves_nothing = lambda texts, calls: True
    asked = ["wrong_numbers()", "wrong_arguments(sockets=False)", "other_ways()"]
    told = await boxed().probe(code_of(calls=inside), asked)
    failed = [a.text + a.detail for a in told.answers if a.text != "[]"]
    found["calls, refused"] = [told.problem, failed, len(told.answers)]
    return found
print(json.dumps(asyncio.run(main())))
"""


@pytest.mark.parametrize("ordinary", [False, True], ids=["root", "ordinary user"])
def test_inside_every_call_gets_what_the_table_says(ordinary: bool) -> None:
    if ordinary and os.geteuid() != 0:
        pytest.skip("not run: the tests are not run by root; the other case covers an ordinary user")
    machine = os.uname().machine
    allowed, no = numbers(ALLOWED, machine), numbers(REFUSED, machine)
    known = {*allowed.values(), *no.values()}
    table = [(name, number, errno.EPERM) for name, number in no.items()]
    known |= OWN_ANSWER[machine]
    table += [(str(number), number, errno.ENOSYS) for number in range(HIGHEST) if number not in known]
    table += [(f"x32 {number}", X32 + number, errno.ENOSYS) for number in range(HIGHEST)]
    arguments = [(name, allowed[name], args, error) for name, args, error in ARGUMENTS if error]
    inside = f"TABLE = {table!r}\nARGUMENTS = {arguments!r}\n{INSIDE}"
    said = json.loads(run_script(SCRIPT, json.dumps([inside, WORKS]), ordinary=ordinary))
    for way in ("cold", "warm"):
        assert said[f"{way}, refused"] == ["", [], 3]
        assert said[f"{way}, works"] == ["", [], WORKS.count("\ndef test_")]
    assert said["calls, refused"] == ["", [], 3]


def test_a_filter_that_the_kernel_does_not_take_means_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither way runs a test without its filter."""
    new, started = cold(), warm()
    monkeypatch.setattr(seccomp, "filter_program", lambda: bytes(8))
    monkeypatch.setattr(warm_run, "filter_program", lambda sockets: bytes(8))
    found = run("def test_a(): pass\n", new)
    assert not found.passed and not found.outcomes
    with pytest.raises(AssertionError, match="the run was lost"):
        run("def test_a(): pass\n", started)
    POOL.failures = 0
    # What bubblewrap says of it is its own, and may be cut off: its processes end each other.
    assert trial.__wrapped__().startswith("bubblewrap does not work here (")


def test_a_command_is_filtered_too() -> None:
    program = "import socket; socket.socket(40, 1)"
    ran = asyncio.run(boxed().command(code_of(), Tests(files=()), ["python3", "-c", program]))
    assert ran.status == 1 and "Address family not supported" in ran.err
