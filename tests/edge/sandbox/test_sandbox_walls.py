"""The ways out that hostile code tries, all at once: as root, and as an ordinary user."""

import json
import os
import socket
from collections.abc import Callable, Iterator

import pytest
from sandbox_runs import BOTH, local, marker, run, run_script, running, statuses, until

from moot.core.ports import Sandbox

Make = Callable[..., Sandbox]
WALLS = """
import ctypes, errno, glob, os, resource, signal, socket, stat, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
PORT, SECRET, OUTSIDE = {port}, {secret!r}, {outside}
def refused(action, *args):
    try: action(*args)
    except OSError: return True
    return False
def test_no_datagram_gets_out():
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    assert refused(sender.sendto, b"out", ("192.0.2.1", 53))
    try: sender.sendto(b"out", ("127.0.0.1", PORT))
    except OSError: pass
def test_no_name_is_resolved():
    assert refused(socket.getaddrinfo, "example.org", 80)
def test_no_route_and_no_neighbour():
    assert [line.split(":")[0].strip() for line in list(open("/proc/net/dev"))[2:]] == ["lo"]
    assert refused(socket.create_connection, ("192.0.2.1", 80), 5)
def test_no_raw_packets():
    assert refused(socket.socket, socket.AF_INET, socket.SOCK_RAW, 1)
    assert refused(socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
def test_no_abstract_socket_of_others():
    assert open("/proc/net/unix").read().count("@") == 0
def test_no_process_of_others():
    numbers = {{int(name) for name in os.listdir("/proc") if name.isdigit()}}
    assert OUTSIDE not in numbers or max(numbers) < 100
    words = b"".join(open(path, "rb").read() for path in glob.glob("/proc/[0-9]*/cmdline"))
    assert SECRET.encode() not in words
def test_the_first_process_shows_nothing():
    for name in ("environ", "mem", "maps"):
        try: assert SECRET.encode() not in open(f"/proc/1/{{name}}", "rb").read(4096)
        except OSError: pass
    try: root = os.listdir("/proc/1/root")
    except OSError: root = []
    assert sorted(root) in ([], sorted(os.listdir("/")))
def test_no_tracing_of_others():
    assert OUTSIDE < 100 or libc.ptrace(16, OUTSIDE, 0, 0) == -1
def test_no_signal_to_the_parent_ends_the_run():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSTOP, signal.SIGKILL):
        try: os.kill(1, number)
        except OSError: pass
def test_no_namespace():
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert libc.unshare(flag) == -1, hex(flag)
def test_no_namespace_of_others():
    for path in glob.glob("/proc/1/ns/*"):
        try: handle = os.open(path, os.O_RDONLY)
        except OSError: continue
        own = os.stat("/proc/self/ns/" + path.split("/")[-1])
        assert libc.setns(handle, 0) == -1 or os.stat(path).st_ino == own.st_ino
def test_no_chroot_no_mount_no_device():
    assert refused(os.chroot, "/tmp") and refused(os.mknod, "/tmp/null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1 and libc.umount2(b"/proc", 2) == -1
    assert refused(os.open, "/dev/kmsg", os.O_RDONLY) and not glob.glob("/dev/sd*") and not glob.glob("/dev/vd*")
def test_no_other_user():
    assert refused(os.setuid, 0) and refused(os.setgid, 0) and refused(os.setgroups, [0])
    assert refused(os.chown, "/tmp", 0, 0)
def test_setuid_programs_give_nothing():
    with open("/tmp/id", "wb") as copy: copy.write(open("/usr/bin/id", "rb").read())
    os.chmod("/tmp/id", 0o4755)
    uids = {{subprocess.run(["/tmp/id", "-u"], capture_output=True, text=True).stdout.strip()}}
    for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
        if os.path.exists(path):
            assert subprocess.run([path, "-c", "true"], stdin=-3, capture_output=True).returncode != 0
    assert uids == {{"65534"}}
def test_limits_do_not_rise():
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU):
        hard = resource.getrlimit(kind)[1]
        assert hard != resource.RLIM_INFINITY
        try: resource.setrlimit(kind, (hard + 1, hard + 1))
        except (ValueError, OSError): continue
        assert False, kind
def test_no_priority_and_no_clock():
    assert refused(os.nice, -5) and refused(time.clock_settime, time.CLOCK_REALTIME, 0)
def test_no_kernel_setting():
    assert refused(open, "/proc/sys/kernel/hostname", "w") and refused(open, "/proc/sysrq-trigger", "w")
    assert refused(open, "/proc/self/oom_score_adj", "w") or open("/proc/self/oom_score_adj").read().strip() != "-1000"
def test_no_terminal_and_no_input():
    assert refused(open, "/dev/tty") and sys.stdin.read() == ""
def test_no_handle_of_the_runner():
    handles = [f"/proc/self/fd/{{number}}" for number in os.listdir("/proc/self/fd")]
    known = {{os.readlink(handle) for handle in handles if os.path.exists(handle)}}
    assert not [path for path in known if path.startswith(("/home", "/root", "/var", "/work", "socket:"))]
"""


@pytest.fixture
def datagrams() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.setblocking(False)
        yield receiver


