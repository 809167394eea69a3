"""How long debates take beside the time their models take: one alone, and fifty at once.

The model is simulated and takes a second for each reply. The critical path is the time during which a debate waits for
at least one reply: all else (sandbox, record, rules) is Moot's own.
"""

import asyncio
import json
import os
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep
from moot.core.types import ModelCall, Reply
from moot.edge.clock import SystemClock
from moot.edge.sandbox import find_sandbox
from moot.edge.store import SqlStore
from moot.protocols.debate.types import DebateInput, DebateRules, Member
from moot.runtime.ports import SessionPorts
from moot.runtime.runner import Runner, SessionPlan
from moot.scan import StaticTeam
from moot.testing import ActingModel

LATENCY = 1.0
AT_ONCE = 50
ROLES = ("proposer", "critic", "reviewer", "optimizer", "moderator")
TASK = "Write largest(numbers): the largest number of a list, or None for an empty one. largest([1, 3]) -> 3"
CODES = (
    "def largest(numbers):\n    return max(numbers, default=None)\n",
    "def largest(numbers):\n    return numbers[-1] if numbers else None\n",
    "def largest(numbers):\n    return max(numbers)\n",
)


def say(call: ModelCall) -> str:
    """Enough of a quarrel that every phase has something to do."""
    head = call.prompt.split("\n", 1)[0]
    if head.startswith("Write tests"):
        return "TESTS:\n- largest([2, 1]) == 2\n- largest([]) == None"
    if head.startswith("What must"):
        return json.dumps({"answers": {"1": "3", "2": "3"}})
    if head.startswith("Critics"):
        return json.dumps({"points": [], "tests": ["largest([3, 1]) == 3"]})
    if head.startswith("Score"):
        return json.dumps({"scores": [{"why": "read", "candidate": "A", "performance": 0.5}]})
    if head.startswith("Rank"):
        letters = re.findall(r"Only these letters exist: (.*?)\.", call.prompt)[0].split(", ")
        return json.dumps({"reasons": "it passes", "ranking": letters, "confidence": 0.8})
    if head.startswith("An attempt"):
        return json.dumps({"what_went_wrong": "x", "root_cause": "y", "what_to_change": "z"})
    seat = ROLES.index(call.seat) % len(CODES)
    return f"APPROACH: one of several\nCODE:\nFILE: solution.py\n```python\n{CODES[seat]}```"


@dataclass
class Timed(ActingModel):
    spans: list[tuple[float, float]] = field(default_factory=list)

    async def reply(self, call: ModelCall) -> Reply:
        began = time.monotonic()
        try:
            return await super().reply(call)
        finally:
            self.spans.append((began, time.monotonic()))


def covered(spans: list[tuple[float, float]]) -> float:
    """Seconds during which at least one reply was waited for."""
    total, end = 0.0, float("-inf")
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, end))
        end = max(end, ended)
    return total


async def one(store: SqlStore) -> tuple[float, float, int]:
    """Wall seconds, seconds of the critical path, calls."""
    model = Timed(say, latency=LATENCY)
    desk = SessionPorts(scanner=StaticTeam(), clock=SystemClock(), sandbox=find_sandbox())
    team = tuple(Member(seat=role, role=role, model="script:timed") for role in ROLES)
    plan = SessionPlan(
        protocol="debate",
        topic="largest",
        input=DebateInput(task=TASK, team=team).model_dump(mode="json"),
        rules=DebateRules(max_rounds=1, lessons=0, enough_tests=0).model_dump(mode="json"),
        seats=dict.fromkeys(ROLES, ("script:timed",)),
    )
    began = time.monotonic()
    await Runner(desk, lambda name: model, store).start(plan)
    return time.monotonic() - began, covered(model.spans), len(model.spans)


async def measured(count: int) -> tuple[float, float, int]:
    """The slowest of `count` debates at once, its own critical path, and all calls."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(str(Path(folder) / "s.db"))
        try:
            done = await asyncio.gather(*(one(store) for _ in range(count)))
        finally:
            await store.aclose()
    wall, path, _ = max(done)
    return wall, path, sum(calls for _, _, calls in done)


def main() -> None:
    lines = ["debates at once   wall s   critical path s   above it   calls   own CPU s   load before"]
    figures = list[BenchFigure]()
    for count in (1, AT_ONCE):
        load, began = os.getloadavg()[0], time.process_time()
        wall, path, calls = asyncio.run(measured(count))
        own = time.process_time() - began
        told = f"{count:15} {wall:8.2f} {path:17.2f} {wall / path - 1:10.1%} {calls:7}"
        lines.append(f"{told} {own:11.2f} {load:13.1f}")
        figures.append(BenchFigure(f"{count} at once, above the critical path", 100 * (wall / path - 1), "% above"))
    lines.append(f"{os.cpu_count()} cores; where the load is above that, others were waiting for them too")
    keep("debates", "\n".join(lines))
    report_figures("debates", figures)


if __name__ == "__main__":
    main()
