"""A nursery of workers and servers: everything is imported once, and each line of JSON on stdin, {"words", "env",
"err", "format"}, forks a process that runs `moot WORDS`; its pid is the answer. Each question that it puts to a script
is written to the file of `CALLS` as it is put, and once more when it is answered.

A worker that starts from nothing takes a second or more on a busy machine, and the tests start dozens.
SIGUSR1 has it write the stacks of its threads to stderr, SIGUSR2 a line of what it holds. With CLOCK_AHEAD its
clock is so many seconds ahead.
"""

import faulthandler
import json
import os
import signal
import sys
import time
from datetime import UTC, datetime, timedelta

import procrastinate.schema
import psycopg_pool
from holdings import count_holdings

import moot.edge.queue
import moot.edge.store.sql
import moot.edge.store.workers
import moot.surfaces.cli.admin.fleet
import moot.surfaces.fleet.worker
import moot.surfaces.server.process
from moot.__main__ import run
from moot.core.types import ModelCall, Reply
from moot.edge.clock import SystemClock
from moot.edge.models.script import ScriptModel

PRELOADED = (procrastinate.schema, psycopg_pool, moot.surfaces.server.process)
KNOW_THE_FORMAT = (moot.edge.queue, moot.edge.store.sql, moot.edge.store.workers, moot.surfaces.fleet.worker)
reply = ScriptModel.reply


def tell(said: dict[str, object]) -> None:
    with open(os.environ["CALLS"], "a", encoding="utf-8") as told:
        told.write(json.dumps(said) + "\n")


async def reply_and_tell(self: ScriptModel, call: ModelCall) -> Reply:
    asked = json.dumps([call.seat, call.phase, call.round, call.prompt])
    said = {"at": time.time(), "pid": os.getpid(), "asked": asked}
    tell(said)
    answer = await reply(self, call)
    tell({**said, "ended": time.time()})
    return answer


def count(*_: object) -> None:
    sys.stderr.write(json.dumps(count_holdings()) + "\n")
    sys.stderr.flush()


def watch() -> None:
    """What this process tells of itself, and the clock that it has."""
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    signal.signal(signal.SIGUSR2, count)
    if ahead := os.environ.get("CLOCK_AHEAD"):
        shift = timedelta(seconds=float(ahead))
        SystemClock.now = lambda self: datetime.now(UTC) + shift  # type: ignore[method-assign]


def worker(words: list[str], env: dict[str, str], err: str, newest: int) -> None:
    """Never returns."""
    code = 99
    try:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(os.path.dirname(err))
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
        watch()
        for module in KNOW_THE_FORMAT:
            module.FORMAT = newest  # type: ignore[attr-defined]
        code = run(words, debug=True)
        sys.stderr.flush()
    finally:
        os._exit(code)


def main() -> None:
    ScriptModel.reply = reply_and_tell  # type: ignore[method-assign]
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    for line in iter(sys.stdin.readline, ""):
        asked = json.loads(line)
        child = os.fork()
        if not child:
            worker(asked["words"], asked["env"], asked["err"], asked["format"])
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
