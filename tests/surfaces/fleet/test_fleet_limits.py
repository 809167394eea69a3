"""Limits of a model over all workers."""

import asyncio
import json
import uuid

import pytest
from fleetkit import HASTY, Fleet
from kit import write_trusted

from moot.core.errors import ConfigError
from moot.edge.store.leases import Leases, ModelLimit
from moot.surfaces.session.settings import Settings

MODEL = "openai:gpt-5"


def ask(fleet: Fleet, limit: ModelLimit) -> float:
    """Of a worker of its own: 0, or the seconds until a place may be free."""

    async def asked() -> float:
        leases = Leases(fleet.store, str(uuid.uuid4()), {MODEL: limit}, 10.0)
        wait = await leases.ask(MODEL, str(uuid.uuid4()))
        await leases.aclose()
        return wait

    return asyncio.run(asked())


@pytest.fixture
def store(fleet: Fleet) -> Fleet:
    fleet.with_store(lambda db: db.sessions())
    return fleet


def test_no_more_calls_are_begun_in_a_minute_than_are_allowed(store: Fleet) -> None:
    limit = ModelLimit(per_minute=2)
    assert [ask(store, limit) for _ in range(2)] == [0.0, 0.0]
    assert 30 < ask(store, limit) <= 60
    store.sql("UPDATE model_leases SET taken_at = taken_at - interval '50 seconds', released_at = now()")
    assert 0 < ask(store, limit) <= 10, "the minute goes with the calls"
    store.sql("UPDATE model_leases SET taken_at = taken_at - interval '10 seconds'")
    assert [ask(store, limit) for _ in range(2)] == [0.0, 0.0]
    assert store.sql("SELECT count(*) FROM model_leases") == [(2,)], "what is over is not kept"


def test_a_place_that_is_not_renewed_comes_free(store: Fleet) -> None:
    limit = ModelLimit(concurrency=1)
    assert ask(store, limit) == 0.0
    assert ask(store, limit) > 0.0
    store.sql("UPDATE model_leases SET expires_at = now()")
    assert ask(store, limit) == 0.0


def test_places_are_kept_by_those_who_renew_them_and_given_back_after_the_call(store: Fleet) -> None:
    async def hold() -> None:
        mine = Leases(store.store, str(uuid.uuid4()), {MODEL: ModelLimit(concurrency=1)}, 10.0)
        async with mine.place(MODEL):
            store.sql("UPDATE model_leases SET expires_at = now()")
            await mine.renew()
            assert await mine.ask(MODEL, str(uuid.uuid4())) > 0.0
        assert await mine.ask(MODEL, str(uuid.uuid4())) == 0.0
        await mine.aclose()

    asyncio.run(hold())


def test_limits_are_read_from_the_settings(fleet: Fleet) -> None:
    settings = Settings.load(
        {"fleet.limits.ollama:llama3.2.concurrency": 2, "fleet.limits.ollama:llama3.2.per_minute": 9}
    )
    assert settings.fleet_limits() == {"ollama:llama3.2": ModelLimit(2, 9)}
    with pytest.raises(ConfigError):
        Settings.load({"fleet.limits.openai:gpt-5.concurrency": 0})


def test_limits_of_a_model_hold_over_all_workers(fleet: Fleet) -> None:
    model = fleet.script(0.05)
    write_trusted(fleet.folder, f"[fleet.limits.{json.dumps(model)}]\nconcurrency = 2\n")
    ids = fleet.enroll([fleet.plan(f"drop table t{n}", delay=0.05) for n in range(4)])
    for _ in range(2):
        fleet.worker("--concurrency", "2")
    fleet.wait_for_end(ids)
    spans = fleet.spans()
    most = max(sum(began <= at < ended for began, ended in spans) for at, _ in spans)
    assert len(spans) == 24 and most == 2
    assert len({call["pid"] for call in fleet.calls()}) == 2, "both have worked"


def test_the_place_of_a_dead_worker_comes_free(fleet: Fleet) -> None:
    fleet.pace = HASTY
    model = fleet.script(0.2)
    write_trusted(fleet.folder, f"[fleet.limits.{json.dumps(model)}]\nconcurrency = 1\n")
    (session_id,) = fleet.enroll([fleet.plan("drop table t", delay=0.2)])
    first = fleet.worker()
    fleet.wait("it asks", lambda: len(fleet.calls()) == 2)
    first.kill()
    fleet.worker()
    fleet.wait_for_end([session_id])
