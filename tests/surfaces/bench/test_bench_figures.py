"""Figures, the sentence and the pages of a run, from rows that are made up."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from moot.core.errors import UsageError
from moot.core.types import Limits
from moot.protocols.debate.types import DebateResult
from moot.surfaces.bench.arms import ArmWishes, most_answers, plan_arms
from moot.surfaces.bench.compare import FinishedBench, compare_runs
from moot.surfaces.bench.equal import Allowance, cap_sessions, measure_allowance, share_out
from moot.surfaces.bench.metrics import BenchFigures, count_figures
from moot.surfaces.bench.plots import pick_ticks, spread_labels
from moot.surfaces.bench.report import render_page, report_run
from moot.surfaces.bench.rows import ArmPlan, BenchRow, RunPlan
from moot.surfaces.bench.sessions import is_early_end
from moot.surfaces.bench.tasks import BenchTask
from moot.surfaces.session.settings import Settings

TASKS = tuple(f"t{n}" for n in range(40))


def make_plan(*arms: str, **more: Any) -> RunPlan:
    plans = tuple(
        ArmPlan(name=name, choose="vote" if name == "vote" else "result", base=more.pop(name, "")) for name in arms
    )
    return RunPlan(id="1", name="run", suite="custom", tasks=TASKS, digest="d" * 64, arms=plans, **more)


def make_rows(arm: str, right: int, calls: int = 1, **more: Any) -> list[BenchRow]:
    """The first so many tasks are right."""
    said = {"suite": "custom", "arm": arm, "calls": calls, "tokens_in": 10 * calls, "usd": 0.01 * calls, **more}
    return [BenchRow.model_validate({**said, "task": task, "right": n < right}) for n, task in enumerate(TASKS)]


def count(*rows: Sequence[BenchRow], **more: Any) -> BenchFigures:
    return count_figures(make_plan(*(some[0].arm for some in rows), **more), [row for some in rows for row in some])


def test_a_clear_gain_is_said_with_its_size_and_price() -> None:
    figures = count(make_rows("single", 20), make_rows("vote", 24, 5), make_rows("adaptive", 36, 5))
    assert figures.sentence.startswith("adaptive is better than vote by 30.0 points (95 %: ")
    assert "on 40 tasks, at 5.0 calls ($0.0500) a task against 5.0 calls ($0.0500)." in figures.sentence


def test_a_gain_that_chance_could_give_is_said_to_be_none() -> None:
    figures = count(make_rows("single", 30), make_rows("adaptive", 33, 5))
    assert figures.sentence.startswith("Not significant: adaptive is ahead of single by 7.5 points")
    assert "tasks would show a difference of this size" in figures.sentence
    assert count(make_rows("single", 30), make_rows("adaptive", 30)).sentence.startswith("No difference: adaptive and")
    never = count(make_rows("single", 0), make_rows("adaptive", 0)).sentence
    assert never.startswith("No difference: neither adaptive nor single is ever right on 40 tasks")


def test_a_debate_that_loses_is_said_to_lose() -> None:
    figures = count(make_rows("single", 39), make_rows("adaptive", 10, 5))
    assert figures.sentence.startswith("single is better than adaptive by 72.5 points (95 %: +57.5 to +")


def test_what_costs_more_is_no_rival_at_equal_cost() -> None:
    figures = count(make_rows("vote", 10, 5), make_rows("debate", 36, 20), make_rows("adaptive", 30, 5))
    assert figures.sentence.startswith("adaptive is better than vote by 50.0 points")
    assert figures.sentence.endswith("debate is better by 15.0 points, at 20.0 calls ($0.2000).")


def test_skipped_and_undecided_rows_count_neither_way() -> None:
    rows = make_rows("adaptive", 40)
    rows[0] = rows[0].model_copy(update={"right": None, "skipped": True, "calls": 0})
    rows[1] = rows[1].model_copy(update={"right": None})
    (arm,) = count(rows).arms
    assert (arm.tasks, arm.skipped, arm.undecided, arm.right.count, arm.calls) == (38, 1, 1, 38, 1.0)


def test_rows_in_another_order_give_the_same_figures() -> None:
    plan = make_plan("single", "adaptive")
    rows = [*make_rows("single", 20), *make_rows("adaptive", 31, 4, sure=0.7, early=True, baseline_right=True)]
    shuffled = random.Random(2).sample(rows, len(rows))
    assert count_figures(plan, rows) == count_figures(plan, shuffled)


def test_an_unknown_price_is_unknown_and_a_missing_row_is_said() -> None:
    rows = make_rows("adaptive", 10)
    rows[3] = rows[3].model_copy(update={"usd": None})
    figures = count(rows[:-1])
    assert figures.arms[0].usd is None and not figures.complete and figures.missing == 1
    report = report_run(make_plan("adaptive"), figures, rows[:-1])
    assert report.headline.verdict == "incomplete" and "1 row of the plan missing" in report.headline.caveats[0]


def test_gate_flips_and_calibration_are_counted() -> None:
    early = make_rows("adaptive", 30, early=True, sure=0.75, baseline_right=True, grade="tested")
    (arm,) = count(early).arms
    assert arm.gate is not None and (arm.gate.count, arm.gate.of) == (30, 40)
    assert (arm.helped, arm.harmed) == (0, 10)
    assert arm.calibration is not None and arm.calibration.brier == pytest.approx(0.1875)
    assert arm.grades["tested"].count == 30


def test_parts_are_compared_with_the_arm_they_were_made_from() -> None:
    plan = make_plan("adaptive", "debate", "without critique", **{"without critique": "debate"})
    rows = [*make_rows("adaptive", 20, 4), *make_rows("debate", 30, 12), *make_rows("without critique", 28, 9)]
    figures = count_figures(plan, rows)
    (part,) = figures.parts
    assert (part.arm, part.against, part.lost, part.gained, part.calls) == ("without critique", "debate", 2, 0, -3.0)
    assert [each.against for each in figures.comparisons] == ["debate"]


def test_a_page_shows_its_plots_and_obeys_no_name() -> None:
    bad = "<script>alert(1)</script>"
    plan = make_plan("single", "adaptive").model_copy(update={"name": bad})
    rows = [*make_rows("single", 20, why=bad), *make_rows("adaptive", 30, 4, sure=0.8, why=bad)]
    figures = count_figures(plan, rows)
    page = render_page(plan, figures, report_run(plan, figures, rows))
    assert page.count("<svg") == 3 and "<script" not in page and "&lt;script" in page
    assert "Stated confidence" in page and "http" not in page.replace("http-equiv", "")


@pytest.mark.parametrize("most", [0.3, 1, 4.6, 9.99, 14.2, 20, 130])
def test_an_axis_has_few_round_ticks_and_reaches_far_enough(most: float) -> None:
    ticks = pick_ticks(most)
    assert 2 <= len(ticks) <= 9 and ticks[0] == 0 and most <= ticks[-1] + 1e-9 < 2.6 * most


def test_labels_do_not_cover_each_other() -> None:
    heights = spread_labels([50.0, 51.0, 49.0, 300.0, 300.0], 10.0, 310.0)
    ordered = sorted(heights)
    assert all(b - a >= 17 for a, b in pairwise(ordered))
    assert heights[2] < heights[0] < heights[1] and max(heights) <= 310


# --- equal cost


@pytest.mark.parametrize("mean", [1.0, 1.5, 4.6, 7.25, 11.9])
def test_whole_numbers_of_answers_have_the_mean_that_was_spent(mean: float) -> None:
    allowance, done, drawn = Allowance(mean, 1.0, 12), list[float](), 0
    for _ in range(5):
        counts = share_out(allowance, done, drawn, 8)
        assert set(counts) <= {int(mean), int(mean) + 1}
        done += [float(n) for n in counts]
        drawn += sum(counts)
    assert sum(done) / 40 == pytest.approx(mean, abs=0.02)


def test_answers_that_turn_out_dearer_are_drawn_less_often() -> None:
    allowance = Allowance(1000.0, 100.0, 12)
    assert share_out(allowance, [], 0, 4) == [10, 10, 10, 10]
    assert sum(share_out(allowance, [2000.0] * 4, 40, 4)) == 4
    assert share_out(Allowance(1000.0, 10.0, 12), [], 0, 2) == [12, 12]


def test_equal_money_needs_prices_and_equal_tokens_a_single_answer() -> None:
    rows = make_rows("adaptive", 1, usd=None)
    with pytest.raises(UsageError, match="price"):
        measure_allowance(rows, [], "usd", 12)
    with pytest.raises(UsageError, match="single"):
        measure_allowance(rows, [], "tokens", 12)
    assert measure_allowance(make_rows("adaptive", 1, 5), make_rows("single", 1), "tokens", 12).each == 50.0


def test_a_vote_that_could_not_spend_as_much_says_so() -> None:
    figures = count(make_rows("vote", 20, 12), make_rows("adaptive", 30, 20))
    assert figures.unequal == ("vote spent 40% less than adaptive, counted in calls",)


def test_what_a_debate_leaves_over_later_ones_may_spend() -> None:
    first = cap_sessions(4.5, [], 4, "calls", Limits(max_calls=5))
    assert [each.max_calls for each in first] == [5, 4, 5, 4]
    assert [each.max_calls for each in cap_sessions(4.5, [2, 4, 5, 4], 2, "calls", Limits())] == [6, 6]
    assert [each.max_tokens for each in cap_sessions(900.0, [1000.0], 2, "tokens", Limits())] == [850, 850]
    assert [each.max_usd for each in cap_sessions(0.25, [], 2, "usd", Limits(max_usd=0.125))] == [0.125, 0.125]
    assert [each.max_calls for each in cap_sessions(1.0, [9.0], 1, "calls", Limits())] == [0]


def test_a_debate_with_all_phases_is_held_to_the_reference_and_changed_rules_are_not() -> None:
    bases = {"without critique": "debate", "effort=5": "adaptive"}
    plan = make_plan("single", "vote", "adaptive", "debate", *bases, **bases)
    assert [arm.name for arm in plan.arms if plan.is_matched(arm)] == ["vote", "debate", "without critique"]
    before = plan.model_copy(update={"format": 1})
    assert [arm.name for arm in before.arms if before.is_matched(arm)] == ["vote"], "a run goes on as it began"
    assert not any(plan.model_copy(update={"equal": "none"}).is_matched(arm) for arm in plan.arms)
    rows = [*make_rows("adaptive", 20, 10), *make_rows("debate", 20, 8), *make_rows("effort=5", 20, 5)]
    figures = count_figures(make_plan("adaptive", "debate", "effort=5", **{"effort=5": "adaptive"}), rows)
    assert figures.unequal == ("debate spent 20% less than adaptive, counted in calls",)


# --- arms and comparisons


def test_a_vote_with_examples_needs_examples() -> None:
    settings, wishes = Settings.load({}), ArmWishes(models=("a:1",))
    bare = BenchTask(id="t", kind="code", prompt="Write add(a, b): the sum.")
    shown = bare.model_copy(update={"prompt": "Write add(a, b): the sum.\n\n    add(1, 2) -> 3\n"})
    assert [arm.name for arm in plan_arms("custom", [bare], wishes, settings)] == ["single", "vote", "adaptive"]
    assert len(plan_arms("custom", [bare, shown], wishes, settings)) == 4
    with pytest.raises(UsageError, match="no task has an example"):
        plan_arms("custom", [bare], ArmWishes(names=("vote", "vote+examples"), models=("a:1",)), settings)


def test_with_two_models_each_answers_alone() -> None:
    settings = Settings.load({})
    arms = plan_arms("custom", [], ArmWishes(models=("a:1", "b:2")), settings)
    assert [(arm.name, arm.models) for arm in arms if arm.answers == 1] == [
        ("single", ("a:1",)),
        ("single b:2", ("b:2",)),
    ]
    assert next(arm for arm in arms if arm.name == "vote").models == ("a:1", "b:2")
    assert all(arm.rules["lessons"] == 0 for arm in arms)
    assert most_answers() >= 12


def test_runs_are_paired_over_the_tasks_that_both_have() -> None:
    first = FinishedBench(make_plan("adaptive"), make_rows("adaptive", 10))
    plan = make_plan("adaptive").model_copy(update={"tasks": TASKS[:30], "name": "later", "id": "2", "models": ("x",)})
    second = FinishedBench(plan, make_rows("adaptive", 30)[:30])
    found = compare_runs(first, second)
    assert (found.tasks, found.arms[0].gained, found.arms[0].lost) == (30, 20, 0)
    assert found.sentence.startswith("adaptive is better in later than in run by 66.7 points")
    assert any("models" in caveat for caveat in found.caveats)
    with pytest.raises(UsageError, match="two suites"):
        compare_runs(first, FinishedBench(plan.model_copy(update={"suite": "mmlu"}), []))


@pytest.mark.parametrize(
    ("stop", "calls", "early"),
    [("evidence", 12, True), ("evidence", 20, False), ("tests", 20, True), ("max_rounds", 30, False)],
)
def test_a_debate_that_spent_its_whole_effort_did_not_end_early(stop: str, calls: int, early: bool) -> None:
    result = DebateResult.model_construct(stop_reason=stop, calls=calls, stopped="")
    assert is_early_end(result, {}) is early
