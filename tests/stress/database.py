"""A PostgreSQL behind a proxy on loopback: restarted, killed -9, failed over to a replica, or cut off."""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import postgres

from stress.proxy import Proxy

SPEED = ("fsync=off", "full_page_writes=off", "synchronous_commit=on", "max_connections=200")
"""What was committed survives the death of the server, not that of the machine."""
BOTH = ("synchronous_standby_names=*",)
"""A commit counts once the replica has it too."""


@dataclass
class Database:
    folder: Path
    proxy: Proxy

    @property
    def through(self) -> str:
        """As processes reach it."""
        return self.by(self.proxy)

    def by(self, proxy: Proxy) -> str:
        return f"postgresql://moot@127.0.0.1:{proxy.port}/postgres?sslmode=disable&gssencmode=disable"

    @property
    def direct(self) -> str:
        return postgres.url_of(self.folder)

    def restart(self) -> None:
        postgres.stop(self.folder)
        postgres.start(self.folder, SPEED)

    def kill(self) -> None:
        """Of a sudden, with all its processes."""
        master = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        processes = [master, *children(master)]
        for pid in processes:
            with suppress(ProcessLookupError):  # one that served a client may just have ended
                os.kill(pid, signal.SIGKILL)
        while any(is_alive(pid) for pid in processes):
            time.sleep(0.01)

    def start(self) -> None:
        postgres.start(self.folder, SPEED)

    def fail_over(self, replica: Path) -> None:
        """The server is gone for good, the replica takes its place, and the address leads to it."""
        self.kill()
        postgres.control(replica, "-w", "promote")
        self.folder = self.proxy.to = replica
        self.proxy.cut()


def children(master: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == master:
            found.append(int(stat.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@contextmanager
def database() -> Iterator[Database]:
    with ExitStack() as stack:
        folder = postgres.new_folder()
        stack.callback(postgres.remove, folder)
        postgres.start(folder, SPEED)
        stack.callback(stop_if_running, folder)
        yield Database(folder, stack.enter_context(Proxy(folder)))


@contextmanager
def replica_of(primary: Database) -> Iterator[Path]:
    """A server that has each commit before its client does."""
    folder = postgres.new_folder()
    try:
        postgres.copy_server(primary.folder, folder)
        postgres.start(folder, SPEED)
        postgres.stop(primary.folder)
        postgres.start(primary.folder, (*SPEED, *BOTH))
        yield folder
    finally:
        stop_if_running(folder)
        postgres.remove(folder)


def stop_if_running(folder: Path) -> None:
    pid = folder / "data" / "postmaster.pid"
    if pid.exists() and re.match(r"\d+", text := pid.read_text()) and is_alive(int(text.split()[0])):
        postgres.stop(folder)
