"""A run from its beginning: what is planned, what it would cost, and how it is continued."""

import contextlib
import os
import platform
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from filelock import FileLock, Timeout

from moot import __version__
from moot.core.errors import UsageError
from moot.core.report import Figures, Grid, Headline, Report, count_things, make_row
from moot.core.types import Value
from moot.edge.models import knows_price
from moot.edge.store import SqlStore
from moot.protocols.debate.types import DebateRules
from moot.protocols.solve.attempts import task_examples
from moot.surfaces.bench.arms import ArmWishes, plan_arms, reference_of
from moot.surfaces.bench.carriers import SessionCarrier, check_models, find_fleet
from moot.surfaces.bench.rows import PLAN_FILE, ArmPlan, Equal, RunPlan, read_plan, write_plan
from moot.surfaces.bench.runner import AT_ONCE, BenchRunner, RunProgress
from moot.surfaces.bench.sessions import SessionWish, load_arm_settings, plan_session
from moot.surfaces.bench.suites import SUITES, SuiteSource, load_tasks
from moot.surfaces.bench.tasks import BenchTask, digest_tasks
from moot.surfaces.session.estimates import estimate_plan
from moot.surfaces.session.settings import Settings

RUNS = Path(".moot") / "bench"
SAMPLE = 10
"""Tasks whose sessions are planned to estimate all of them."""
WITH_EXAMPLES, WITHOUT_EXAMPLES = 5.0, 13.0
"""Calls of an adaptive debate: means over 270 tasks each, benchmarks/results/pools.txt."""


@dataclass(frozen=True)
class RunWishes:
    """What the user asks for."""

    suite: str
    source: SuiteSource = field(default_factory=SuiteSource)
    arms: ArmWishes = field(default_factory=ArmWishes)
    limit: int | None = None
    equal: Equal = "calls"
    budget: float | None = None
    mutants: int = 0
    seed: int = 1
    name: str = ""


@dataclass(frozen=True)
class PreparedRun:
    plan: RunPlan
    tasks: tuple[BenchTask, ...]
    folder: Path


def prepare_run(wishes: RunWishes, settings: Settings, folder: Path | None = None) -> PreparedRun:
    """A new run. Nothing is written yet."""
    source = replace(wishes.source, models=tuple(wishes.arms.models))
    tasks = load_tasks(wishes.suite, source, wishes.limit)
    arms = plan_arms(wishes.suite, tasks, wishes.arms, settings)
    digest = digest_tasks(tasks)
    name = wishes.name or f"{wishes.suite}-{digest[:4]}-{secrets.token_hex(2)}"
    _check_money(wishes, settings)
    plan = RunPlan(
        id=secrets.token_hex(8),
        name=name,
        suite=wishes.suite,
        folder=str(wishes.source.folder.resolve()) if wishes.source.folder else "",
        repos=str(wishes.source.repos.resolve()) if wishes.source.repos else "",
        examples=wishes.source.examples,
        tasks=tuple(task.id for task in tasks),
        digest=digest,
        arms=arms,
        models=tuple(wishes.arms.models),
        equal=wishes.equal,
        reference=reference_of(arms, SUITES[wishes.suite].reference),
        limits=settings.limits(),
        budget=wishes.budget,
        mutants=wishes.mutants,
        seed=wishes.seed,
        versions={"moot": __version__, "python": platform.python_version()},
    )
    if plan.equal == "none" and (free := [arm.name for arm in arms if arm.is_vote and arm.answers is None]):
        raise UsageError(f"--equal none: say how many answers the arm {free[0]} draws (--answers)")
    place = folder or RUNS / name
    if (place / PLAN_FILE).exists():
        raise UsageError(f"{place} has a run already; --resume continues it, or give another --name")
    return PreparedRun(plan, tuple(tasks), place)


def _check_money(wishes: RunWishes, settings: Settings) -> None:
    if wishes.budget is None and wishes.equal != "usd":
        return
    for name in wishes.arms.models:
        if not knows_price(name, os.environ, settings.endpoints()):
            flag = "--budget" if wishes.budget is not None else "--equal usd"
            raise UsageError(f"{flag} cannot be kept: the price of {name} is unknown")


def reopen_run(folder: Path, repos: Path | None = None) -> PreparedRun:
    """An earlier run, to carry it on or to show it. Its tasks must be what they were."""
    plan = read_plan(folder)
    source = SuiteSource(
        folder=Path(plan.folder) if plan.folder else None,
        repos=repos or (Path(plan.repos) if plan.repos else None),
        examples=plan.examples,
        models=plan.models,
    )
    known = {task.id: task for task in load_tasks(plan.suite, source)}
    tasks = [known[name] for name in plan.tasks if name in known]
    if len(tasks) != len(plan.tasks) or digest_tasks(tasks) != plan.digest:
        raise UsageError(f"the tasks of {folder} have changed since the run began; start a new run")
    return PreparedRun(plan, tuple(tasks), folder)


