"""What a scenario is played on: a provider, a store, servers and workers, each a process of its own, all reached by
loopback, in a folder that is gone afterwards."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from fleetkit import Nursery, Worker
from fork_server import run_forked

from moot.core.ports import FORMAT
from stress.provider import Fault, orders

HERE = Path(__file__).parent
PACE = {"HEARTBEAT": "0.3", "DEAD_AFTER": "3", "SWEEP": "0.5", "DRAIN": "20"}
SERVER = {"MOOT_SERVER_RATE": "0", "MOOT_SERVER_HEARTBEAT": "2", "MOOT_SERVER_SESSIONS": "200"}
MODEL = "openai:fake"


class Stuck(Exception):
    """A state was not reached in time: a deadlock, until shown otherwise."""

    stacks = ""


class FakeProvider:
    def __init__(self, folder: Path) -> None:
        self.log = folder / "provider.log"
        env = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        command = [sys.executable, str(HERE / "provider.py"), str(self.log)]
        self._process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def order(self, latency: float, *faults: Fault) -> None:
        """From now on."""
        body = json.dumps(orders(latency, faults)).encode()
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/control", body, timeout=60).close()

    def count(self) -> int:
        """How many requests there were."""
        return self.log.read_text().count('"at"')

    def end(self) -> None:
        with self._process:
            self._process.kill()


@dataclass
class Stand:
    folder: Path
    store: str
    """As the checks reach it: past every proxy."""
    nursery: Nursery
    provider: FakeProvider
    started: list[Worker] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self, store: str = "", **settings: str) -> dict[str, str]:
        own = {"OPENAI_BASE_URL": f"http://127.0.0.1:{self.provider.port}/v1", "OPENAI_API_KEY": "no-key-is-needed"}
        paced = {f"MOOT_FLEET_{name}": value for name, value in PACE.items()}
        kept = {f"XDG_{kind}_HOME": str(self.folder / kind.lower()) for kind in ("DATA", "CONFIG")}
        place = {"MOOT_STORE": store or self.store, "CALLS": str(self.folder / "calls.log"), "MOOT_MODEL": MODEL}
        return {**os.environ, **own, **SERVER, **paced, **kept, **place, **self.settings, **settings}

    def moot(self, *words: str, size: int = 0) -> "subprocess.CompletedProcess[str]":
        """`moot WORDS` until it ends; `size`: no file may grow beyond so many bytes."""
        env = self.environment()
        if not size:
            return run_forked(words, self.folder, env)
        limit = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
        call = f"from moot.__main__ import run; raise SystemExit(run({list(words)!r}, debug=False))"
        return run_forked((), self.folder, env, python=f"{limit}; {call}")

    def start(self, words: Sequence[str], store: str = "", **settings: str) -> Worker:
        """`moot WORDS`, on the store as this process is to reach it."""
        err = self.folder / f"{words[0]}-{len(self.started)}.err"
        env = self.environment(store, **settings)
        made = Worker(self.nursery.start(words, env, err, FORMAT), err)
        self.started.append(made)
        return made

    def serve(self, store: str = "", port: int = 0, **settings: str) -> "Served":
        server = self.start(("serve", "--port", str(port), "--no-token", "--quiet"), store, **settings)
        self.wait("the server answers", lambda: "moot serves" in server.said or not server.alive)
        found = re.search(r"moot serves (http://127\.0\.0\.1:(\d+))", server.said)
        assert found, server.said
        return Served(server, found[1], int(found[2]))

    def worker(self, store: str = "", concurrency: int = 20, **settings: str) -> Worker:
        return self.start(("worker", "--concurrency", str(concurrency)), store, **settings)

    def wait(self, what: str, true: Callable[[], bool], seconds: float = 120.0) -> None:
        until = time.monotonic() + seconds
        while not true():
            if time.monotonic() > until:
                raise Stuck(what)
            time.sleep(0.02)

    def dump(self) -> str:
        """The stacks of all threads of all processes that are alive: where they stand when nothing moves."""
        alive = [each for each in self.started if each.alive]
        for each in alive:
            each.signal(signal.SIGUSR1)
        time.sleep(0.5)
        return "\n".join(f"--- process {each.pid}\n{each.said[-6000:]}" for each in alive)

    def end(self) -> list[str]:
        """End all, and tell what they said that they should not have."""
        for each in self.started:
            if each.alive:
                each.signal(signal.SIGCONT)
                each.signal(signal.SIGTERM)
        until = time.monotonic() + 40
        while any(each.alive for each in self.started) and time.monotonic() < until:
            time.sleep(0.05)
        late = [f"process {each.pid} did not end on SIGTERM" for each in self.started if each.alive]
        for each in self.started:
            if each.alive:
                each.kill()
        self.provider.end()
        return late + [
            f"a traceback of {each.err.name}: {tail(each.said)}" for each in self.started if broke(each.said)
        ]


def broke(said: str) -> bool:
    return "Traceback" in said


def tail(said: str) -> str:
    return said[said.rindex("Traceback") :][-1500:]


@dataclass
class Served:
    process: Worker
    url: str
    port: int


@contextmanager
def opened(folder: Path, store: str, nursery: Nursery, **settings: str) -> Iterator[Stand]:
    stand = Stand(folder, store, nursery, FakeProvider(folder), settings=settings)
    try:
        yield stand
    except Stuck as stuck:
        stuck.stacks = stand.dump()
        raise
    finally:
        stand.end()


@dataclass(frozen=True)
class Size:
    """What a process holds."""

    memory: float
    """Megabytes, with what its allocators keep from its busiest moment."""
    files: int
    threads: int
    tasks: int
    blocks: int
    """Of memory, that Python objects take."""
    heap: float
    """Megabytes in use outside of these blocks."""

    @classmethod
    def of(cls, process: Worker) -> Self:
        status = Path(f"/proc/{process.pid}/status").read_text()
        before = process.said.count('{"tasks"')
        process.signal(signal.SIGUSR2)
        while process.said.count('{"tasks"') == before:
            time.sleep(0.01)
        held = json.loads(re.findall(r'\{"tasks".*\}', process.said)[-1])
        memory = re.search(r"VmRSS:\s+(\d+)", status)
        assert memory is not None
        files = len(os.listdir(f"/proc/{process.pid}/fd"))
        return cls(int(memory[1]) / 1024, files, **held)
