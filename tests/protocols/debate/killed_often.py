"""`killed_often.py FOLDER FIRST LAST ARGUMENTS…`: for every N of FIRST..LAST, `moot ARGUMENTS` in a process of its own
that dies by SIGKILL right after its N-th write to the record, then `moot resume` in another. One line of JSON for each:
how the first ended, which questions it had recorded, which the second put, and the result.

Everything is imported once and each process is forked from there, and the code, which is the tests' own, runs without a
sandbox: else a hundred processes take minutes. N = 0: nobody is killed.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import sys
from pathlib import Path

from debates import Quick
from fork_server import die_after, import_everything

from moot.__main__ import run
from moot.core.types import ModelCall, Reply
from moot.edge.models.script import ScriptModel
from moot.surfaces.session import wiring

reply = ScriptModel.reply


def asked(call: ModelCall) -> str:
    return json.dumps([call.seat, call.phase, call.prompt])


def note(name: str, call: ModelCall) -> None:
    with open(f"{name}.asked", "a", encoding="utf-8") as told:
        told.write(f"{asked(call)}\n")


def forked(words: list[str], name: str, kill_after: int = 0) -> int:
    """The wait status of `moot WORDS`; its output goes to `NAME.out`, the questions it puts to `NAME.asked`."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    if kill_after:
        die_after(kill_after)

    async def reply_and_tell(self: ScriptModel, call: ModelCall) -> Reply:
        note(name, call)
        return await reply(self, call)

    ScriptModel.reply = reply_and_tell  # type: ignore[method-assign]
    wiring.find_sandbox = lambda *given: Quick()  # type: ignore[assignment, attr-defined]
    code = 99
    try:
        os.dup2(os.open(f"{name}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open(f"{name}.err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        code = run(words, debug=False)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def lines(name: str) -> list[str]:
    path = Path(f"{name}.asked")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def session() -> tuple[str, list[str]]:
    """The one session of the store, and the questions whose answers are recorded."""
    with contextlib.closing(sqlite3.connect("s.db")) as store:
        ((found,),) = store.execute("SELECT id FROM debate_sessions").fetchall()
        values = store.execute("SELECT value FROM journal WHERE name LIKE 'ask %' ORDER BY seq").fetchall()
    return found, [asked(ModelCall(**json.loads(value)["call"])) for (value,) in values]


def one(number: int, words: list[str]) -> dict[str, object]:
    os.environ["MOOT_STORE"] = os.path.abspath("s.db")
    killed = forked(words, "killed", number)
    if not number:
        return {"status": killed, "asked": lines("killed"), "told": Path("killed.out").read_text(encoding="utf-8")}
    found, recorded = session()
    resumed = forked(["resume", found, "--json"], "resumed")
    told, said = (Path(f"resumed.{kind}").read_text(encoding="utf-8") for kind in ("out", "err"))
    return {
        "killed": os.WIFSIGNALED(killed) and os.WTERMSIG(killed) == signal.SIGKILL,
        "status": resumed, "recorded": recorded, "asked": lines("resumed"), "told": told, "err": said,
    }  # fmt: skip


def main(world: str, first: str, last: str, *words: str) -> None:
    import_everything()
    for number in range(int(first), int(last) + 1):
        folder = Path(f"{world}-{number}").absolute()
        shutil.copytree(world, folder)
        os.chdir(folder)
        sys.stdout.write(json.dumps(one(number, list(words))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
