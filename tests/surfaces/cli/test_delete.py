"""A session that somebody runs is not deleted under them."""

import json
import os
import socket
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import in_store

from moot.core.errors import UsageError
from moot.edge.store import SqlStore
from moot.edge.store.retention import Old, delete_old


@pytest.fixture
def session(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    (tmp_path / "app.py").write_text("x = 1\n")
    return str(json.loads(cli("harden", "app.py", "--no-llm", "--json", "-q").out)["session_id"])


def change(place: str, session: str, **columns: Any) -> None:
    async def work(store: SqlStore) -> None:
        record = await store.session(session)
        await store.update(record.model_copy(update=columns))

    in_store(place, work)


ELSEWHERE = "another-machine:7"


@pytest.mark.parametrize("owner", [f"{socket.gethostname()}:{os.getpid()}", ELSEWHERE], ids=["here", "elsewhere"])
def test_a_running_session_is_not_deleted(cli: Cli, tmp_path: Path, session: str, owner: str) -> None:
    change(str(tmp_path / "s.db"), session, status="running", owner=owner)
    ran = cli("delete", session)
    assert ran.code == 2 and "is running in another process" in ran.err and owner in ran.err and "--force" in ran.err
    assert cli("show", session).code == 0
    assert cli("delete", session, "--force").code == 0 and cli("show", session).code == 2


@pytest.mark.parametrize("status", ["paused", "pending", "completed", "failed", "cancelled"])
def test_what_nobody_runs_is_deleted(cli: Cli, tmp_path: Path, session: str, status: str) -> None:
    change(str(tmp_path / "s.db"), session, status=status, owner="")
    assert cli("delete", session).code == 0 and cli("show", session).code == 2


def test_one_whose_process_is_gone_is_deleted(cli: Cli, tmp_path: Path, session: str) -> None:
    change(str(tmp_path / "s.db"), session, status="running", owner=f"{socket.gethostname()}:{2**22 + 1}")
    assert cli("delete", session).code == 0


def test_cleaning_leaves_what_somebody_took_up_meanwhile(cli: Cli, tmp_path: Path, session: str) -> None:
    place = str(tmp_path / "s.db")
    other = str(json.loads(cli("harden", "app.py", "--no-llm", "--json", "-q").out)["session_id"])
    change(place, session, status="running", owner=ELSEWHERE)

    async def clean(store: SqlStore) -> list[str]:
        return await delete_old(store, Old(0, (session, other)), datetime.now(UTC) - timedelta(days=9), "ann")

    assert in_store(place, clean) == [other]
    assert [each["id"] for each in json.loads(cli("list", "--json").out)] == [session]


def test_the_store_itself_refuses(tmp_path: Path, session: str) -> None:
    """Whoever asks, and whatever they looked at before: it is decided where it is deleted."""
    place = str(tmp_path / "s.db")
    change(place, session, status="running", owner=ELSEWHERE)
    with pytest.raises(UsageError, match="is running in another process"):
        in_store(place, lambda store: store.delete(session))


def test_nobody_is_told_to_carry_on_what_was_deleted_while_it_ran(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "s.db"))
    (tmp_path / "app.py").write_text("def add(a, b):\n    return a + b\n")
    moot, model = f"'{sys.executable}' -m moot", tmp_path / "model.sh"
    first = "import json, sys; print(json.load(sys.stdin)[0]['id'])"
    found = f"$({moot} list --json | '{sys.executable}' -c \"{first}\")"
    model.write_text(f"#!/bin/sh\ncat > /dev/null\n{moot} delete {found} --force > /dev/null\necho '{{}}'\n")
    model.chmod(0o755)
    ran = cli("harden", "app.py", "--seat", f"red=cmd:{model}", "-q")
    assert ran.code == 3 and "was deleted; nothing more is recorded" in ran.err, ran.err
    assert "moot resume" not in ran.err
