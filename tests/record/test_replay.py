"""A session runs again from its journal without a single call, and comes to what was recorded."""

import asyncio
from pathlib import Path

import pytest
from conftest import Cli
from record_kit import SESSIONS, found, run_session, seen, session_id

from moot.record.replay import replay


@pytest.mark.parametrize("name", SESSIONS)
def test_every_protocol_replays_to_its_result(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    place = str(tmp_path / "s.db")
    ran = run_session(cli, name, place, tmp_path, monkeypatch)
    assert ran.code in (0, 1), ran.err
    session = session_id(ran)
    assert found(place, session) == []
    again = asyncio.run(replay(seen(place, session)))
    assert (again.same, again.ended, again.why, again.differences) == (True, True, "", ()), again
    assert again.steps > 3
