"""Inside the sandbox: a warm interpreter, which forks a child for each run.

It has its own sandbox, reads nothing of any run and runs no untrusted code: for each run it creates a child in new
namespaces (users, processes, files, network, messages, names, groups). The child reads its errand, covers the writable
folders with empty ones, drops all rights for good and starts the run, of which it stays the first process. What a run
leaves behind ends with that process, and that process with this one.
"""

from __future__ import annotations

import array
import ctypes
import fcntl
import gc
import marshal
import os
import resource
import select
import signal
import socket
import struct
import sys
from types import CodeType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

PACKAGE = "moot.edge.sandbox.python.inside"
FIRST = (
    *("in_tree", "in_honest", "in_record", "in_script", "in_plain", "in_python", "in_values", "in_stand", "in_build"),
    *("in_link", "in_worker", "probe_python"),
)
CLONE = {"x86_64": 56, "aarch64": 220}
NETWORK = 0x40000000
APART = 0x00020000 | 0x08000000 | 0x20000000
"""Files, messages and processes: what the two halves of a run each need for themselves."""
NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000
NO_SUID, NO_DEVICES, NO_PROGRAMS, SAME_FILE = 2, 4, 8, 4096
JOIN_NEW_SESSION = 1
KEY_LISTS = ("/proc/keys", "/proc/key-users")
SET_DEATH_SIGNAL, SET_DUMPABLE, FILTER_CALLS, DROP_FROM_BOUNDS, NO_NEW_RIGHTS = 1, 4, 22, 24, 38
RIGHTS_VERSION = 0x20080522
UP_AND_RUNNING, SET_FLAGS = 0x1 | 0x40, 0x8914
BOX = "/box"
LINK = "MOOT_LINK"
REPORT = 3
BEGAN, TWIN, RUN, CALLS = b"began", b"twin", b"run", b"calls"
HANDLES = 4
MACHINE = os.uname().machine
KEPT = 200
"""File descriptors from here on are hidden from the run."""
libc = ctypes.CDLL(None, use_errno=True)
undisturbed = ctypes.PyDLL(None)
"""The same, for calls during which nothing else may run."""


