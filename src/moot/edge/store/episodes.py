"""Episodes of all sessions: what failed, why, and what to do about it."""

from sqlalchemy import select

from moot.core.experience import Episode
from moot.edge.store import tables
from moot.edge.store.sql import SqlStore
from moot.evidence.trials.episodes import find_episodes


class EpisodeStore:
    """Stored with their turns; the oldest are forgotten first."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def episodes(self, agent: str = "", session: str = "", task: str = "", limit: int = 20) -> list[Episode]:
        """Newest first; with a `task`, most similar tasks first."""
        turns = tables.turns
        query = select(turns.c.reflections).where(turns.c.reflections.is_not(None))
        newest = query.order_by(turns.c.created_at.desc(), turns.c.seq.desc())
        told = await self._store.read(lambda db: list(db.execute(newest).scalars()))
        all_told = [Episode.model_validate(entry) for row in told for entry in row]
        return find_episodes(all_told, agent, session, task)[:limit]
