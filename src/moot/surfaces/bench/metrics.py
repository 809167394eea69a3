"""What the rows of a run say: how many are right, at what price, how sure, and which arm is better."""

from collections.abc import Mapping, Sequence
from statistics import fmean, median

from pydantic import Field

from moot.core.types import Value
from moot.evidence.intervals import (
    PairedDifference,
    ReliabilityBin,
    adjust_holm,
    bin_reliability,
    brier,
    compare_paired,
    wilson,
)
from moot.surfaces.bench.rows import ArmPlan, BenchRow, Equal, RunPlan

TOLERANCE = 0.05
"""Means of arms at equal cost may differ by so much before the report says so."""


class Share(Value):
    """A share with its 95 % interval; None: there is nothing to divide by."""

    count: int
    of: int
    value: float | None
    low: float
    high: float


class LabelFigures(Value):
    """Of labelled code."""

    recall: Share
    false_alarms: Share
    youden: float | None


class Calibration(Value):
    rows: int
    brier: float
    bins: tuple[dict[str, float], ...]


class ArmFigures(Value):
    arm: str
    title: str
    tasks: int
    """With a verdict."""
    skipped: int
    undecided: int
    right: Share
    calls: float
    tokens: float
    usd: float | None
    seconds: float
    """Median of a task."""
    answers: float | None = None
    """Mean number of answers that a vote drew."""
    gate: Share | None = None
    """Right among those that ended early."""
    helped: int = 0
    harmed: int = 0
    """Against the vote of the session's own first answers."""
    calibration: Calibration | None = None
    grades: dict[str, Share] = Field(default_factory=dict)
    serious: float | None = None
    """Mean number of critical and high findings in an answer."""
    mutation: float | None = None
    labels: LabelFigures | None = None


class ArmComparison(Value):
    arm: str
    against: str
    tasks: int
    gained: int
    lost: int
    points: float
    low: float
    high: float
    p: float
    adjusted: float
    """Corrected for the number of comparisons (Holm)."""
    calls: float
    """Mean calls more, for a task."""
    tasks_needed: int | None = None


class BenchFigures(Value):
    """All figures of a run. Derived from its rows alone, so a resumed run has the same."""

    name: str
    suite: str
    models: tuple[str, ...]
    tasks: int
    seed: int
    equal: Equal
    reference: str
    arms: tuple[ArmFigures, ...]
    comparisons: tuple[ArmComparison, ...]
    """The reference arm against every other one."""
    parts: tuple[ArmComparison, ...]
    """Each arm with one part switched, against the arm it was made from."""
    unequal: tuple[str, ...] = ()
    complete: bool = True
    missing: int = 0
    """Rows that the plan has and the run has not."""
    sentence: str = ""


def share_of(count: int, of: int) -> Share:
    found = wilson(count, of)
    return Share(count=count, of=of, value=count / of if of else None, low=found.low, high=found.high)


def count_figures(plan: RunPlan, rows: Sequence[BenchRow]) -> BenchFigures:
    by_arm = {arm.name: _in_order(plan, [row for row in rows if row.arm == arm.name]) for arm in plan.arms}
    arms = tuple(count_arm(arm, by_arm[arm.name]) for arm in plan.arms)
    others = [arm.name for arm in plan.arms if arm.name != plan.reference and not arm.base]
    found = compare_arms([(plan.reference, other) for other in others], by_arm, plan.seed)
    parts = compare_arms([(arm.name, arm.base) for arm in plan.arms if arm.base], by_arm, plan.seed)
    missing = len(plan.tasks) * len(plan.arms) - len(rows)
    figures = BenchFigures(
        name=plan.name, suite=plan.suite, models=plan.models, tasks=len(plan.tasks), seed=plan.seed, equal=plan.equal,
        reference=plan.reference, arms=arms, comparisons=found, parts=parts, unequal=_find_unequal(plan, arms),
        complete=missing == 0, missing=missing,
    )  # fmt: skip
    return figures.model_copy(update={"sentence": say_result(figures)})


def _in_order(plan: RunPlan, rows: Sequence[BenchRow]) -> list[BenchRow]:
    """Of the plan: whichever came first, figures that are drawn by chance come out the same."""
    place = {task: number for number, task in enumerate(plan.tasks)}
    return sorted((row for row in rows if row.task in place), key=lambda row: place[row.task])


