"""Records outcomes of actions: failures are counted, a success ends the count."""

from collections.abc import Callable
from datetime import UTC, datetime

from moot.edge.files.memory import MemoryFolder, PastDebate
from moot.evidence.failures import Next, next_step, task_id
from moot.evidence.statistics import has_helped
from moot.routing.answer import Route


def note_failure(
    memory: MemoryFolder, action: str, route: Route, error: str, approach: str = "", session: str = ""
) -> Next:
    """Counts the failure; returns the next step."""
    now = datetime.now(UTC)
    memory.track("fail", action, now, error=error, approach=approach, session=session)
    if memory.debates().latest(task_id(action)) is not None:
        memory.settle("failure", now, task=task_id(action), helped=_judge_helped("failure"))
    return next_step(memory.standings(now), task_id(action), stakes=route.stakes, security=route.security)


def note_success(memory: MemoryFolder, action: str, session: str = "") -> bool:
    """Records a success only for a task with failures or a debate."""
    now, name = datetime.now(UTC), task_id(action)
    known = name in memory.standings(now)
    if known:
        memory.track("success", action, now, session=session)
    debate = memory.debates().latest(name)
    if debate is not None and debate.outcome is None:
        memory.settle("success", now, task=name, helped=_judge_helped("success"))
    return known


def _judge_helped(outcome: str) -> Callable[[PastDebate], bool | None]:
    return lambda debate: has_helped(debate.resolution, outcome)
