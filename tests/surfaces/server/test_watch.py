"""`moot watch`: a session followed from another process, in its store and on its server."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import httpx2
import pytest
from conftest import Cli
from patience import PATIENCE
from serving_kit import GATED, HARDEN, OWN, Client, Held, run, say, serving

from moot.surfaces.history.session_feed import ServedSession


async def start_watch(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "moot", "watch", *arguments,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env={**os.environ, "TOKEN": OWN},
    )  # fmt: skip


async def read_until(watch: asyncio.subprocess.Process, words: str) -> None:
    assert watch.stderr is not None
    async with asyncio.timeout(PATIENCE):
        while words not in (line := (await watch.stderr.readline()).decode()):
            assert line, f"{words!r} was never said"


def test_two_watch_a_session_to_its_end_and_one_leaves_it(tmp_path: Path) -> None:
    async def story() -> None:
        model = Held(say)
        async with serving(tmp_path / "s.db", model) as client:
            session = await client.begin(GATED)
            await model.asked_for(1)
            there = [session, "--server", str(client.http.base_url), "--token-env", "TOKEN"]
            near, far, left = await asyncio.gather(
                start_watch(session[:8], "--store", str(tmp_path / "s.db")), start_watch(*there), start_watch(*there)
            )
            await read_until(left, "harden begins")
            left.send_signal(signal.SIGINT)
            _, said = await left.communicate()
            assert (left.returncode, b"keeps running" in said) == (130, True)
            await asyncio.gather(read_until(near, "harden begins"), read_until(far, "harden begins"))
            model.let_go()
            await asyncio.gather(read_until(near, "waits for a person"), read_until(far, "waits for a person"))
            assert (await client.post(f"/v1/debates/{session}/approve")).status_code == 200
            for watch in (near, far):
                shown, said = await watch.communicate()
                assert watch.returncode == 0 and shown.startswith(b"hardened: ")
                assert b"defense: approved by local" in said and said.rstrip().endswith(b"ends: hardened")

    run(story())


async def all_after(client: Client, session: str, after: int) -> list[int]:
    async with httpx2.AsyncClient(
        base_url=str(client.http.base_url), headers={"Authorization": f"Bearer {OWN}"}
    ) as http:
        return [entry.entry async for batch in ServedSession(http, session).follow(after) for entry in batch]


def test_a_watch_begins_where_it_is_told_and_what_cannot_be_watched_is_said(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG", "moot_wrong")

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            session, url = await client.begin({**HARDEN, "budget": {"max_calls": 0}}), str(client.http.base_url)
            last = (await client.until(session, "completed", "paused"))["entries"]
            assert await all_after(client, session, 2) == list(range(3, last + 1))
            assert await all_after(client, session, last) == []
            ended = await asyncio.to_thread(cli, "watch", session, "--store", str(tmp_path / "s.db"), "--from-now")
            assert ended.code == 2 and ended.out.startswith("budget_exhausted") and ended.err == ""
            for arguments, words in [
                ((session, "--server", url, "--token-env", "WRONG"), "unknown token"),
                ((session, "--server", url, "--token-env", "UNSET"), "UNSET holds no token"),
                ((session, "--server", url), "name the environment variable"),
                ((session, "--server", "http://moot.example", "--store", "x"), "leave one of them out"),
                ((session, "--token-env", "WRONG"), "goes with --server"),
                (("no-such", "--store", str(tmp_path / "s.db")), "no-such"),
            ]:
                refused = await asyncio.to_thread(cli, "watch", *arguments)
                assert refused.code == 2 and words in refused.err, arguments

    run(story())


def test_a_server_that_is_not_there_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", OWN)
    refused = cli("watch", "x", "--server", "http://127.0.0.1:1", "--token-env", "TOKEN")
    assert refused.code == 2 and "cannot be reached" in refused.err
