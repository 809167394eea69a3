"""Whether a test that somebody made up may have a say: rules over what it says and what came of running it."""

import ast
import builtins
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from moot.core.types import Value
from moot.evidence.trials.examples import examples_in, literal_call
from moot.evidence.trials.suites import SuiteTest
from moot.evidence.trials.values import Example, same_value

Flaw = Literal["not_about_task", "contradicts", "does_not_run", "not_deterministic", "passes_on_stub"]
Came = Literal["passed", "failed", "broken"]
"""`broken`: the test itself could not be carried out."""
BROKEN = re.compile(r"\b(?:NameError|SyntaxError|IndentationError|ModuleNotFoundError|ImportError)\b")


class Judged(Value):
    """A test and, where it has no say, why not."""

    test: SuiteTest
    flaw: Flaw | None = None
    detail: str = ""

    @property
    def valid(self) -> bool:
        return self.flaw is None


class Ran(Value):
    """What came of one test on one piece of code, run twice."""

    first: Came
    second: Came
    same: bool = True
    """Whether both runs said the same in every word that counts."""
    detail: str = ""


def by_reading(tests: Sequence[SuiteTest], given: Sequence[Example], names: Sequence[str]) -> list[Judged]:
    """What can be said without running anything. Of two tests that contradict each other, neither is believed."""
    known = {steady_call(example.call): example for example in given}
    said = [(number, example) for number, test in enumerate(tests) for example in stated(test)]
    judged = []
    for number, test in enumerate(tests):
        others = {steady_call(example.call): example for at, example in said if at != number}
        judged.append(_read(test, known, others, names))
    return judged


def stated(test: SuiteTest) -> tuple[Example, ...]:
    return (test.example,) if test.example else examples_in(test.text)


def _read(test: SuiteTest, given: Mapping[str, Example], others: Mapping[str, Example], names: Sequence[str]) -> Judged:
    if names and not about(test, names):
        return Judged(test=test, flaw="not_about_task", detail=f"it calls none of {', '.join(names)}")
    for words, known in (("an example of the task", given), ("another test", others)):
        for example in stated(test):
            other = known.get(steady_call(example.call))
            if other is not None and not agree(example, other):
                wanted = other.raises or other.expected
                detail = f"{words} says that {other.call} gives {wanted}, not {example.raises or example.expected}"
                return Judged(test=test, flaw="contradicts", detail=detail)
    return Judged(test=test)


def about(test: SuiteTest, names: Sequence[str]) -> bool:
    """Whether it calls anything that the task is about."""
    return bool(called_in(test) & set(names))


def called_in(test: SuiteTest) -> set[str]:
    """The functions and classes it calls, but for Python's own."""
    try:
        tree = ast.parse(test.example.call if test.example else test.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    nodes = list(ast.walk(tree))
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    called = {ast.unparse(node.func).rpartition(".")[2] for node in nodes if isinstance(node, ast.Call)}
    return called - defined - set(dir(builtins))


def steady_call(call: str) -> str:
    return literal_call(call) or call.strip()


def agree(one: Example, other: Example) -> bool:
    if one.raises or other.raises:
        return one.raises == other.raises
    return same_value(one.expected, other.expected)


def by_running(judged: Judged, stub: Ran, solutions: Sequence[Ran]) -> Judged:
    """The verdict of the runs: on a stub, which it must not pass, and on whatever solutions there are. One solution
    that wavers is to blame itself; a test is when it wavers on every one."""
    if not judged.valid:
        return judged
    flaw: Flaw | None = None
    detail = ""
    if "broken" in (stub.first, stub.second):
        flaw, detail = "does_not_run", stub.detail or "it came to no result"
    elif wavers(stub) or (solutions and all(map(wavers, solutions))):
        flaw, detail = "not_deterministic", "two runs gave two results"
    elif stub.first == "passed":
        flaw, detail = "passes_on_stub", "it passes on a stub that does nothing, so it proves nothing"
    return judged.model_copy(update={"flaw": flaw, "detail": detail})


def wavers(ran: Ran) -> bool:
    return ran.first != ran.second or not ran.same


def broken_by_itself(error: str, names: Sequence[str]) -> bool:
    """Whether these words of an error are about the test and not about what the task asks for."""
    return bool(BROKEN.search(error)) and not any(re.search(rf"\b{re.escape(name)}\b", error) for name in names)


def stub_of(names: Sequence[str], classes: Sequence[str], value: str = "None") -> str:
    """Code that has all the names and does nothing: each call gives `value`."""
    lines = ["class _Nothing:", "    def __init__(self, *given, **named): pass"]
    lines += [f"    def __getattr__(self, name): return lambda *given, **named: {value}", ""]
    for name in names:
        lines.append(
            f"class {name}(_Nothing): pass" if name in classes else f"def {name}(*given, **named): return {value}"
        )
    return "\n".join(lines) + "\n"
