"""Choosing among recorded solutions by what they do when run: the prompt's examples, the vote by behaviour, both."""

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.figures import BenchFigure, compare_rates, report_figures
from benchmarks.kept import keep, read_rows
from moot.core.types import Probing
from moot.edge.models.pools import PRELUDE, TEAMS
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.evidence.trials.behaviour import Cluster, TrialRun, best, build_trial, clusters, find_unanimous
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.inputs import vary_calls
from moot.testing import one_file

STRONG, WEAK = TEAMS["five-strong"], TEAMS["six-weak"]
DATA = (
    *("humaneval.jsonl.gz", "humaneval-plus-inputs.jsonl.gz"),
    *("recorded-humaneval.jsonl.gz", "recorded-humaneval-results.jsonl.gz"),
)
REFERENCE = {"five strong": (90.2, 92.8, 93.1, 94.9, 97.0), "six weak": (75.0, 67.4, 81.9, 83.7, 89.0)}
INPUTS, OWN_INPUTS, SECONDS, AT_ONCE = 30, 20, 2.0, max(2, os.cpu_count() or 1)
Row = dict[str, Any]


Found = dict[str, dict[str, TrialRun]]


async def run_all(agents: Sequence[str]) -> tuple[Found, Found, float]:
    """Every solution of these agents, run once on its task's examples, on the inputs of the data, and on those that a
    debate makes out of the examples; what each does by the one and by the other, and solutions a second."""
    tasks = {str(task["task_id"]): task for task in read_rows("humaneval.jsonl.gz")}
    plus = read_rows("humaneval-plus-inputs.jsonl.gz")
    shared = {str(row["task_id"]).replace("_", "/"): row["inputs"] for row in plus}
    solutions = [row for row in read_rows("recorded-humaneval.jsonl.gz") if row["agent"] in agents]
    box, gate = Bubblewrap(SandboxLimits(wall=60.0)), asyncio.Semaphore(AT_ONCE)
    found: Found = defaultdict(dict)
    made: Found = defaultdict(dict)

    async def one(row: Row) -> None:
        name, agent = str(row["task_id"]), str(row["agent"])
        task, entry = tasks[name], str(tasks[name]["entry_point"])
        examples = examples_in(str(task["prompt"]), entry)
        given = shared.get(name)
        calls = [_call(entry, values) for values in given[:INPUTS]] if isinstance(given, list) else []
        calls = calls or list(vary_calls([e.call for e in examples], INPUTS))
        own = vary_calls([e.call for e in examples], OWN_INPUTS)
        async with gate:
            # Some agents continued the prompt, others wrote the function anew: after the prompt both are whole.
            program = one_file(f"{PRELUDE}\n{task['prompt']}\n{row['solution']}")
            got = await box.probe(program, [*(e.call for e in examples), *calls, *own], SECONDS)
        answers, here = got.answers[: len(examples)], len(examples)
        for kept, first, count in ((found, here, len(calls)), (made, here + len(calls), len(own))):
            more = Probing(answers=got.answers[first : first + count], problem=got.problem)
            kept[name][agent] = build_trial(agent, examples, answers, more)

    began = time.monotonic()
    await asyncio.gather(*(one(row) for row in solutions))
    return found, made, len(solutions) / (time.monotonic() - began)


def _call(entry: str, values: Sequence[object]) -> str:
    return f"{entry}({', '.join(map(repr, values))})"


Verdicts = Mapping[str, Mapping[str, bool]]


def figures(pool: Sequence[str], found: Mapping[str, Mapping[str, TrialRun]], right: Verdicts) -> list[float]:
    """Per cent of tasks: best single, vote, examples, both, any. A tie counts by the share of it that is right."""
    ways: list[Callable[[list[TrialRun], Mapping[str, bool]], float]] = [_vote, _examples, _both, _any]
    sums = [sum(way([found[t][a] for a in pool if a in found[t]], right[t]) for t in found) for way in ways]
    single = max(sum(right[t].get(a, False) for t in found) for a in pool)
    return [round(100 * value / len(found), 1) for value in (single, *sums)]


def _vote(solutions: list[TrialRun], right: Mapping[str, bool]) -> float:
    ranked = clusters(solutions)
    return _share([c for c in ranked if len(c.names) == len(ranked[0].names)], right)


def _both(solutions: list[TrialRun], right: Mapping[str, bool]) -> float:
    return _share(best(solutions), right)


def _share(tied: Sequence[Cluster], right: Mapping[str, bool]) -> float:
    return sum(sum(right[n] for n in c.names) / len(c.names) for c in tied) / len(tied)


def _examples(solutions: list[TrialRun], right: Mapping[str, bool]) -> float:
    most = max(s.passed for s in solutions)
    kept = [s for s in solutions if s.passed == most]
    return sum(right[s.name] for s in kept) / len(kept)


def _any(solutions: list[TrialRun], right: Mapping[str, bool]) -> float:
    return float(any(right[s.name] for s in solutions))


def gate(pool: Sequence[str], found: Mapping[str, Mapping[str, TrialRun]], right: Verdicts) -> tuple[float, float]:
    """Per cent of debates that the gate skips, and how many of what it then takes are right."""
    taken = {t: find_unanimous([found[t][a] for a in pool if a in found[t]]) for t in found}
    skipped = [t for t in taken if taken[t]]
    good = sum(right[t][taken[t][0].name] for t in skipped)
    return round(100 * len(skipped) / len(found), 1), round(100 * good / len(skipped), 1) if skipped else 0.0


def list_figures(found: Mapping[str, Mapping[str, TrialRun]], right: Verdicts) -> list[BenchFigure]:
    told = list[BenchFigure]()
    for name, pool in (("five strong", STRONG), ("six weak", WEAK)):
        single, _, _, both, _ = figures(pool, found, right)
        told.append(compare_rates(f"{name}: right by vote and examples", both, "% of tasks", "best single", single))
    return told


def main() -> None:
    right: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in read_rows("recorded-humaneval-results.jsonl.gz"):
        right[str(row["task_id"])][str(row["agent"])] = bool(row["hidden"])
    found, made, speed = asyncio.run(run_all((*STRONG, *WEAK)))
    lines = ["pool                 best single   vote   examples   both   any"]
    for name, pool in (("five strong", STRONG), ("six weak", WEAK)):
        for told, how in ((name, found), ("  inputs of its own", made)):
            lines.append(f"{told:19} " + " ".join(f"{value:9.1f}" for value in figures(pool, how, right)))
        lines.append(f"{'  reference':19} " + " ".join(f"{value:9.1f}" for value in REFERENCE[name]))
    lines.append("the gate: debates skipped, and right among them (per cent); the same on inputs of its own")
    pools: dict[str, Sequence[str]] = {"three strong": STRONG[:3], "five strong": STRONG, "six weak": WEAK}
    for name, many in pools.items():
        shares = (*gate(many, found, right), *gate(many, made, right))
        lines.append(f"{name:19} " + " ".join(f"{value:9.1f}" for value in shares))
    lines.append(
        f"{speed:.1f} solutions a second, each on its examples, {INPUTS} inputs of the data and {OWN_INPUTS} of"
    )
    lines.append(f"its own, made of the examples as a debate makes them; {AT_ONCE} at once")
    keep("selection", "\n".join(lines), *DATA)
    report_figures("selection", [*list_figures(found, right), BenchFigure("solutions run", speed, "/s", "higher")])


if __name__ == "__main__":
    main()
