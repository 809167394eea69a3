"""Fleet-wide limits of a model. A slot is taken before each call and returned after it; a dead holder's slot
expires."""

import asyncio
import contextlib
import uuid
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update
from sqlalchemy.sql.functions import Function

from moot.core.errors import StoreError
from moot.core.ports import Model
from moot.edge.models.registry import Limited
from moot.edge.store.engine import KEY, address, mask_address, open_engine
from moot.edge.store.tables import model_leases as leases
from moot.edge.store.workers import in_seconds
from moot.edge.store.write_queue import WriteQueue

MINUTE = 60.0
LOOK_AGAIN = 0.2
"""Maximum seconds between attempts: another worker may have returned a slot."""


@dataclass(frozen=True)
class ModelLimit:
    concurrency: int | None = None
    per_minute: int | None = None


class Leases:
    """Slots of one worker, the `holder`. One that it does not renew expires after `seconds`."""

    def __init__(self, place: str, holder: str, limits: Mapping[str, ModelLimit], seconds: float) -> None:
        url = address(place)
        self._line = WriteQueue(mask_address(url), "moot-leases", lambda: open_engine(url))
        self._limits, self._holder, self._seconds = limits, holder, seconds
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._freed: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._held = 0

    def around(self, model: Model) -> Model:
        return Limited(model, lambda: self.place(model.name)) if model.name in self._limits else model

    @asynccontextmanager
    async def place(self, model: str) -> AsyncIterator[None]:
        """Wait for a slot of this model, and hold it."""
        lease = str(uuid.uuid4())
        async with self._turns[model]:  # one at a time, in order of arrival
            freed = self._freed[model]
            while wait := await self.ask(model, lease):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(freed.wait(), min(wait, LOOK_AGAIN))
                freed.clear()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            with contextlib.suppress(StoreError):  # then it expires
                await asyncio.shield(self._give_back(lease))
            self._freed[model].set()

    async def ask(self, model: str, lease: str) -> float:
        """Take a slot, or return the seconds until one may be free."""
        return await self._line.work(lambda db: self._take_lease(db, model, lease))

    async def renew(self) -> None:
        if self._held:
            mine = and_(leases.c.holder == self._holder, leases.c.released_at.is_(None))
            longer = update(leases).where(mine).values(expires_at=_now() + in_seconds(self._seconds))
            await self._line.work(lambda db: db.execute(longer))

    async def aclose(self) -> None:
        await self._line.aclose()

    async def _give_back(self, lease: str) -> None:
        back = update(leases).where(leases.c.id == lease).values(released_at=_now())
        await self._line.work(lambda db: db.execute(back))

    def _take_lease(self, db: Connection, model: str, lease: str) -> float:
        limit, of = self._limits[model], leases.c
        db.execute(select(func.pg_advisory_xact_lock(KEY, func.hashtext(model))))
        over = or_(of.released_at.is_not(None), of.expires_at <= _now())
        db.execute(delete(leases).where(of.model == model, over, of.taken_at < _now() - in_seconds(MINUTE)))
        busy = db.execute(select(func.count()).where(of.model == model, ~over)).scalar_one()
        if limit.concurrency is not None and busy >= limit.concurrency:
            return LOOK_AGAIN
        if limit.per_minute is not None and (wait := _until(db, model, limit.per_minute)) > 0:
            return wait
        times = {"taken_at": _now(), "expires_at": _now() + in_seconds(self._seconds)}
        db.execute(insert(leases).values(id=lease, model=model, holder=self._holder, **times))
        return 0.0


def _until(db: Connection, model: str, most: int) -> float:
    """Seconds until fewer than `most` calls were started in the minute before."""
    of = leases.c
    lately = select(of.taken_at).where(of.model == model, of.taken_at > _now() - in_seconds(MINUTE))
    first = lately.order_by(of.taken_at.desc()).offset(most - 1).limit(1).scalar_subquery()
    left = db.execute(select(func.date_part("epoch", first + in_seconds(MINUTE) - _now()))).scalar()
    return float(left) if left is not None else 0.0


def _now() -> Function[object]:
    """The current time, not the transaction's start: it may have waited for others."""
    return func.clock_timestamp()