@contextlib.contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """One process at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(f"another process is using {folder}") from None
    try:
        yield
    finally:
        lock.release()


async def carry_run(
    run: PreparedRun,
    settings: Settings,
    store: SqlStore,
    *,
    tell: Callable[[RunProgress], None] = lambda progress: None,
    at_once: int = AT_ONCE,
    while_running: Callable[[BenchRunner], AbstractContextManager[object]] = nullcontext,
) -> BenchRunner:
    """Every task of every arm, or as many as come before somebody stops it. `while_running` may stop it."""
    carrier = SessionCarrier(settings, store, await find_fleet(settings, store))
    try:
        check_models(carrier, run.plan.models)
        if not (run.folder / PLAN_FILE).exists():
            write_plan(run.folder, run.plan)
        runner = BenchRunner(run.plan, run.folder, run.tasks, settings, carrier, tell, at_once)
        with while_running(runner):
            await runner.run()
        return runner
    finally:
        await carrier.aclose()


# --- what it would cost


class ArmEstimate(Value):
    """About, and at most: every question that the rules allow is asked twice, every reply is as long as allowed. None:
    unknown."""

    arm: str
    calls: float | None
    calls_most: float | None
    tokens: float | None
    usd: float | None
    usd_most: float | None


class RunEstimate(Value):
    tasks: int
    models: tuple[str, ...]
    arms: tuple[ArmEstimate, ...]
    calls: float | None
    calls_most: float | None
    tokens: float | None
    usd: float | None
    usd_most: float | None


def estimate_run(run: PreparedRun, settings: Settings) -> RunEstimate:
    """Every arm by the plans of a few tasks. Nobody is asked."""
    plan, tried = run.plan, [task for task in run.tasks if not task.skip]
    sample = tried[:SAMPLE]
    reference = next(arm for arm in plan.arms if arm.name == plan.reference)
    found: dict[str, ArmEstimate] = {}
    for arm in plan.arms:
        if arm.group not in found:
            like = reference if plan.is_matched(arm) else arm
            found[arm.group] = _estimate_arm(arm, like, run, sample, len(tried), settings)
    arms = tuple(found.values())
    return RunEstimate(
        tasks=len(tried),
        models=plan.models,
        arms=arms,
        calls=_sum([arm.calls for arm in arms]),
        calls_most=_sum([arm.calls_most for arm in arms]),
        tokens=_sum([arm.tokens for arm in arms]),
        usd=_sum([arm.usd for arm in arms]),
        usd_most=_sum([arm.usd_most for arm in arms]),
    )


def _estimate_arm(
    arm: ArmPlan, like: ArmPlan, run: PreparedRun, sample: Sequence[BenchTask], count: int, settings: Settings
) -> ArmEstimate:
    if not like.protocol or not sample:
        return ArmEstimate(arm=arm.group, calls=0.0, calls_most=0.0, tokens=0.0, usd=0.0, usd_most=0.0)
    own = load_arm_settings(like, settings)
    plans = [plan_session(SessionWish(task, (like,), like.answers or 1), run.plan, own) for task in sample]
    each = [(estimate_plan(plan), expect_calls(task, like)) for plan, task in zip(plans, sample, strict=True)]
    shares = [_share(expected, e.calls.usual) for e, expected in each]
    bounds = [_share(like.answers, e.calls.usual) for e, _ in each]

    def total(values: Sequence[float | None], shares: Sequence[float]) -> float | None:
        found = _sum([None if value is None else value * share for value, share in zip(values, shares, strict=True)])
        return None if found is None else found * count / len(sample)

    return ArmEstimate(
        arm=arm.group,
        calls=total([e.calls.usual for e, _ in each], shares),
        calls_most=total([e.calls.most for e, _ in each], bounds),
        tokens=total([e.tokens.usual for e, _ in each], shares),
        usd=total([e.usd.usual for e, _ in each], shares),
        usd_most=total([e.usd.most for e, _ in each], bounds),
    )


def expect_calls(task: BenchTask, arm: ArmPlan) -> float | None:
    """None: only the bound is known."""
    if arm.answers:
        return arm.answers
    if task.kind == "code" and arm.protocol == "debate" and DebateRules.model_validate(arm.rules).adaptive:
        return WITH_EXAMPLES if task_examples(task.prompt, task.language) else WITHOUT_EXAMPLES
    return None


def _share(expected: float | None, bound: float | None) -> float:
    return min(1.0, expected / bound) if expected and bound else 1.0


def _sum(values: Sequence[float | None]) -> float | None:
    return None if any(value is None for value in values) else sum(value or 0.0 for value in values)


def report_run_estimate(estimate: RunEstimate) -> Report:
    rows = tuple(
        make_row(arm.arm, *map(_number, (arm.calls, arm.calls_most, arm.tokens)), _money(arm.usd), _money(arm.usd_most))
        for arm in estimate.arms
    )
    about = "cost unknown" if estimate.usd is None else _money(estimate.usd)
    most = "" if estimate.usd_most is None else f", {_money(estimate.usd_most)}"
    text = (
        f"{count_things(estimate.tasks, 'task')}: about {_number(estimate.calls)} calls, {about}; "
        f"at most {_number(estimate.calls_most)} calls{most}"
    )
    columns = ("arm", "calls", "at most", "tokens", "cost", "at most")
    return Report(
        blocks=(
            Headline(verdict="estimate", text=text),
            Grid(
                title="About, and at most (every question that the rules allow, asked twice, with the longest replies)",
                columns=columns,
                rows=rows,
            ),
            Figures(entries=(("models", ", ".join(estimate.models) or "none"),)),
        )
    )


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.0f}"


def _money(value: float | None) -> str:
    if not value:
        return "unknown" if value is None else "$0"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"
