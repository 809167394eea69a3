"""How long a task waits for its lessons when there are a hundred thousand of them."""

import asyncio
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep
from moot.core.experience import Lesson, Origin
from moot.edge.store import SqlStore
from moot.edge.store.lessons import LessonStore
from moot.evidence.lessons.lesson import new_lesson
from moot.evidence.lessons.words import thesaurus

MANY, TASKS = 100_000, 200
NOW = datetime(2026, 11, 15, tzinfo=UTC)


def sentences(pick: random.Random) -> list[Lesson]:
    """Advice of common and of rarer words, as real notes are: few words make up most of the text."""
    common = sorted(set(thesaurus()))
    rare = [f"{a}{b}{c}" for a in ("ba", "do", "ke", "mi", "ru") for b in ("lan", "tor", "ves") for c in range(200)]
    made: dict[str, Lesson] = {}
    while len(made) < MANY:
        words = pick.sample(common, 5) + pick.sample(rare, 3)
        lesson = new_lesson(" ".join(words), Origin(session_id="bench"), NOW)
        made[lesson.id] = lesson
    return list(made.values())


async def measure(folder: Path) -> list[float]:
    pick = random.Random(1)
    store = SqlStore(str(folder / "moot.db"))
    lessons_store = LessonStore(store)
    lessons = sentences(pick)
    await lessons_store.learn_all(lessons)
    times = []
    for lesson in pick.sample(lessons, TASKS):
        words = lesson.text.split()
        task = " ".join(pick.sample(words, 5) + pick.sample(sorted(thesaurus()), 10))
        began = time.perf_counter()
        found = await lessons_store.recall(task, NOW)
        times.append(time.perf_counter() - began)
        assert found
    await store.aclose()
    return times


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        times = sorted(asyncio.run(measure(Path(folder))))
    middle, most, worst = (1000 * t for t in (statistics.median(times), times[int(TASKS * 0.95)], times[-1]))
    keep(
        "lessons",
        f"recall from {MANY:,} lessons: median {middle:.1f} ms, p95 {most:.1f} ms, worst {worst:.1f} ms (bound 20)",
    )
    report_figures("lessons", [BenchFigure(f"recall from {MANY:,} lessons, median", middle, "ms")])


if __name__ == "__main__":
    main()
