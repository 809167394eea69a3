"""`simulated:` agents: what they do to a vote is what theory says, and no real question gets an answer of theirs."""

import asyncio
import json
import random
from pathlib import Path

import pytest
from asking import a_call
from hypothesis import given
from hypothesis import strategies as st
from kit import run_moot

from benchmarks.run_simulated import (
    HEARD,
    deviation,
    expect_majority,
    expect_recommended,
    find_majority,
    hear_others,
    make_questions,
    measure_rounds,
    measure_sessions,
    spread_right,
)
from moot.core.errors import ModelError, UsageError
from moot.edge.models import find_cost, open_model
from moot.edge.models.simulated import (
    Population,
    SimulatedQuestion,
    draw_answer,
    find_question,
    parse_population,
    revise_answer,
)

FAR = 4.0
"""Standard errors. The draws are fixed by their seed: what holds once holds always."""
MARKER = "SIMULATED QUESTION q1 OPTIONS yes,no KEY yes"
SHOWN: dict[str, object] = {"option": {}, "reasons": {}}


@pytest.mark.parametrize("correlation", [0.0, 0.2, 0.6, 1.0])
def test_agents_are_as_right_and_as_correlated_as_they_are_said_to_be(correlation: float) -> None:
    population, questions = Population(accuracy=0.7, correlation=correlation), make_questions(4000)
    pairs = [(draw_answer(population, q, "a") == q.key, draw_answer(population, q, "b") == q.key) for q in questions]
    count = len(pairs)
    assert abs(deviation(sum(one for one, _ in pairs) / count, 0.7, count)) < FAR
    both = 0.7 * 0.7 + correlation * 0.7 * 0.3
    assert abs(deviation(sum(one and other for one, other in pairs) / count, both, count)) < FAR


@pytest.mark.parametrize("correlation", [0.0, 0.3])
@pytest.mark.parametrize(("accuracy", "agents"), [(0.4, 11), (0.6, 3), (0.6, 101), (0.8, 5)])
def test_a_majority_is_right_as_often_as_theory_says(accuracy: float, agents: int, correlation: float) -> None:
    population, questions = Population(accuracy=accuracy, correlation=correlation, seed=7), make_questions(600)
    said = [[draw_answer(population, question, f"a{n}") for n in range(agents)] for question in questions]
    right = sum(find_majority(answers) == q.key for answers, q in zip(said, questions, strict=True)) / len(questions)
    assert abs(deviation(right, expect_majority(agents, population), len(questions))) < FAR


def test_theory_says_what_the_jury_theorem_says() -> None:
    juries = [expect_majority(agents, Population(accuracy=0.6)) for agents in (1, 3, 5, 101, 1001)]
    assert juries[:2] == pytest.approx([0.6, 0.6**3 + 3 * 0.6**2 * 0.4]) and juries == sorted(juries)
    assert juries[-1] > 0.999 and expect_majority(101, Population(accuracy=0.4)) == pytest.approx(1 - juries[3])
    assert expect_majority(1001, Population(accuracy=0.6, correlation=1.0)) == pytest.approx(0.6)
    assert sum(spread_right(9, Population(accuracy=0.3, correlation=0.5))) == pytest.approx(1.0)
    assert expect_recommended(3, Population(accuracy=0.6)) == pytest.approx(juries[1])


@given(
    st.lists(st.sampled_from("AB"), min_size=1, max_size=15).filter(lambda said: len(said) % 2 == 1),
    st.floats(0.0, 1.0),
    st.integers(0, 10**6),
)
def test_agents_that_hear_everybody_never_change_the_majority(said: list[str], sycophancy: float, seed: int) -> None:
    population, (question,) = Population(accuracy=0.5, sycophancy=sycophancy, seed=seed), make_questions(1)
    lots = random.Random(seed)
    for number in (2, 3):
        now = hear_others(population, question, said, None, lots, number)
        assert find_majority(now) == find_majority(said)
        assert now.count(find_majority(said) or "") >= said.count(find_majority(said) or "")
        said = now


@pytest.mark.parametrize("sycophancy", [0.3, 1.0])
def test_hearing_some_others_does_not_raise_the_majority(sycophancy: float) -> None:
    population = Population(accuracy=0.6, sycophancy=sycophancy)
    first, *later = measure_rounds(population, make_questions(500), HEARD)
    assert all(most <= first[0] for most, _ in later) and later[-1][1] > first[1]


