"""The words of the tasks where a recorded model answers: those of its pool, for it was asked in no others."""

import os
from collections.abc import Sequence

from moot.core.errors import UsageError
from moot.edge.models.pools import PoolTask, ReplyPool, open_pool
from moot.surfaces.bench.tasks import BenchTask

PREFIX = "recorded:"
NOTE = "as they were when the model was recorded; tasks that the pool lacks are left out"


def find_pools(models: Sequence[str]) -> tuple[ReplyPool, ...]:
    return tuple(open_pool(name.removeprefix(PREFIX), os.environ) for name in models if name.startswith(PREFIX))


def has_recorded(models: Sequence[str]) -> bool:
    return any(name.startswith(PREFIX) for name in models)


def take_words(tasks: Sequence[BenchTask], pools: Sequence[ReplyPool], *, examples: bool) -> list[BenchTask]:
    """The tasks that all pools have, in the words of the first; a task that a pool lacks could only be wrong."""
    if not pools:
        return list(tasks)
    by_id: dict[str, list[PoolTask]] = {}
    for known in pools[0].tasks.values():
        by_id.setdefault(known.name, []).append(known)
    found = []
    for task in tasks:
        own = task.prompt.strip()
        text = own if own in pools[0].tasks else _find_words(by_id.get(task.id, ()), examples=examples)
        if text is not None and all(text in pool.tasks for pool in pools):
            found.append(task.model_copy(update={"prompt": text}))
    if not found:
        names = ", ".join(pool.name for pool in pools)
        mode = "" if examples else " in words without examples"
        raise UsageError(f"the pool {names} has no task of this suite{mode}: a recorded model can answer no others")
    return found


def _find_words(known: Sequence[PoolTask], *, examples: bool) -> str | None:
    """A pool that does not say whether its words have examples has the tasks' usual ones."""
    mode = "examples" if examples else "bare"
    return next((each.text for each in known if each.mode == mode or (examples and not each.mode)), None)
