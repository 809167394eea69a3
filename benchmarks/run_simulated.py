"""Simulated agents against theory: the jury theorem, a common cause, and what hearing the majority does to it."""

import asyncio
import math
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.kept import keep
from moot import DecideRules, decide
from moot.edge.models.simulated import Population, SimulatedQuestion, draw_answer, revise_answer
from moot.protocols.decide.questions.values import PanelQuestion, QuestionOption
from moot.teams.voting import RankedBallot, VoteRules, elect

OPTIONS = ("A", "B")
SIZES = (1, 3, 11, 51, 101, 301)
QUESTIONS, ROUNDS, HEARD, CIRCLE = 2000, 4, 4, 25
JUDGE = 'title = "judge"\nstance = "neutral"\naim = "is right"\nlooks_at = "the question"\n'


def make_questions(count: int) -> list[SimulatedQuestion]:
    return [SimulatedQuestion(f"q{number}", OPTIONS, OPTIONS[number % 2]) for number in range(count)]


def find_majority(answers: Sequence[str]) -> str | None:
    ballots = [RankedBallot(ranking=((answer,),), count=count) for answer, count in Counter(answers).items()]
    return elect(OPTIONS, ballots, VoteRules(method="majority")).winner


def binomial(agents: int, right: int, chance: float) -> float:
    """The probability that so many of independent agents are right."""
    if chance in (0.0, 1.0):
        return float(right == agents * chance)
    log = math.lgamma(agents + 1) - math.lgamma(right + 1) - math.lgamma(agents - right + 1)
    return math.exp(log + right * math.log(chance) + (agents - right) * math.log1p(-chance))


def spread_right(agents: int, population: Population) -> list[float]:
    """The probability of each number of right agents: the common draw is right or wrong, the others are independent."""
    p, follow = population.accuracy, math.sqrt(population.correlation)
    shared = ((p, follow + (1 - follow) * p), (1 - p, (1 - follow) * p))
    return [sum(weight * binomial(agents, k, chance) for weight, chance in shared) for k in range(agents + 1)]