def test_a_tie_convinces_nobody_and_sycophancy_is_how_often_a_majority_does() -> None:
    questions = make_questions(3000)
    population = Population(accuracy=0.5, sycophancy=0.3)
    for shown in (["B"], ["B", "B", "C", "C"]):
        assert {revise_answer(population, question, "a", "A", shown) for question in questions} == {"A"}
    moved = sum(revise_answer(population, question, "a", "A", ["B", "B"]) == "B" for question in questions)
    assert abs(deviation(moved / len(questions), 0.3, len(questions))) < FAR


@pytest.mark.parametrize(
    ("judges", "count", "population"),
    [
        (3, 300, Population(accuracy=0.7)),
        (9, 200, Population(accuracy=0.6, correlation=0.2, sycophancy=0.5)),
        (9, 200, Population(accuracy=0.6, sycophancy=1.0)),
        (101, 3, Population(accuracy=0.9)),
    ],
)
def test_sessions_of_decide_are_right_as_often_as_theory_says(judges: int, count: int, population: Population) -> None:
    right, calls = asyncio.run(measure_sessions(population, make_questions(count), judges))
    expected = expect_recommended(judges, population)
    assert abs(deviation(right, expected, count)) < FAR and judges * count <= calls <= 2 * judges * count


def test_a_topic_is_voted_on_by_what_was_drawn(tmp_path: Path) -> None:
    words = ("debate", f"Is it so?\n{MARKER}", "--topic", "--json", "--phases", "self_evolvement,convergence")
    right = json.loads(run_moot(tmp_path, *words, "-m", "simulated:accuracy=1").stdout)
    assert right["text"].startswith("Simulated answer: yes.") and len(right["votes"][0]["ballots"]) == 5
    wrong = json.loads(run_moot(tmp_path, *words, "-m", "simulated:accuracy=0,seed=3").stdout)
    assert (
        wrong["text"].startswith("Simulated answer: no.") and wrong["usage"]["simulated:accuracy=0,seed=3"]["usd"] == 0
    )


def test_a_real_question_gets_no_answer(tmp_path: Path) -> None:
    words = ("decide", "--ask", "Do we need it?", "--option", "A: yes", "--option", "B: no", "--json")
    ran = run_moot(tmp_path, *words, "-m", "simulated:accuracy=1")
    (verdict,) = json.loads(ran.stdout)["questions"]
    assert ran.returncode == 2 and verdict["outcome"] == "INSUFFICIENT_DATA" and verdict["recommended_option"] is None


@pytest.mark.parametrize(
    "prompt",
    [
        "Which one?",
        MARKER.replace("KEY yes", "KEY maybe"),
        f"{MARKER}\n{MARKER.replace('KEY yes', 'KEY no')}",
        f"He said: {MARKER}",
    ],
)
def test_only_one_whole_marker_makes_a_question(prompt: str) -> None:
    assert find_question(MARKER) == SimulatedQuestion("q1", ("yes", "no"), "yes") and find_question(prompt) is None
    model = open_model("simulated:accuracy=1", env={}, timeout=1.0)
    with pytest.raises(ModelError, match="no simulated question"):
        asyncio.run(model.reply(a_call(prompt, json_schema={"properties": SHOWN})))


def test_the_same_call_gets_the_same_reply_in_any_order() -> None:
    model = open_model("simulated:accuracy=0.5,seed=4", env={}, timeout=1.0)
    calls = [a_call(MARKER, seat=f"s{number}", json_schema={"properties": SHOWN}) for number in range(20)]

    async def ask(order: int) -> list[str]:
        return [(await model.reply(call)).text for call in calls[::order]]

    said = asyncio.run(ask(1))
    assert said == asyncio.run(ask(-1))[::-1] and len(set(said)) == 2
    with pytest.raises(ModelError, match="votes only"):
        asyncio.run(model.reply(a_call(MARKER)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accuracy=1.2", "accuracy: Input should be less than or equal to 1"),
        ("correlation=0.1", "accuracy: Field required"),
        ("accuracy=0.6,mood=1", "mood: Extra inputs are not permitted"),
        ("accuracy=0.6,accuracy=0.7", "says the same thing twice"),
        ("often", "often"),
    ],
)
def test_a_population_that_is_not_one_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_population(text)
    assert find_cost("simulated:accuracy=1", {}, 10, 10) == 0.0
