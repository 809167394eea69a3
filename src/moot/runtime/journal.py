"""Durable steps: numbered before they are awaited, run once, recorded, and handed back on resume."""

import hashlib
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from moot.core.errors import ReplayMismatch
from moot.core.ports import Clock, Row, StepRow, Store


def digest(*parts: str) -> str:
    """What a step was asked to do, in sixteen letters."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Journal:
    """One session's steps. Without a store they live as long as the process."""

    def __init__(
        self,
        session_id: str,
        clock: Clock,
        store: Store | None = None,
        past: Iterable[StepRow] = (),
        fence: int = 0,
    ) -> None:
        self.session_id = session_id
        self._fence = fence
        self._store = store
        self._clock = clock
        self._past = {(row.seq, row.part): row for row in past}
        self._past_steps = {row.seq for row in self._past.values()}
        self._next = 0
        self.used: set[tuple[int, int]] = set()
        """The recorded steps that were handed back."""
        self._before = max((row.elapsed for row in self._past.values()), default=0.0)
        self._began = clock.monotonic()

    def ticket(self) -> int:
        """Reserve a step number before awaiting anything, so that parallel steps keep their order."""
        self._next += 1
        return self._next

    @property
    def kept(self) -> bool:
        """Whether anyone records this session."""
        return self._store is not None

    def asked(self, *parts: str) -> str:
        """The digest of what a step is asked to do; none where nobody keeps or reads a record."""
        return digest(*parts) if self.kept or self._past else ""

    @property
    def latest(self) -> int:
        return self._next

    def elapsed(self) -> float:
        """Seconds this session has been at work, over all its runs."""
        return self._before + self._clock.monotonic() - self._began

    def reached(self) -> float:
        """Seconds of work up to the latest step: by the record where it goes on, else up to now."""
        if not any(seq > self._next for seq, _ in self._past):
            return self.elapsed()
        return max((row.elapsed for (seq, _), row in self._past.items() if seq <= self._next), default=0.0)

    def recall(self, seq: int, part: int, name: str, asked: str) -> StepRow | None:
        """The recorded step, if it is there and is the one now asked for."""
        row = self._past.get((seq, part))
        if row is not None and (row.name, row.digest) != (name, asked):
            raise ReplayMismatch(f"{seq}.{part}", f"{row.name} {row.digest}", f"{name} {asked}", seq)
        if row is not None:
            self.used.add((seq, part))
        return row

    def known(self, seq: int) -> bool:
        """Whether anything of this step is on record from an earlier run."""
        return seq in self._past_steps

    def step(self, seq: int, part: int, name: str, asked: str, value: JsonValue) -> StepRow:
        # Not validated: whoever calls has just made the value out of its own models.
        return StepRow.model_construct(
            seq=seq, part=part, name=name, digest=asked, value=value, elapsed=round(self.elapsed(), 3)
        )

    async def append(self, rows: Sequence[Row]) -> None:
        """Returns when the rows would survive the end of this process."""
        if self._store is not None and rows:
            await self._store.append(self.session_id, rows, self._fence)