def expect_majority(agents: int, population: Population) -> float:
    """How often more than half of an odd number of agents are right (Condorcet's jury theorem for correlation 0)."""
    return sum(spread_right(agents, population)[agents // 2 + 1 :])


def expect_recommended(agents: int, population: Population) -> float:
    """How often `decide` recommends the right option: two thirds in the first round, or after the minority has heard
    the majority and each of it yields with the given sycophancy."""
    total = 0.0
    for right, chance in enumerate(spread_right(agents, population)):
        wrong = agents - right
        if 3 * max(right, wrong) >= 2 * agents or right < wrong:
            total += chance * (3 * right >= 2 * agents)
            continue
        needed = -(-2 * agents // 3) - right
        total += chance * sum(binomial(wrong, k, population.sycophancy) for k in range(needed, wrong + 1))
    return total


def measure_votes(population: Population, questions: Sequence[SimulatedQuestion]) -> dict[int, float]:
    """How often the majority of the first n agents is right, by n."""
    right = Counter[int]()
    for question in questions:
        answers = [draw_answer(population, question, f"a{number}") for number in range(max(SIZES))]
        right.update(size for size in SIZES if find_majority(answers[:size]) == question.key)
    return {size: right[size] / len(questions) for size in SIZES}


def measure_rounds(
    population: Population, questions: Sequence[SimulatedQuestion], heard: int | None
) -> list[tuple[float, float]]:
    """Share of right majorities and of right agents after each round. `heard`: how many others, drawn anew for each
    round, an agent hears; None: all."""
    majorities, agents = [0] * (ROUNDS + 1), [0] * (ROUNDS + 1)
    for question in questions:
        lots = random.Random(f"{population.seed} {question.id}")
        said = [draw_answer(population, question, f"a{number}") for number in range(CIRCLE)]
        for number in range(ROUNDS + 1):
            if number:
                said = hear_others(population, question, said, heard, lots, number + 1)
            majorities[number] += find_majority(said) == question.key
            agents[number] += said.count(question.key)
    count = len(questions)
    return [(right / count, each / count / CIRCLE) for right, each in zip(majorities, agents, strict=True)]


def hear_others(
    population: Population,
    question: SimulatedQuestion,
    said: Sequence[str],
    heard: int | None,
    lots: random.Random,
    number: int,
) -> list[str]:
    now = []
    for place, mine in enumerate(said):
        others = [*said[:place], *said[place + 1 :]]
        shown = others if heard is None else lots.sample(others, heard)
        now.append(revise_answer(population, question, f"a{place}", mine, shown, number))
    return now


async def measure_sessions(
    population: Population, questions: Sequence[SimulatedQuestion], judges: int
) -> tuple[float, int]:
    """Share of right recommendations by whole sessions of `decide`, and the calls they made."""
    right = calls = 0
    with tempfile.TemporaryDirectory() as folder:
        names = [f"a{number}" for number in range(judges)]
        for name in names:
            (Path(folder) / f"{name}.toml").write_text(JUDGE)
        rules = DecideRules(judges=tuple(names), judges_folder=folder)
        for first in range(0, len(questions), 100):
            part = questions[first : first + 100]
            put = [render_question(question) for question in part]
            result = await decide(put, rules=rules, model=name_model(population), force_panel=True, keep=False)
            calls += result.calls
            keys = [question.key for question in part]
            right += sum(v.recommended_option == key for v, key in zip(result.questions, keys, strict=True))
    return right / len(questions), calls


def render_question(question: SimulatedQuestion) -> PanelQuestion:
    options = tuple(QuestionOption(id=name, label=f"number {place}") for place, name in enumerate(OPTIONS, 1))
    marker = f"SIMULATED QUESTION {question.id} OPTIONS {','.join(question.options)} KEY {question.key}"
    return PanelQuestion(id=question.id, text="Which one?", options=options, context=marker)


def name_model(population: Population) -> str:
    return "simulated:" + ",".join(f"{name}={value}" for name, value in population.model_dump().items())


def deviation(measured: float, expected: float, count: int) -> float:
    """In standard errors."""
    error = math.sqrt(expected * (1 - expected) / count)
    return (measured - expected) / error if error else 0.0 if measured == expected else math.inf


def votes_table(questions: Sequence[SimulatedQuestion]) -> list[str]:
    lines = [
        f"majority of n agents, {len(questions)} questions of two options: measured / theory (per cent)",
        f"{'accuracy correlation':21}" + "".join(f"{f'n={size}':>14}" for size in SIZES) + "   largest deviation",
    ]
    for accuracy in (0.45, 0.6, 0.75):
        for correlation in (0.0, 0.1, 0.3):
            population = Population(accuracy=accuracy, correlation=correlation)
            found = measure_votes(population, questions)
            theory = {size: expect_majority(size, population) for size in SIZES}
            cells = "".join(f"{f'{100 * found[size]:.1f} / {100 * theory[size]:.1f}':>14}" for size in SIZES)
            worst = max((deviation(found[s], theory[s], len(questions)) for s in SIZES), key=abs)
            lines.append(f"{accuracy:8} {correlation:11} {cells}{worst:+9.1f} standard errors")
    return lines


def rounds_table(questions: Sequence[SimulatedQuestion]) -> list[str]:
    lines = [
        f"{CIRCLE} agents of accuracy 0.6 that hear each other, {len(questions)} questions: right majorities / right "
        "agents (per cent)",
        f"{'sycophancy heard':17}" + "".join(f"{f'round {number + 1}':>14}" for number in range(ROUNDS + 1)),
    ]
    for sycophancy in (0.2, 0.8):
        for heard in (None, HEARD):
            population = Population(accuracy=0.6, sycophancy=sycophancy)
            shares = measure_rounds(population, questions, heard)
            cells = "".join(f"{f'{100 * most:.1f} / {100 * each:.1f}':>14}" for most, each in shares)
            lines.append(f"{sycophancy:10} {heard or 'all':>6}{cells}")
    return lines


async def sessions_table() -> list[str]:
    lines = [
        "whole sessions of `decide` (two thirds of the judges, in round 1 or after hearing each other in round 2)",
        "judges questions calls  accuracy correlation sycophancy   right   theory (per cent)  deviation",
    ]
    for judges, count in ((3, 2000), (9, 1000), (101, 60)):
        for correlation, sycophancy in ((0.0, 0.0), (0.3, 0.5)):
            population = Population(accuracy=0.6, correlation=correlation, sycophancy=sycophancy, seed=judges)
            right, calls = await measure_sessions(population, make_questions(count), judges)
            theory = expect_recommended(judges, population)
            far = deviation(right, theory, count)
            lines.append(
                f"{judges:6} {count:9} {calls:5} {0.6:9} {correlation:11} {sycophancy:10} {100 * right:7.1f} "
                f"{100 * theory:8.1f} {far:+19.1f}"
            )
    return lines


def main() -> None:
    questions = make_questions(QUESTIONS)
    parts = (votes_table(questions), rounds_table(questions), asyncio.run(sessions_table()))
    keep("simulated", "\n\n".join("\n".join(part) for part in parts))


if __name__ == "__main__":
    main()