def walls(datagrams: socket.socket) -> str:
    return WALLS.format(port=datagrams.getsockname()[1], secret=marker(), outside=os.getpid())


def assert_contained(results: dict[str, str], datagrams: socket.socket) -> None:
    assert len(results) == WALLS.count("\ndef test_")
    assert {name: detail for name, detail in results.items() if detail} == {}
    with pytest.raises(BlockingIOError):
        datagrams.recv(10)


@BOTH
def test_the_walls_hold(make: Make, datagrams: socket.socket) -> None:
    suite = run(walls(datagrams), make())
    assert suite.problem == ""
    assert_contained({o.name: "" if o.status == "passed" else o.detail for o in suite.outcomes}, datagrams)


@pytest.mark.parametrize("make", ["cold", "warm"])
def test_the_walls_hold_for_an_ordinary_user(make: str, datagrams: socket.socket) -> None:
    """Where the tests are run by an ordinary user, the test above is this one."""
    if os.geteuid() != 0:
        pytest.skip("not run: the tests are not run by root; test_the_walls_hold covers an ordinary user")
    script = (
        f"import asyncio, json, sys\nfrom sandbox_runs import {make}\nfrom moot.core.types import Code, Tests\n"
        f"run = asyncio.run({make}().run(Code(files=()), Tests(files=(('test_a.py', sys.stdin.read()),))))\n"
        "print(json.dumps([run.problem, {o.name: '' if o.status == 'passed' else o.detail for o in run.outcomes}]))\n"
    )
    problem, results = json.loads(run_script(script, walls(datagrams), ordinary=True))
    assert problem == ""
    assert_contained(results, datagrams)


def test_a_datagram_is_no_trick_of_the_test(datagrams: socket.socket) -> None:
    """Without the sandbox the same line reaches us. Never run the walls themselves like that."""
    line = f'sendto(b"out", ("127.0.0.1", {datagrams.getsockname()[1]}))'
    assert line.replace(str(datagrams.getsockname()[1]), "PORT") in WALLS
    test = f"import socket\ndef test_a(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).{line}\n"
    assert run(test, local()).passed
    assert datagrams.recv(10) == b"out"


KILLERS = {
    "its parent": "import os, signal\ndef double(n):\n    os.kill(os.getppid(), signal.SIGKILL)\n    return 0\n",
    "everything": "import os, signal\ndef double(n):\n    os.kill(-1, signal.SIGKILL)\n    return 0\n",
    "its group": "import os, signal\ndef double(n):\n    os.killpg(0, signal.SIGKILL)\n    return 0\n",
    "stops itself": "import os, signal\ndef double(n):\n    os.kill(os.getpid(), signal.SIGSTOP)\n    return 0\n",
}


@BOTH
@pytest.mark.parametrize("who", KILLERS)
def test_killing_the_runner_is_no_pass(make: Make, who: str) -> None:
    test = "import service\ndef test_a(): assert service.double(2) == 4\n"
    assert run(test, make(wall=6), service=KILLERS[who]).passed is False
    assert run("def test_next(): pass\n", make()).passed, "the next run must be as good as any"


@BOTH
def test_many_small_files_do_not_fill_the_memory(make: Make) -> None:
    test = """
def test_full():
    count = 0
    try:
        for count in range(1_000_000):
            with open(f"/dev/shm/{count}", "wb", buffering=0) as file: file.write(bytes(4096))
    except OSError: pass
    assert 0 < count < 20_000
"""
    assert run(test, make(tmpfs=16 * 1024 * 1024)).passed


@BOTH
def test_memory_taken_by_files_in_every_folder_is_limited(make: Make) -> None:
    test = """
def fill(folder):
    for number in range(1000):
        with open(f"{folder}/fill{number}", "wb") as file: file.write(bytes(1_000_000))
def test_full():
    full = 0
    for folder in (".", "/tmp", "/dev/shm", "..", "../run"):
        try: fill(folder)
        except OSError: full += 1
    assert full == 5
"""
    suite = run(test, make(tmpfs=24 * 1024 * 1024))
    assert suite.passed, suite


@BOTH
@pytest.mark.parametrize(
    "way", ["os.write(2, data)", "sys.__stdout__.buffer.write(data)", "os.system('yes | head -c 1000000')"]
)
def test_an_output_flood_is_cut_whichever_way_it_comes(make: Make, way: str) -> None:
    test = (
        f"import os, sys\ndef test_a():\n    data = b'x' * 100_000\n    for _ in range(100): {way}\n    assert False\n"
    )
    suite = run(test, make(output=5_000))
    assert statuses(suite) == ["failed"]
    assert len(suite.outcomes[0].detail) < 5_000


@BOTH
def test_a_daemon_that_hides_is_gone_too(make: Make) -> None:
    mark = marker()
    test = f"""
import os, time
def test_daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for handle in range(64):
                try: os.close(handle)
                except OSError: pass
            os.execvp("sleep", ["sleep", "{mark}"])
        os._exit(0)
    os.wait()
    while not any(open(f"/proc/{{n}}/comm").read() == "sleep\\n" for n in os.listdir("/proc") if n.isdigit()): pass
"""
    assert run(test, make()).passed
    until(lambda: not running(mark))
