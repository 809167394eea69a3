"""Slips: what is changed, and what is left alone."""

import pytest

from moot.core.types import Answer
from moot.evidence.trials.slips import slips
from moot.evidence.trials.values import Example


def of(code: str, call: str, expected: str, got: str, kind: str = "value") -> dict[str, str]:
    example = Example(call=call, expected=expected, origin="task")
    answers = {call: Answer.model_validate({"kind": kind, "text": got})}
    return {slip.what: slip.text for slip in slips(code, [example], answers)}


@pytest.mark.parametrize(
    ("code", "call", "expected", "got", "what", "line"),
    [
        ("def f(k):\n    return k\n", "f(3)", "2", "3", "with k - 1", "    k = k - 1"),
        ("def f(k):\n    return k\n", "f(3)", "4", "3", "with k + 1", "    k = k + 1"),
        (
            "def f(a):\n    return [a]\n",
            "f('x')",
            "('x',)",
            "['x']",
            "with a tuple for a list",
            "    return tuple([a])",
        ),
        (
            "def f(a):\n    return a\n",
            "f([2, 1])",
            "[1, 2]",
            "[2, 1]",
            "with the result sorted",
            "    return sorted(a)",
        ),
        ("def f(a):\n    return a\n", "f('x')", "True", "False", "with the answer turned round", "    return not a"),
    ],
)
def test_a_slip_is_one_change_and_says_which(
    code: str, call: str, expected: str, got: str, what: str, line: str
) -> None:
    assert line in of(code, call, expected, got)[what].splitlines()


def test_results_of_inner_functions_are_left_alone() -> None:
    code = "def f(a):\n    def g(x):\n        return x\n    return [g(a)]\n"
    text = of(code, "f('x')", "('x',)", "['x']")["with a tuple for a list"]
    assert "        return x" in text and "    return tuple([g(a)])" in text


@pytest.mark.parametrize(
    ("code", "call", "got", "kind"),
    [
        ("def f(:", "f(1)", "1", "value"),
        ("def g(k):\n    return k\n", "f(1)", "1", "value"),
        ("def f(a):\n    return a\n", "f('x')", "TypeError", "error"),
    ],
    ids=["no code", "another function", "only an error"],
)
def test_where_nothing_can_be_seen_nothing_is_changed(code: str, call: str, got: str, kind: str) -> None:
    assert of(code, call, "2", got, kind) == {}