def main(parts: dict[str, CodeType], control: int) -> None:
    """Serve requests for a twin, or as a twin for runs, until the other end is closed."""
    for name in FIRST:
        load(parts, name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.freeze()  # untouched pages are not copied
    link = socket.socket(fileno=control)
    link.send(BEGAN)
    while True:
        word, handles = _receive_request(link)
        if not word:
            os._exit(0)
        if word == TWIN and os.fork() == 0:
            link.close()
            link = _twin(handles)
            continue
        if word in (RUN, CALLS) and _clone_process(NAMESPACES | (NETWORK if word == RUN else 0)) == 0:
            _first_process(parts, link, handles, alone=word == CALLS)
        for handle in handles:
            os.close(handle)


def _twin(handles: list[int]) -> socket.socket:
    """The link of a new twin, which has entered its memory group; everything it starts is in there too."""
    libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    for group in handles[1:]:
        os.write(group, b"0")
        os.close(group)
    link = socket.socket(fileno=handles[0])
    link.send(BEGAN)
    return link


def load(parts: dict[str, CodeType], part: str) -> ModuleType:
    """A part under its original name; of its packages only the names exist."""
    names = PACKAGE.split(".")
    for depth in range(len(names)):
        sys.modules.setdefault(".".join(names[: depth + 1]), ModuleType(names[depth]))
    name = f"{PACKAGE}.{part}"
    if name not in sys.modules:
        module = sys.modules[name] = ModuleType(name)
        module.__file__ = f"{BOX}/run/{name.replace('.', '/')}.py"
        setattr(sys.modules[PACKAGE], part, module)
        # moot: ignore[python-eval] the parts are Moot's own modules, handed into the sandbox
        exec(parts[part], vars(module))
    return sys.modules[name]


def _receive_request(link: socket.socket) -> tuple[bytes, list[int]]:
    """The request and its file descriptors: a run's link, errand, report and output."""
    numbers = array.array("i")
    word, said, _, _ = link.recvmsg(16, socket.CMSG_SPACE(HANDLES * numbers.itemsize))
    for _, _, data in said:
        numbers.frombytes(data)
    return word, list(numbers)


def _clone_process(namespaces: int) -> int:
    """A fork into new namespaces; Python is notified as for a fork."""
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    pid = undisturbed.syscall(CLONE[MACHINE], namespaces | signal.SIGCHLD, 0, 0, 0, 0)
    (python.PyOS_AfterFork_Child if pid == 0 else python.PyOS_AfterFork_Parent)()
    return int(pid)


def _first_process(parts: dict[str, CodeType], control: socket.socket, handles: list[int], *, alone: bool) -> NoReturn:
    """`alone`: it is the run itself, which starts no process, and has no network because it has no sockets."""
    link, status = handles[0], 1
    try:
        control.close()
        libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        errand = marshal.loads(_whole(handles[1]))
        _own_view(errand["tmpfs"])
        if not alone:
            _own_loopback()
        if errand["worker"]:
            _start_apart(parts, errand, handles)
        _take_new_keyring(errand)
        _no_rights()
        _filter_calls(errand["filter"])
        os.write(link, BEGAN)
        if alone:
            link = fcntl.fcntl(link, fcntl.F_DUPFD_CLOEXEC, KEPT)
            ended = _run(parts, errand, handles)  # a run that is alone has no other half
        else:
            ended = _run_watched(parts, errand, handles, link)
        os.write(link, struct.pack("i", ended))
        # Wait until its identity is known for certain.
        os.read(link, 1)
        status = 0
    except BaseException as problem:
        os.write(link, f"{type(problem).__name__}: {problem}".encode()[:1000])
    finally:
        os._exit(status)


def _start_apart(parts: dict[str, CodeType], errand: dict[str, Any], handles: list[int]) -> None:
    """The code under test in its own namespaces: it sees neither the tests nor their processes."""
    here, there = socket.socketpair()
    if _clone_process(APART) == 0:
        status = 1
        try:
            libc.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            here.close()
            _own_places(errand["tmpfs"])
            _take_new_keyring(errand)
            _no_rights()
            _filter_calls(errand["filter"])
            nothing = os.open("/dev/null", os.O_WRONLY)
            status = _run(parts, errand["worker"], [*handles[:2], nothing, handles[3]], there.detach())
        finally:
            os._exit(status)
    there.close()
    errand["link"] = here.detach()


def _whole(handle: int) -> bytes:
    parts = []
    while part := os.read(handle, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _run_watched(parts: dict[str, CodeType], errand: dict[str, Any], handles: list[int], link: int) -> int:
    """The run in a second process, which can neither kill nor inspect the first."""
    signal.signal(signal.SIGCHLD, _note_child)
    # The only signal that Python handles; no other can reach the first process from inside.
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    runner = os.fork()
    if runner == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, usual)
        os.setsid()
        os._exit(_run(parts, errand, handles, errand.get("link")))
    libc.prctl(SET_DUMPABLE, 0, 0, 0, 0)
    for handle in (0, 1, 2, *handles[2:4], *([errand["link"]] if "link" in errand else [])):
        os.close(handle)
    return _outcome(runner, link)


def _own_view(size: int) -> None:
    """An isolated view: no process, folder or network of another run."""
    for name, text in (("setgroups", "deny"), ("uid_map", "65534 65534 1"), ("gid_map", "65534 65534 1")):
        _write(f"/proc/self/{name}", text)
    _own_places(size)
    _mount("devpts", "/dev/pts", "devpts", NO_SUID | NO_PROGRAMS, "newinstance,ptmxmode=0666,mode=620")
    _write("/proc/sys/user/max_user_namespaces", "0")


def _own_places(size: int) -> None:
    _mount("proc", "/proc", "proc", NO_SUID | NO_DEVICES | NO_PROGRAMS, "")
    for path in KEY_LISTS:
        if os.path.exists(path):
            _mount("/dev/null", path, "none", SAME_FILE, "")
    for folder in ("/dev/shm", "/tmp", BOX):
        _mount("tmpfs", folder, "tmpfs", NO_SUID | NO_DEVICES, f"mode=0755,size={size}")


def _own_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh14x", b"lo", UP_AND_RUNNING))


def _take_new_keyring(errand: dict[str, Any]) -> None:
    """If that fails it keeps its parent's keyring, which is not the user's, and empty."""
    libc.syscall(errand["keyctl"], JOIN_NEW_SESSION, None)


def _filter_calls(program: bytes) -> None:
    """From now on only the system calls in `seccomp`. A run that is alone gets no sockets: cheaper than its own network
    namespace, which takes a fifth of a short run's time."""
    kept = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(kept))
    if libc.prctl(FILTER_CALLS, 2, header, 0, 0):
        raise OSError(ctypes.get_errno(), "system calls cannot be filtered")


