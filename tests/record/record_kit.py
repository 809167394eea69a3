"""Sessions of every protocol as a user runs them, and a hand in the tables of their record."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
import test_crash
import test_debate_crash
import test_decide_crash
import test_review_crash
import test_solve_crash
import test_vet_crash
from conftest import Cli, Ran
from kit import in_store
from sqlalchemy import Connection

from moot.edge.store.snapshots import whole
from moot.record.chain import SessionSnapshot, flaws_of

R = TypeVar("R")
SESSIONS: Mapping[str, Callable[[Path], list[str]]] = {
    "harden": test_crash.session,
    "debate": test_debate_crash.session,
    "review": test_review_crash.session,
    "solve": test_solve_crash.session,
    "decide": test_decide_crash.session,
    "vet": lambda folder: test_vet_crash.session(folder, "plan"),
    "vet-failure": lambda folder: test_vet_crash.session(folder, "fail"),
}
"""Name -> what lays out its world in a folder and gives the command."""


def run_session(cli: Cli, name: str, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> Ran:
    """The session of this name, kept in the store at `place`."""
    world = folder / name
    if name != "debate":
        world.mkdir()
    words = SESSIONS[name](world)
    monkeypatch.chdir(world)
    monkeypatch.setenv("MOOT_VET_MEMORY", str(world / "memory"))
    monkeypatch.setenv("MOOT_STORE", place)
    return cli(*words, *more)


def session_id(ran: Ran) -> str:
    return str(json.loads(ran.out)["session_id"])


def by_hand(place: str, work: Callable[[Connection], Any]) -> None:
    """A change in the tables, past everything that Moot does to keep them true."""
    in_store(place, lambda store: store.work(work))


def seen(place: str, session: str) -> SessionSnapshot:
    return in_store(place, lambda store: whole(store, session))


def found(place: str, session: str) -> list[str]:
    return flaws_of(seen(place, session))
