"""Sessions over HTTP on both stores: begun, followed, decided, stopped, read, deleted."""

import asyncio
from typing import Any

import pytest
from kit import BAD, GOOD
from serving_kit import GATED, HARDEN, events, run, serving

from moot.testing import ActingModel
from moot.types import Call


def test_the_whole_way_of_a_session(place: str) -> None:
    async def story() -> None:
        async with serving(place) as client:
            begun = await client.post("/v1/debates", HARDEN)
            assert begun.status_code == 202 and begun.json()["status"] == "pending", begun.text
            session = begun.json()["id"]
            assert begun.headers["location"] == f"/v1/debates/{session}"
            heard = [event async for event in events(client, session)]
            record = await client.until(session, "completed")
            print(record)
            result = (await client.get(f"/v1/debates/{session}/results")).json()
            print(result)
            assert [e.id for e in heard] == list(range(1, record["entries"] + 1))

    run(story())
