"""Intervals and tests of right and wrong answers, against values worked out by hand or by other means."""

import math
import random

import pytest

from moot.evidence.intervals import adjust_holm, bin_reliability, bootstrap, brier, compare_paired, mcnemar, wilson


def test_a_share_has_the_interval_of_the_textbook() -> None:
    found = wilson(8, 10)
    assert (round(found.low, 3), round(found.high, 3)) == (0.490, 0.943)
    assert wilson(0, 0) == wilson(0, 0) and (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert wilson(0, 20).low == 0.0 and 0.1 < wilson(0, 20).high < 0.2


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (10, 2, 0.03857421875), (3, 3, 1.0)],
)
def test_mcnemar_is_the_exact_two_sided_binomial(gained: int, lost: int, p: float) -> None:
    assert mcnemar(gained, lost) == pytest.approx(p) == mcnemar(lost, gained)


def test_the_bootstrap_is_the_same_for_the_same_seed_and_near_the_normal_interval() -> None:
    chance = random.Random(5)
    values = [float(chance.random() < 0.3) for _ in range(400)]
    found = bootstrap(values, seed=3)
    assert found == bootstrap(values, seed=3)
    assert bootstrap([0.1, 0.7, 3.1], seed=3, draws=40) != bootstrap([0.1, 0.7, 3.1], seed=4, draws=40)
    mean = sum(values) / 400
    wide = 1.96 * math.sqrt(mean * (1 - mean) / 400)
    assert found.low == pytest.approx(mean - wide, abs=0.01) and found.high == pytest.approx(mean + wide, abs=0.01)


def test_pairs_are_counted_task_by_task() -> None:
    new, old = [True] * 8 + [False, True], [True] * 4 + [False] * 4 + [True, True]
    found = compare_paired(new, old)
    assert (found.tasks, found.gained, found.lost, found.mean) == (10, 4, 1, 0.3)
    assert found.p == 0.375 and found.interval.low <= 0.3 <= found.interval.high
    assert found.tasks_needed == math.ceil(2.8**2 * (0.5 - 0.09) / 0.09)
    assert compare_paired([True, False], [True, False]).tasks_needed is None
    with pytest.raises(ValueError):
        compare_paired([True], [True, False])


def test_chance_alone_is_called_significant_in_about_one_of_twenty_runs() -> None:
    chance, hits = random.Random(11), 0
    for _ in range(400):
        new, old = ([chance.random() < 0.6 for _ in range(80)] for _ in range(2))
        steps = [int(a) - int(b) for a, b in zip(new, old, strict=True)]
        hits += mcnemar(steps.count(1), steps.count(-1)) < 0.05
    assert hits <= 28


def test_many_comparisons_are_corrected() -> None:
    assert adjust_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_holm([]) == [] and adjust_holm([0.9, 0.8]) == [1.0, 1.0]


def test_calibration() -> None:
    assert brier([], []) is None
    assert brier([1.0, 0.0, 0.5], [True, False, True]) == pytest.approx(0.25 / 3)
    bins = bin_reliability([0.1, 0.15, 0.9, 1.0], [False, True, True, True])
    assert [(each.count, round(each.stated, 3), each.right) for each in bins] == [(2, 0.125, 0.5), (2, 0.95, 1.0)]
