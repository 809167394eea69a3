"""Runs a benchmark: every task of every arm is a session, and what is done is never done again."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moot.core.errors import MootError, UsageError
from moot.core.ports import Sandbox
from moot.core.types import Result
from moot.edge.sandbox import find_sandbox
from moot.runtime.runner import cut_by
from moot.scan import StaticTeam
from moot.surfaces.bench.arms import most_answers
from moot.surfaces.bench.carriers import SessionCarrier
from moot.surfaces.bench.equal import BLOCK, cap_sessions, mean_spending, measure_allowance, share_out, spending
from moot.surfaces.bench.judges import AnswerJudge, find_label
from moot.surfaces.bench.rows import ArmPlan, BenchRow, RunPlan, append_rows, read_rows
from moot.surfaces.bench.sessions import SessionWish, answer_of, load_arm_settings, plan_session, spending_of
from moot.surfaces.bench.tasks import BenchTask
from moot.surfaces.session.settings import Settings

AT_ONCE = 4
BlockPlanner = Callable[[Sequence[BenchTask], Sequence[BenchRow]], list[SessionWish]]
"""The sessions of the next tasks, after the rows of those before."""
MOST_FAILURES = 5
"""Sessions in a row that a provider failed: then nothing more is begun."""


@dataclass(frozen=True)
class RunProgress:
    done: int
    """Rows, of `total`."""
    total: int
    seconds: float
    """Since this process began."""
    begun_at: int
    """Rows that were there before."""
    row: BenchRow

    @property
    def seconds_left(self) -> float | None:
        new = self.done - self.begun_at
        return self.seconds / new * (self.total - self.done) if new else None


@dataclass
class BenchRunner:
    plan: RunPlan
    folder: Path
    tasks: Sequence[BenchTask]
    """In the order of the plan."""
    settings: Settings
    carrier: SessionCarrier
    tell: Callable[[RunProgress], None] = lambda progress: None
    at_once: int = AT_ONCE
    sandbox: Callable[[], Sandbox] | None = None
    rows: dict[tuple[str, str], BenchRow] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    """Session -> why it has no row."""
    why_stopped: str = ""
    _failures: int = 0

    def __post_init__(self) -> None:
        self.rows |= {row.key: row for row in read_rows(self.folder)}
        self._began, self._before = time.monotonic(), len(self.rows)
        self._judge = AnswerJudge(self._open_sandbox, self.plan.mutants)
        self._box: Sandbox | None = None
        self._arm_settings = {arm.name: load_arm_settings(arm, self.settings) for arm in self.plan.arms}

    @property
    def total(self) -> int:
        return len(self.tasks) * len(self.plan.arms)

    @property
    def is_complete(self) -> bool:
        return len(self.rows) >= self.total

    def stop(self, why: str) -> None:
        """Begin nothing more. What is under way is paused with its record."""
        self.why_stopped = self.why_stopped or why
        self.carrier.stop()

    async def run(self) -> None:
        """Until every task of every arm has its row, or somebody stops it."""
        matched = [arm for arm in self.plan.arms if self.plan.is_matched(arm)]
        fixed = [arm for arm in self.plan.arms if arm not in matched]
        groups: dict[str, tuple[ArmPlan, ...]] = {}
        for arm in fixed:
            groups[arm.group] = (*groups.get(arm.group, ()), arm)
        wishes = [SessionWish(task, arms, arms[0].answers or 1) for task in self.tasks for arms in groups.values()]
        await self._work_through(wishes)
        if votes := tuple(arm for arm in matched if arm.is_vote):
            await self._draw_votes(votes)
        for arm in matched:
            if not arm.is_vote:
                await self._hold_capped(arm)

    @property
    def _is_cut(self) -> bool:
        """What matched arms may spend depends on rows that are missing."""
        return bool(self.why_stopped or self.unfinished)

    async def _draw_votes(self, votes: tuple[ArmPlan, ...]) -> None:
        if self._is_cut:
            return
        equal = self.plan.equal
        allowance = measure_allowance(self.rows_of(self.plan.reference), self.rows_of("single"), equal, most_answers())

        def wish(block: Sequence[BenchTask], done: Sequence[BenchRow]) -> list[SessionWish]:
            spent, drawn = [spending(row, equal) for row in done], sum(row.answers for row in done)
            counts = share_out(allowance, spent, drawn, len(block))
            return [SessionWish(task, votes, count) for task, count in zip(block, counts, strict=True)]

        await self._work_in_blocks(votes, wish)

    async def _hold_capped(self, arm: ArmPlan) -> None:
        if self._is_cut:
            return
        each = mean_spending(self.rows_of(self.plan.reference), self.plan.equal) or 0.0

        def wish(block: Sequence[BenchTask], done: Sequence[BenchRow]) -> list[SessionWish]:
            spent = [spending(row, self.plan.equal) for row in done]
            caps = cap_sessions(each, spent, len(block), self.plan.equal, self.plan.limits)
            return [SessionWish(task, (arm,), limits=cap) for task, cap in zip(block, caps, strict=True)]

        await self._work_in_blocks((arm,), wish)

    async def _work_in_blocks(self, arms: tuple[ArmPlan, ...], wish: BlockPlanner) -> None:
        """What the next ones may spend depends on what those before them spent."""
        tried = [task for task in self.tasks if not _reason_to_skip(task, arms[0])]
        await self._work_through([SessionWish(task, arms) for task in self.tasks if task not in tried])
        done: list[BenchRow] = []
        for start in range(0, len(tried), BLOCK):
            block = tried[start : start + BLOCK]
            await self._work_through(wish(block, done))
            found = [self.rows.get((arms[0].name, task.id)) for task in block]
            done += [row for row in found if row is not None]
            if self._is_cut:
                return

    def rows_of(self, arm: str) -> list[BenchRow]:
        """In the order of the tasks."""
        return [row for task in self.tasks if (row := self.rows.get((arm, task.id))) is not None]

    async def _work_through(self, wishes: Sequence[SessionWish]) -> None:
        left = [wish for wish in wishes if any((arm.name, wish.task.id) not in self.rows for arm in wish.arms)]
        queue = iter(left)
        await asyncio.gather(*(self._work(queue) for _ in range(min(self.at_once, len(left)))))

    async def _work(self, queue: Iterator[SessionWish]) -> None:
        for wish in queue:
            self._check_budget()
            if self.why_stopped:
                return
            rows = await self._make_rows(wish)
            if rows is not None:
                self._keep(rows)

    def _keep(self, rows: Sequence[BenchRow]) -> None:
        new = [row for row in rows if row.key not in self.rows]
        append_rows(self.folder, new)
        for row in new:
            self.rows[row.key] = row
            seconds = time.monotonic() - self._began
            self.tell(RunProgress(len(self.rows), self.total, seconds, self._before, row))

    def _check_budget(self) -> None:
        if self.plan.budget is not None:
            # Arms that share a session share its price.
            prices = {row.session: row.usd or 0.0 for row in self.rows.values() if row.session}
            if sum(prices.values()) >= self.plan.budget:
                self.stop(f"the budget of ${self.plan.budget:g} is spent")

    # --- one session

    async def _make_rows(self, wish: SessionWish) -> list[BenchRow] | None:
        """The rows of a session; None where it did not come to an end that says something about its arm."""
        if why := _reason_to_skip(wish.task, wish.arm):
            return [self._plain_row(arm, wish.task, skipped=True, why=why) for arm in wish.arms]
        if not wish.arm.protocol:
            return [await self._scan(wish)]
        plan = plan_session(wish, self.plan, self._arm_settings[wish.arm.name])
        try:
            result = await self.carrier.carry(plan, wish.key(self.plan))
        except UsageError:
            raise
        except MootError as error:
            self._note_failure(wish, error.session_id or "", str(error))
            return None
        if cut_by(result) == "cancelled":
            return None
        if result.resumable and not cut_by(result):
            self._note_failure(wish, result.session_id, "; ".join(result.degraded[:2]) or "a provider failed")
            return None
        self._failures = 0
        return [await self._judge_arm(wish, arm, result) for arm in wish.arms]

    def _note_failure(self, wish: SessionWish, session: str, why: str) -> None:
        self.unfinished[session or wish.key(self.plan)] = why
        self._failures += 1
        if self._failures >= MOST_FAILURES:
            self.stop(f"{self._failures} sessions in a row failed: {why}")

    async def _judge_arm(self, wish: SessionWish, arm: ArmPlan, result: Result) -> BenchRow:
        task = wish.task
        answer = await answer_of(task, arm, result, self._open_sandbox() if task.kind == "code" else None)
        verdict = await self._judge.judge(task, answer.text)
        first = await self._judge.judge(task, answer.baseline) if answer.baseline is not None else None
        figures = await self._judge.measure(task, answer.text, right=verdict.right)
        return self._plain_row(
            arm,
            task,
            session=result.session_id,
            right=verdict.right,
            why=verdict.why,
            answer=answer.text,
            outcome=str(getattr(result, "outcome", "")),
            early=answer.early,
            # A vote takes its answer by itself: what the session says of its own choice is not said of that.
            grade=str(getattr(result, "grade", "") or "") if arm.answers is None and not arm.is_vote else "",
            sure=getattr(result, "sure", None) if arm.answers is None and not arm.is_vote else None,
            baseline_right=first.right if first else None,
            answers=wish.answers if arm.is_vote else 0,
            findings=figures.findings if figures else None,
            serious=figures.serious if figures else None,
            mutation=figures.mutation if figures else None,
            degraded=result.degraded,
            **spending_of(result),
        )

    async def _scan(self, wish: SessionWish) -> BenchRow:
        task = wish.task
        assert task.context is not None
        began = time.monotonic()
        scan = await asyncio.to_thread(StaticTeam().scan, task.context)
        label = find_label(task, scan.findings)
        verdict = await self._judge.judge(task, label)
        rules = ", ".join(sorted({finding.rule for finding in scan.findings}))
        return self._plain_row(
            wish.arm,
            task,
            right=verdict.right,
            why=f"{verdict.why}{f'; found: {rules}' if rules else ''}",
            answer=label,
            usd=0.0,
            findings=len(scan.findings),
            seconds=round(time.monotonic() - began, 3),
        )

    def _plain_row(self, arm: ArmPlan, task: BenchTask, **said: object) -> BenchRow:
        row = {
            "suite": self.plan.suite,
            "task": task.id,
            "arm": arm.name,
            "prompt": task.prompt,
            "expected": task.key,
        }
        return BenchRow.model_validate({**row, **said})

    def _open_sandbox(self) -> Sandbox:
        if self._box is None:
            self._box = self.sandbox() if self.sandbox else find_sandbox(False, self.settings.sandbox())
        return self._box


def _reason_to_skip(task: BenchTask, arm: ArmPlan) -> str:
    if task.skip:
        return task.skip
    if arm.is_vote and task.kind in ("text", "repository"):
        return "texts and whole repositories cannot be compared by what they do"
    if arm.protocol == "decide" and task.kind != "choice":
        return "decide needs options"
    return ""