def count_arm(arm: ArmPlan, rows: Sequence[BenchRow]) -> ArmFigures:
    judged = [row for row in rows if row.right is not None]
    tried = [row for row in rows if not row.skipped]
    prices = [row.usd for row in tried]
    early = [row for row in judged if row.early]
    before = [row for row in judged if row.baseline_right is not None]
    mutation = [row.mutation for row in judged if row.mutation is not None]
    serious = [row.serious for row in judged if row.serious is not None]
    return ArmFigures(
        arm=arm.name,
        title=arm.title,
        tasks=len(judged),
        skipped=sum(row.skipped for row in rows),
        undecided=sum(row.right is None for row in tried),
        right=share_of(sum(bool(row.right) for row in judged), len(judged)),
        calls=_mean([row.calls for row in tried]),
        tokens=_mean([row.tokens for row in tried]),
        usd=None if not tried or any(price is None for price in prices) else _mean([price or 0.0 for price in prices]),
        seconds=median([row.seconds for row in tried]) if tried else 0.0,
        answers=_mean([row.answers for row in tried]) if arm.is_vote and tried else None,
        gate=share_of(sum(bool(row.right) for row in early), len(early))
        if any(row.early is not None for row in judged)
        else None,
        helped=sum(bool(row.right) and not row.baseline_right for row in before),
        harmed=sum(bool(row.baseline_right) and not row.right for row in before),
        calibration=calibrate(judged),
        grades=_by_grade(judged),
        serious=_mean(serious) if serious else None,
        mutation=_mean(mutation) if mutation else None,
        labels=_count_labels(judged),
    )


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0


def calibrate(rows: Sequence[BenchRow]) -> Calibration | None:
    said = [row for row in rows if row.sure is not None]
    stated, right = [float(row.sure or 0.0) for row in said], [bool(row.right) for row in said]
    score = brier(stated, right)
    if score is None:
        return None
    bins = tuple(_describe_bin(each) for each in bin_reliability(stated, right))
    return Calibration(rows=len(said), brier=score, bins=bins)


def _describe_bin(found: ReliabilityBin) -> dict[str, float]:
    return {
        "low": found.low, "high": found.high, "count": found.count, "stated": found.stated, "right": found.right,
        "right_low": found.interval.low, "right_high": found.interval.high,
    }  # fmt: skip


def _by_grade(rows: Sequence[BenchRow]) -> dict[str, Share]:
    grades = sorted({row.grade for row in rows if row.grade})
    own = {grade: [row for row in rows if row.grade == grade] for grade in grades}
    return {grade: share_of(sum(bool(row.right) for row in some), len(some)) for grade, some in own.items()}


def _count_labels(rows: Sequence[BenchRow]) -> LabelFigures | None:
    if not rows or any(row.expected not in ("vulnerable", "safe") for row in rows):
        return None
    bad = [row for row in rows if row.expected == "vulnerable"]
    safe = [row for row in rows if row.expected == "safe"]
    recall = share_of(sum(row.answer == "vulnerable" for row in bad), len(bad))
    alarms = share_of(sum(row.answer == "vulnerable" for row in safe), len(safe))
    known = recall.value is not None and alarms.value is not None
    youden = (recall.value or 0.0) - (alarms.value or 0.0) if known else None
    return LabelFigures(recall=recall, false_alarms=alarms, youden=youden)


def compare_arms(
    pairs: Sequence[tuple[str, str]], by_arm: Mapping[str, Sequence[BenchRow]], seed: int
) -> tuple[ArmComparison, ...]:
    """Over the tasks that both arms have a verdict on."""
    found = [(arm, other, *compare_rows(by_arm[arm], by_arm[other], seed)) for arm, other in pairs if other in by_arm]
    adjusted = adjust_holm([difference.p for _, _, difference, _ in found])
    return tuple(
        ArmComparison(
            arm=arm, against=other, tasks=each.tasks, gained=each.gained, lost=each.lost, points=100 * each.mean,
            low=100 * each.interval.low, high=100 * each.interval.high, p=each.p, adjusted=p, calls=calls,
            tasks_needed=each.tasks_needed,
        )
        for (arm, other, each, calls), p in zip(found, adjusted, strict=True)
    )  # fmt: skip


def compare_rows(new: Sequence[BenchRow], old: Sequence[BenchRow], seed: int) -> tuple[PairedDifference, float]:
    """The paired difference, and the mean calls that the new arm made more."""
    before = {row.task: row for row in old if row.right is not None}
    both = [(row, before[row.task]) for row in new if row.right is not None and row.task in before]
    right = [bool(a.right) for a, _ in both], [bool(b.right) for _, b in both]
    calls = _mean([a.calls - b.calls for a, b in both])
    return compare_paired(*right, seed), calls


