"""What a session may remember of earlier ones: lessons, episodes and results, as far as its owner may see them."""

from moot.edge.store.episodes import EpisodeStore
from moot.edge.store.lessons import LessonStore
from moot.edge.store.records import TrackRecords
from moot.edge.store.sql import SqlStore


class StoreMemory:
    def __init__(self, store: SqlStore, owner: str | None = None) -> None:
        """`owner`: only lessons and episodes of their own sessions; None: of all. Results have no content, and
        everybody's count."""
        lessons = LessonStore(store, owner)
        self.recall, self.learn, self.credit = lessons.recall, lessons.learn, lessons.credit
        self.read_episodes = EpisodeStore(store, owner).read_last
        self.count_results = TrackRecords(store).count_results
