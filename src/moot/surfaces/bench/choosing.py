"""The vote of independent answers: code by what it does on shared inputs, letters by their number."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from moot.core.ports import Sandbox
from moot.core.types import Answer, Probing
from moot.evidence.trials.behaviour import TrialRun, best, build_trial
from moot.evidence.trials.examples import literal_call
from moot.evidence.trials.inputs import vary_calls
from moot.protocols.solve.attempts import task_examples
from moot.surfaces.bench.judges import find_letter, solution_of
from moot.surfaces.bench.tasks import BenchTask

INPUTS = 20
VALUES: dict[str, tuple[object, ...]] = {
    "int": (3, 0, 1, -2, 10, 7),
    "float": (1.5, 0.0, -2.5, 10.0),
    "str": ("abc", "", "a", "Hello World", "1 2 3", "aba"),
    "bool": (True, False),
    "list": ([3, 1, 2], [], [1], [5, 5, -1, 0], [10, 20, 30, 40]),
    "list[str]": (["b", "a"], [], ["abc", "", "abc"], ["x"]),
    "tuple": ((3, 1, 2), (), (1,)),
    "dict": ({"a": 1, "b": 2}, {}, {"x": 0}),
}
NAMES: dict[str, tuple[str, ...]] = {
    "str": ("s", "text", "string", "word", "words", "sentence", "name", "title", "line", "pattern", "char", "key"),
    "list": ("l", "lst", "list", "arr", "array", "nums", "numbers", "items", "values", "xs", "data", "seq"),
    "dict": ("d", "dict", "mapping", "table"),
}


async def choose_code(task: BenchTask, codes: Sequence[str], sandbox: Sandbox, *, examples: bool) -> str:
    """The answer that most others behave like; with the examples, among those that pass most of them. Ties go to the
    one that came first."""
    if not codes:
        return ""
    known = task_examples(task.prompt, task.language)
    calls = [example.call for example in known]
    more = list(vary_calls(calls, INPUTS) if calls else invent_calls(codes))
    if task.language != "python" or not (calls or more):
        return codes[0]
    seen: dict[str, Probing] = {}
    for code in dict.fromkeys(codes):
        seen[code] = await sandbox.probe(solution_of(task, code), [*calls, *more])
    runs = [_try(str(n), code, seen[code], len(calls), known if examples else ()) for n, code in enumerate(codes)]
    return codes[int(best(runs)[0].names[0])]


def _try(name: str, code: str, probing: Probing, of_examples: int, known: Sequence[object]) -> TrialRun:
    answers = probing.answers
    silent = Answer(kind="none", detail=probing.problem)
    heard = answers[:of_examples] or (silent,) * of_examples
    rest = probing.model_copy(update={"answers": answers[of_examples:]})
    return build_trial(name, known, heard, rest)  # type: ignore[arg-type]


def choose_letter(texts: Sequence[str], options: Sequence[str]) -> str:
    """The letter that most name; ties go to the one that came first."""
    letters = [letter for text in texts if (letter := find_letter(text, options))]
    counts = Counter(letters)
    return max(letters, key=lambda letter: counts[letter]) if letters else ""


def invent_calls(codes: Sequence[str]) -> list[str]:
    """Where the task gives no example: calls of the function that most answers define, by the types and names of its
    parameters, and those that the answers' own doctests make."""
    heads = [head for code in codes if (head := _head(code)) is not None]
    if not heads:
        return []
    name = Counter(head.name for head in heads).most_common(1)[0][0]
    own = [call for code in codes for call in _doctest_calls(code, name)]
    head = next(head for head in heads if head.name == name)
    pools = [VALUES[_kind_of(argument)] for argument in head.args.args]
    count = max(map(len, pools), default=1)
    made = [f"{name}({', '.join(repr(pool[turn % len(pool)]) for pool in pools)})" for turn in range(count)]
    first = list(dict.fromkeys([*own[: INPUTS // 2], *made]))
    return [*first, *vary_calls(first, INPUTS - len(first))][:INPUTS] if len(first) < INPUTS else first[:INPUTS]


def _head(code: str) -> ast.FunctionDef | None:
    """The last function of the module that is not private: drafts put helpers first."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return functions[-1] if functions else None


def _doctest_calls(code: str, name: str) -> Iterator[str]:
    for line in code.splitlines():
        call = literal_call(line.strip().removeprefix(">>>").strip()) if line.strip().startswith(">>>") else None
        if call and call.startswith(f"{name}("):
            yield call


def _kind_of(argument: ast.arg) -> str:
    said = ast.unparse(argument.annotation).lower().replace("typing.", "") if argument.annotation else ""
    if said.startswith(("list[str]", "sequence[str]", "iterable[str]")):
        return "list[str]"
    for kind in ("list", "tuple", "dict", "str", "float", "bool", "int"):
        if said.startswith(kind):
            return kind
    if said.startswith(("sequence", "iterable")):
        return "list"
    word = argument.arg.lower().rstrip("0123456789").rstrip("_")
    parts = {word, word.rpartition("_")[2]}
    return next((kind for kind, names in NAMES.items() if parts & set(names)), "int")
