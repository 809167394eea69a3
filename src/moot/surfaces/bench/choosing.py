"""The vote of independent answers: code by what it does on shared inputs, letters by their number."""

import asyncio
from collections import Counter
from collections.abc import Sequence

from moot.core.ports import Sandbox
from moot.core.types import Answer, Probing
from moot.evidence.trials.behaviour import TrialRun, best, build_trial
from moot.evidence.trials.inputs import vary_calls
from moot.evidence.trials.signatures import calls_of_drafts
from moot.evidence.trials.values import Example
from moot.protocols.solve.attempts import task_examples
from moot.surfaces.bench.judges import find_letter, solution_of
from moot.surfaces.bench.tasks import BenchTask

INPUTS = 20
PATIENCE = 2.0
"""Seconds for one input. Inputs are made up, some large: with five, a vote of nine slow answers took six minutes."""


async def choose_code(task: BenchTask, codes: Sequence[str], sandbox: Sandbox, *, examples: bool) -> str:
    """The answer that most others behave like; with the examples, among those that pass most of them. Ties go to the
    one that came first."""
    if not codes:
        return ""
    known = task_examples(task.prompt, task.language)
    calls = [example.call for example in known]
    more = list(vary_calls(calls, INPUTS) if calls else calls_of_drafts(codes, "", INPUTS))
    if task.language != "python" or not (calls or more):
        return codes[0]
    each = list(dict.fromkeys(codes))
    probed = await asyncio.gather(*(sandbox.probe(solution_of(task, code), [*calls, *more], PATIENCE) for code in each))
    seen = dict(zip(each, probed, strict=True))
    runs = [_try(str(n), code, seen[code], len(calls), known if examples else ()) for n, code in enumerate(codes)]
    return codes[int(best(runs)[0].names[0])]


def _try(name: str, code: str, probing: Probing, of_examples: int, known: Sequence[Example]) -> TrialRun:
    answers = probing.answers
    silent = Answer(kind="none", detail=probing.problem)
    heard = answers[:of_examples] or (silent,) * of_examples
    rest = probing.model_copy(update={"answers": answers[of_examples:]})
    return build_trial(name, known, heard, rest)


def choose_letter(texts: Sequence[str], options: Sequence[str]) -> str:
    """The letter that most name; ties go to the one that came first."""
    letters = [letter for text in texts if (letter := find_letter(text, options))]
    counts = Counter(letters)
    return max(letters, key=lambda letter: counts[letter]) if letters else ""
