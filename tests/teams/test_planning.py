"""Planning: plans that hold and plans that do not, joined results, measured tasks, settled overlaps, expectations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_tasks import LARGE_ISSUES, SHORT_REPORTS, SMALL

from moot.teams.planning.cognition import (
    EXPECTED,
    Comparison,
    Emphasis,
    Observation,
    adapt_expectation,
    compare,
    count_extra,
    emphases,
    raise_weights,
)
from moot.teams.planning.complexity import measure, style_for
from moot.teams.planning.negotiation import negotiate, overlaps
from moot.teams.planning.plans import Style, Subtask, TaskPlan, in_order, join_results, problems, render_plan, waves
from moot.teams.topology import LEADERS

TEAM = ("architect", "proposer", "critic")


def plan(*lines: str, owner: str = "proposer") -> TaskPlan:
    """`b: parse the file < a c`: subtask b after a and c."""
    found = []
    for line in lines:
        head, _, needs = line.partition(" <")
        name, _, title = head.partition(": ")
        found.append(
            Subtask(id=name, title=title, owner=owner, depends_on=tuple(needs.split()), done_when=f"{name} ok")
        )
    return TaskPlan(subtasks=tuple(found))


@pytest.mark.parametrize(
    ("given_plan", "expected"),
    [
        (plan("a: one", "b: two < a"), []),
        (plan(), ["it has no subtasks"]),
        (plan("a: one", "a: two"), ["the id 'a' is there twice"]),
        (plan("a: one < b", "b: two < c", "c: three < a"), ["a needs b needs c needs a: none of them can begin"]),
        (plan("a: one < a"), ["subtask 'a' depends on itself"]),
        (plan("a: one < z"), ["subtask 'a' depends on 'z', which does not exist"]),
        (plan("a: one", owner="cook"), ["subtask 'a' belongs to 'cook', who is not in the team"]),
        (plan("a:  "), ["subtask 'a' has no title"]),
        (TaskPlan(subtasks=(Subtask(id="a", title="t", owner="critic"),)), ["subtask 'a' has no done_when"]),
    ],
)
def test_what_keeps_a_plan_from_being_carried_out_is_said(given_plan: TaskPlan, expected: list[str]) -> None:
    assert list(problems(given_plan, TEAM)) == expected


def test_waves_hold_what_can_be_done_at_once() -> None:
    found = waves(plan("d: four < b c", "b: two < a", "a: one", "c: three < a", "e: five"))
    assert [[each.id for each in wave] for wave in found] == [["a", "e"], ["b", "c"], ["d"]]
    with pytest.raises(ValueError, match="a, b wait for each other"):
        waves(plan("a: one < b", "b: two < a"))


@st.composite
def graphs(draw: st.DrawFn) -> TaskPlan:
    size = draw(st.integers(1, 9))
    order = draw(st.permutations(range(size)))
    lines = [
        f"{each}: title < {' '.join(str(o) for o in order[:place] if draw(st.booleans()))}"
        for place, each in enumerate(order)
    ]
    return plan(*draw(st.permutations(lines)))


@given(graphs(), st.data())
def test_results_are_joined_after_those_they_rest_on(given_plan: TaskPlan, data: st.DataObject) -> None:
    assert problems(given_plan, TEAM) == ()
    order = [each.id for each in in_order(given_plan)]
    assert sorted(order) == sorted(each.id for each in given_plan.subtasks)
    assert all(order.index(need) < order.index(each.id) for each in given_plan.subtasks for need in each.depends_on)
    done = data.draw(st.lists(st.sampled_from(order), unique=True))
    result = join_results(given_plan, {name: f"did {name}" for name in done})
    assert [each.id for each, _ in result.parts] == [name for name in order if name in done]
    assert set(result.missing) == set(order) - set(done)


def test_an_empty_result_is_missing() -> None:
    result = join_results(plan("a: one", "b: two < a"), {"a": " \n", "b": "text"})
    assert result.missing == ("a",)


def test_later_prompts_hold_the_plan() -> None:
    text = render_plan(
        TaskPlan(subtasks=(*plan("b: write < a").subtasks, *plan("a: read", owner="critic").subtasks)), "critic"
    )
    assert text == ("- a (yours): read [critic]; done when: a ok\n- b: write [proposer, after a]; done when: b ok")


SHORTENER = (
    "Build a URL shortener: it must store links in a database, should expose two endpoints, must limit each client to "
    "10 requests a minute, must have a command to migrate tables, and should support concurrent writers unless the "
    "table is locked. Example: shorten('http://a') == 'x1'."
)
VAGUE = "Improve our onboarding somehow, with various robust screens etc."


@pytest.mark.parametrize(
    ("task", "hard", "unclear"),
    [
        ("Return the longest word of a text", False, False),
        ("def add(a: int, b: int) -> int:\n    >>> add(1, 2)\n    3", False, False),
        (SHORTENER, True, False),
        (VAGUE, False, True),
        (SHORTENER + VAGUE.replace("10", "ten") + " Maybe better, as needed, perhaps?? Or not?", True, True),
        ("", False, False),
    ],
)
def test_a_task_is_measured_by_its_words(task: str, hard: bool, unclear: bool) -> None:
    measured = measure(task)
    assert (measured.complex, measured.unclear, measured.asks_first) == (hard, unclear, hard or unclear), measured


def test_the_measure_is_the_one_written_down() -> None:
    measured = measure(SHORTENER)
    expected = (0.20 * 45 / 300, 0.30 * 6 / 10, 0.20 * 3 / 8, 0.20 * 1, 0.10 * 1 / 3)
    assert measured.complexity == pytest.approx(sum(expected), abs=1e-3)
    assert measure(VAGUE).ambiguity == pytest.approx(0.45 + 0.25 + 0.20)


@pytest.mark.parametrize(
    ("tasks", "asks_first"),
    [(SMALL, False), (SHORT_REPORTS, False), (LARGE_ISSUES, True)],
    ids=["small", "short", "large"],
)
def test_small_tasks_are_answered_at_once_and_issues_of_large_projects_not(
    tasks: tuple[str, ...], asks_first: bool
) -> None:
    """`benchmarks/run_planning.py` has the shares on public data."""
    assert [task for task in tasks if measure(task).asks_first != asks_first] == []


@given(st.text(max_size=400))
def test_any_text_can_be_measured(text: str) -> None:
    measured = measure(text)
    assert 0 <= measured.complexity <= 1 and 0 <= measured.ambiguity <= 1


@pytest.mark.parametrize("filler", ["a-", "input ", "\n", "`", '"', "1.", " ", "must "])
def test_measuring_takes_time_in_proportion(filler: str) -> None:
    """A pattern that goes back and forth over two million characters would not end in the time a test has."""
    assert measure(filler * (2_000_000 // len(filler))).complexity <= 1


@pytest.mark.parametrize(
    ("task", "size", "style", "why"),
    [
        (SHORTENER, 5, "dpde", "each plans its part"),
        (SHORTENER, 4, "cpde", "4 agents are too few"),
        ("Return the longest word", 9, "cpde", "is below 0.35"),
        (SHORTENER + VAGUE + " Maybe??", 9, "cpde", "all must have one reading"),
    ],
)
def test_the_style_follows_from_complexity_ambiguity_and_size(task: str, size: int, style: Style, why: str) -> None:
    choice = style_for(measure(task), size)
    assert choice.style == style and why in choice.why
    assert style_for(measure(task), size, "dpde").style == "dpde"


A = plan("1: write the parser for the config file", "2: write tests of the parser < 1", owner="a")
B = plan("1: parse the config file", "2: document the command line", owner="b")
C = plan("3: measure the speed", owner="c")


def test_overlaps_are_found_by_what_subtasks_are_about() -> None:
    (found,) = overlaps({"a": A, "b": B, "c": C})
    assert found.claims == (("a", "1"), ("b", "1")) and found.seats == ("a", "b")
    assert overlaps({"a": A, "c": C}) == ()


@pytest.mark.parametrize(
    ("stances", "owner", "why"),
    [
        ({}, "a", "least to do"),
        ({"a": "yield"}, "b", "the others yield"),
        ({"b": "yield"}, "a", "the others yield"),
        ({"a": "keep", "b": "keep"}, "a", "it has the least to do"),
        ({"a": "yield", "b": "yield"}, "a", "all yield"),
    ],
)
def test_an_overlap_is_settled_by_stances_then_by_load(stances: dict[str, str], owner: str, why: str) -> None:
    said = {(("a", "1"), seat): stance for seat, stance in stances.items()}
    settled = negotiate({"a": A, "b": B, "c": C}, said)  # type: ignore[arg-type]
    assert [(each.id, each.owner) for each in settled.plan.subtasks] == [
        (f"{owner}/1", owner), ("a/2", "a"), ("b/2", "b"), ("3", "c"),
    ]  # fmt: skip
    assert why in settled.notes[0] and settled.plan.style == "dpde"
    assert settled.plan.subtask("a/2").depends_on == (f"{owner}/1",)
    assert problems(settled.plan, ("a", "b", "c")) == ()


def test_the_one_with_less_to_do_gets_what_both_keep() -> None:
    settled = negotiate({"a": A, "b": plan("1: parse the config file", owner="b")})
    assert settled.plan.subtask("b/1").owner == "b" and settled.plan.subtask("b/1").done_when == "1 ok"


def test_dependencies_reach_over_to_other_plans_and_never_form_a_ring() -> None:
    a = plan("x: draw the screens < y", "w: ship it < nothing", owner="a")
    b = plan("y: store the orders < a/x", "z: draw screens < y", owner="b")
    settled = negotiate({"a": a, "b": b})
    assert settled.plan.subtask("x").depends_on == ("y",) and settled.plan.subtask("y").depends_on == ()
    assert any("y does not wait for x: they would wait for each other" in note for note in settled.notes)
    assert any("does not wait for 'nothing'" in note for note in settled.notes)
    assert problems(settled.plan, ("a", "b")) == ()


WORK = ("parse file", "parse files", "write tests", "draw screens", "store orders", "ship it")


@given(
    st.dictionaries(st.sampled_from(["a", "b", "c"]), st.lists(st.sampled_from(WORK), max_size=4), min_size=1),
    st.data(),
)
def test_negotiation_always_ends_in_a_plan_that_holds(work: dict[str, list[str]], data: st.DataObject) -> None:
    ids = st.sampled_from(["0", "1", "2", "a/0", "b/1", "c/2", "?"])
    needs = st.lists(ids, max_size=3).map(" ".join)
    plans = {
        seat: plan(*(f"{number}: {title} < {data.draw(needs)}" for number, title in enumerate(titles)), owner=seat)
        for seat, titles in work.items()
    }
    settled = negotiate(plans)
    assert settled == negotiate(plans)
    if settled.plan.subtasks:
        assert problems(settled.plan, tuple(plans)) == ()
        assert in_order(settled.plan)
    titles = {each.title for each in settled.plan.subtasks}
    claimed = {claim for overlap in settled.overlaps for claim in overlap.claims}
    alone = [e.title for s, p in plans.items() for e in p.subtasks if (s, e.id) not in claimed]
    assert set(alone) <= titles


def test_every_phase_has_an_expectation() -> None:
    assert EXPECTED.keys() == LEADERS.keys()


@pytest.mark.parametrize(
    ("seen", "overall", "verdict"),
    [
        ({}, 0.5, "nothing_seen"),
        ({"confidence": 0.75, "consensus": 0.60, "insights": 7, "tests": 1.0}, 0.5, "as_expected"),
        ({"confidence": 0.79}, 0.52, "as_expected"),
        ({"consensus": 0.1}, 0.25, "worse"),
        ({"tests": 0.0}, 0.0, "worse"),
        ({"insights": 14}, 1.0, "better"),
        ({"confidence": 0.75, "tests": 0.5}, 0.4, "worse"),
    ],
)
def test_what_happened_is_compared_with_what_was_expected(seen: dict[str, float], overall: float, verdict: str) -> None:
    found = compare(EXPECTED["critique"], Observation.model_validate({"phase": "critique", **seen}))
    assert found.overall == pytest.approx(overall) and found.verdict == verdict


def compared(**seen: float) -> Comparison:
    return compare(EXPECTED["critique"], Observation.model_validate({"phase": "critique", **seen}))


def test_the_next_round_puts_its_weight_where_it_fell_short() -> None:
    assert emphases([compared(), compared(confidence=0.75), compared(insights=14)]) == ()
    slight, grave = emphases([compared(consensus=0.4, confidence=0.75), compared(tests=0.0, insights=0)])
    assert (slight.weight, slight.focus) == (
        1.1, ("Name what you disagree about and the evidence that would settle it.",)
    )  # fmt: skip
    assert grave.weight == 1.2 and grave.focus[0].startswith("Mend what the failing tests show")
    assert len(grave.focus) == 2


WEIGHTS = {"correctness": 0.4, "coverage": 0.2, "security": 0.2, "performance": 0.1, "maintainability": 0.1}


def emphasis(phase: str, weight: float, parts: tuple[str, ...], number: int = 2) -> Emphasis:
    told = {"phase": phase, "weight": weight, "parts": parts, "focus": (), "round": number}
    return Emphasis.model_validate(told)


@pytest.mark.parametrize(
    ("given_weight", "raised"),
    [
        ([], set()),
        ([emphasis("optimization", 1.1, ("tests",))], {"correctness"}),
        ([emphasis("critique", 1.2, ("insights",))], {"coverage"}),
        ([emphasis("adversarial", 1.1, ("confidence",))], {"security"}),
        ([emphasis("convergence", 1.2, ("consensus",))], set()),
        ([emphasis("optimization", 1.2, ("tests",), 3)], set()),
        ([emphasis("proposal", 1.1, ("tests", "insights"))], {"correctness", "coverage"}),
    ],
)  # fmt: skip
def test_the_review_weighs_more_what_fell_short(given_weight: list[Emphasis], raised: set[str]) -> None:
    weights = raise_weights(WEIGHTS, given_weight, 2)
    assert sum(weights.values()) == pytest.approx(1.0, abs=0.001)
    assert {name for name in WEIGHTS if weights[name] > WEIGHTS[name]} == raised
    assert (weights == WEIGHTS) == (not raised)


@pytest.mark.parametrize(("weight", "extra"), [(1.1, 1), (1.2, 2)])
def test_a_phase_that_fell_short_gets_more_seats_in_its_round_only(weight: float, extra: int) -> None:
    given_weight = [emphasis("critique", weight, ("insights",))]
    counts = [
        count_extra(given_weight, phase, number) for phase, number in (("critique", 2), ("critique", 3), ("review", 2))
    ]
    assert counts == [extra, 0, 0]


def test_expectations_move_towards_what_happened() -> None:
    moved = adapt_expectation(EXPECTED["critique"], Observation(phase="critique", consensus=0.0, insights=17))
    assert (moved.consensus, moved.insights, moved.confidence) == (0.42, 10.0, 0.75)