def _mount(source: str, target: str, kind: str, flags: int, options: str) -> None:
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, options.encode()):
        raise OSError(ctypes.get_errno(), f"{kind} cannot be mounted on {target}")


def _write(path: str, text: str) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        os.write(handle, text.encode())
    finally:
        os.close(handle)


def _no_rights() -> None:
    """Irrevocable: neither setuid programs nor new namespaces restore rights."""
    number = 0
    while libc.prctl(DROP_FROM_BOUNDS, number, 0, 0, 0) == 0:
        number += 1
    header, none = struct.pack("Ii", RIGHTS_VERSION, 0), bytes(24)
    if number == 0 or libc.prctl(NO_NEW_RIGHTS, 1, 0, 0, 0) or libc.capset(header, none):
        raise OSError(ctypes.get_errno(), "the rights cannot be given up")


def _note_child(*_: object) -> None:
    """A child ended; the handle below wakes `select`."""


def _outcome(runner: int, link: int) -> int:
    """The exit status of the run, as a shell reports it. Reaps all orphans."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    while True:
        while ended := _reap_child():
            if ended[0] == runner:
                code = os.waitstatus_to_exitcode(ended[1])
                return code if code >= 0 else 128 - code
        if link in select.select([reading, link], [], [])[0]:
            os._exit(1)  # nobody waits for us any more
        os.read(reading, 512)


def _reap_child() -> tuple[int, int] | None:
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def _run(parts: dict[str, CodeType], errand: dict[str, Any], handles: list[int], link: int | None = None) -> int:
    """Become the run: its handles, limits, files and folder. Returns its exit status."""
    nothing, report, output = os.open("/dev/null", os.O_RDONLY), os.dup(handles[2]), os.dup(handles[3])
    if link is not None:
        link = fcntl.fcntl(link, fcntl.F_DUPFD, KEPT)
    for source, target in ((nothing, 0), (output, 1), (output, 2), (report, REPORT)):
        os.dup2(source, target)
    os.closerange(REPORT + 1, KEPT)
    if link is not None:
        os.dup2(link, REPORT + 1)
        os.close(link)
        os.environ[LINK] = str(REPORT + 1)
    os.mkdir(f"{BOX}/work")
    os.mkdir(f"{BOX}/run")
    for name, text in errand["files"].items():
        _write_file(f"{BOX}/{name}", text)
    os.chdir(f"{BOX}/work")
    for kind, limits in errand["limits"]:
        resource.setrlimit(getattr(resource, kind), limits)
    return _status(parts, errand)


def _write_file(path: str, data: bytes) -> None:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    while data:
        data = data[os.write(handle, data) :]
    os.close(handle)


def _status(parts: dict[str, CodeType], errand: dict[str, Any]) -> int:
    """The runner's exit status, as if it had been started for this run alone."""
    for part in errand["parts"]:
        load(parts, part)
    runner: Any = load(parts, errand["runner"])
    runner.__file__ = f"{BOX}/run/{errand['runner']}.py"
    sys.modules["__main__"] = runner
    if not errand["parts"]:
        for name in [name for name in sys.modules if name.partition(".")[0] == "moot"]:
            del sys.modules[name]
    sys.argv = [f"../run/{errand['runner']}.py"]
    try:
        status: int = runner.run(errand["spec"])
    except SystemExit as problem:
        status = problem.code if isinstance(problem.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            status = status or 120
    return status