def _find_unequal(plan: RunPlan, arms: Sequence[ArmFigures]) -> tuple[str, ...]:
    """Arms that did not spend what the reference did: a vote when it made fewer calls than one answer, or more than can
    be drawn; a debate that ends before."""
    by_name = {arm.arm: arm for arm in arms}
    reference = by_name.get(plan.reference)
    wanted = _spent(reference, plan.equal) if reference else None
    notes = []
    for arm in filter(plan.is_matched, plan.arms):
        spent = _spent(by_name[arm.name], plan.equal)
        if wanted and spent is not None:
            off = spent / wanted - 1
            if abs(off) > TOLERANCE and by_name[arm.name].tasks:
                more = "more" if off > 0 else "less"
                notes.append(f"{arm.name} spent {abs(off):.0%} {more} than {plan.reference}, counted in {plan.equal}")
    return tuple(notes)


def _spent(arm: ArmFigures, equal: Equal) -> float | None:
    return {"calls": arm.calls, "tokens": arm.tokens, "usd": arm.usd, "none": None}[equal]


# --- one sentence


def say_result(figures: BenchFigures) -> str:
    """Which arm, by how much, how sure, at what price; or that nothing is shown."""
    by_name = {arm.arm: arm for arm in figures.arms}
    reference = by_name[figures.reference]
    if reference.labels:
        return _say_labels(reference)
    if not any(arm.tasks for arm in figures.arms):
        return "Nothing was measured: no task has a verdict."
    rivals = [each for each in figures.comparisons if each.tasks]
    if not rivals:
        return f"{_say_share(reference)}; there is no other arm to compare it with."
    # The case for an arm is made against the best that costs no more; what costs more is named if it is better.
    affordable = [each for each in rivals if by_name[each.against].calls <= 1.1 * reference.calls]
    closest = max(affordable or rivals, key=lambda each: _merit(by_name[each.against]))
    better = [each for each in rivals if each not in affordable and each.points < 0 and each.adjusted < 0.05]
    more = "".join(
        f" {each.against} is better by {-each.points:.1f} points, at {_say_price(by_name[each.against])}."
        for each in better
        if affordable
    )
    return _say_pair(closest, reference, by_name[closest.against]) + more


def _merit(arm: ArmFigures) -> tuple[float, float]:
    return arm.right.value or 0.0, -arm.calls


def _say_pair(found: ArmComparison, reference: ArmFigures, other: ArmFigures) -> str:
    ahead, behind = (reference, other) if found.points >= 0 else (other, reference)
    low, high = (found.low, found.high) if found.points >= 0 else (0.0 - found.high, 0.0 - found.low)
    size = f"{abs(found.points):.1f} points (95 %: {low:+.1f} to {high:+.1f}; p = {found.p:.2g})"
    prices = f"at {_say_price(ahead)} a task against {_say_price(behind)}"
    tasks = f"on {found.tasks} task{'s' if found.tasks != 1 else ''}"
    # The rival was chosen because it is the best of several: where it is the one ahead, their number counts.
    if (found.p if found.points >= 0 else found.adjusted) < 0.05:
        return f"{ahead.arm} is better than {behind.arm} by {size} {tasks}, {prices}."
    if not found.points and not reference.right.count:
        return f"No difference: neither {reference.arm} nor {other.arm} is ever right {tasks}, {prices}."
    if not found.points:
        return f"No difference: {reference.arm} and {other.arm} are right equally often {tasks}, {prices}."
    needed = f"; about {found.tasks_needed} tasks would show a difference of this size" if found.tasks_needed else ""
    return f"Not significant: {ahead.arm} is ahead of {behind.arm} by {size} {tasks}, {prices}{needed}."


def _say_share(arm: ArmFigures) -> str:
    value = "unknown" if arm.right.value is None else f"{100 * arm.right.value:.1f} %"
    return f"{arm.arm} is right on {arm.right.count} of {arm.right.of} tasks ({value}) at {_say_price(arm)} a task"


def _say_labels(arm: ArmFigures) -> str:
    labels = arm.labels
    assert labels is not None
    if labels.youden is None:
        return f"{arm.arm} cannot be rated: labelled code needs vulnerable and safe cases."
    return (
        f"{arm.arm} finds {labels.recall.count} of {labels.recall.of} vulnerable cases and flags "
        f"{labels.false_alarms.count} of {labels.false_alarms.of} safe ones: Youden J {labels.youden:+.2f}, at "
        f"{_say_price(arm)} a case."
    )


def _say_price(arm: ArmFigures) -> str:
    money = "" if not arm.usd else f" (${arm.usd:.4f})"
    return f"{arm.calls:.1f} calls{money}"
