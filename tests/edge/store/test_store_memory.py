"""A store that is closed leaves nothing behind: a program may open one for each of thousands of sessions."""

import asyncio
import gc
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import Dialect

from moot.core.types import Limits
from moot.edge.store import SqlStore
from moot.runtime.runner import SessionPlan, new_record

PLAN = SessionPlan(protocol="vet", topic="t", input={}, rules={}, limits=Limits())


async def use_store(place: Path) -> None:
    store = SqlStore(str(place))
    try:
        await store.create(new_record(PLAN, datetime.now(UTC)))
    finally:
        await store.aclose()


def count_dialects() -> int:
    gc.collect()
    return sum(isinstance(each, Dialect) for each in gc.get_objects())


def test_a_closed_store_is_kept_by_nothing(tmp_path: Path) -> None:
    asyncio.run(use_store(tmp_path / "s.db"))
    before = count_dialects()
    for _ in range(5):
        asyncio.run(use_store(tmp_path / "s.db"))
    assert count_dialects() <= before
