"""Examples out of a task's text, calls like those given, and causes of a difference: pure rules, by tables."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.types import Answer
from moot.evidence.trials.behaviour import TrialRun, find_unanimous
from moot.evidence.trials.contrast import likely_cause
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.inputs import vary_calls
from moot.evidence.trials.notations.python import literal_call
from moot.evidence.trials.values import same_value

FORMS = [
    ("    >>> f(2)\n    4\n", [("f(2)", "4", "")]),
    (">>> f([1, 2],\n", []),
    (">>> f([1,2])\n[[1],\n [2]]\n\n", [("f([1, 2])", "[[1], [2]]", "")]),
    (">>> f(-1)\nTraceback (most recent call last):\n  ...\nValueError: no\n", [("f(-1)", "", "ValueError")]),
    (">>> f(19) == 'xix'\n", [("f(19)", "'xix'", "")]),
    ("f(2) → 4", [("f(2)", "4", "")]),
    ("f(2) -> 4, f(3) -> 9", [("f(2)", "4", ""), ("f(3)", "9", "")]),
    ("f('a)b') => \"x\"", [("f('a)b')", "'x'", "")]),
    ("`f(2)` returns `4`.", [("f(2)", "4", "")]),
    ("f(2) should return 4 because", [("f(2)", "4", "")]),
    ("f(1.5) = -0.5  # a comment", [("f(1.5)", "-0.5", "")]),
    ("f(2) should raise a ValueError", [("f(2)", "", "ValueError")]),
    ("assert f(2) == 4", [("f(2)", "4", "")]),
    ("assert 4 == f(2)\nassert not f(0)", [("f(2)", "4", ""), ("f(0)", "False", "")]),
    ("assert f(1)", [("f(1)", "True", "")]),
    ("Input: n = 5\nOutput: 1\n", [("f(5)", "1", "")]),
    ("Input:\n  grid : [[1]]\n  k : 2\nOutput: 0\n", [("f([[1]], 2)", "0", "")]),
    ("For lst = [1,2] the output should be 5", [("f([1, 2])", "5", "")]),
    ("f(2) == 1 + 3 = 4", [("f(2)", "4", "")]),
    ("f('a', 19) ->19 - 5 - 6 = 8", [("f('a', 19)", "8", "")]),
    ("f(15)   # returns 'db1111db'", [("f(15)", "'db1111db'", "")]),
    ("f([\n  [1, 2],\n  [3]\n], 1) == [(0, 0)]\n", [("f([[1, 2], [3]], 1)", "[(0, 0)]", "")]),
    ("For n = 1000, the sum of digits will be 1 the output should be '1'.", [("f(1000)", "'1'", "")]),
    (">>> round(f([1, 2]), 2)\n-0.5\n", [("round(f([1, 2]), 2)", "-0.5", "")]),
    (">>> f([])\n\n>>> f([1])\n1\n", [("f([])", "None", ""), ("f([1])", "1", "")]),
    (">>> f([])\n", []),
    (">>> round(g(f(2)), x)\n1\n", []),
    ("def f(x):\n    g(2) => 4\n    g(3) => 9\n", [("f(2)", "4", ""), ("f(3)", "9", "")]),
    ("def f(x):\n    g(2) => 4\n    h(3) => 9\n", []),
    ("def g(x):\n    pass\ndef f(x):\n    g(2) => 4\n", []),
    ("def f(x):\n    len('ab') => 2\n", []),
    ("f(2) = f(1) + 3", []),
    ("f(2) = 1 + (2 / 2) = 2", []),
    ("f(2) is a nice number", []),
    ("f(x) = 4", []),
    ("g(2) = 4", []),
    ("def f(x=2): return 4", []),
    ("f(__import__('os').system('id')) = 0", []),
    ("f(2) = 4\nf(2) = 5", [("f(2)", "4", "")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FORMS)
def test_the_forms_in_which_tasks_give_examples(text: str, expected: list[tuple[str, str, str]]) -> None:
    found = examples_in(text, "f")
    assert [(e.call, e.expected, e.raises) for e in found] == expected
    assert all(e.origin == "task" for e in found)


@given(st.text(max_size=300))
def test_any_text_is_read_without_harm(text: str) -> None:
    for example in examples_in(text):
        assert literal_call(example.call) == example.call


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5))
def test_what_is_said_is_what_is_read(value: object) -> None:
    (found,) = examples_in(f"f({value!r}) == {value!r}".replace("\n", " "), "f")
    assert ast.literal_eval(found.expected) == value


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("4", "4", True), ("4", "4.0", True), ("0.1", "0.10000000001", True), ("True", "1", True), ("4", "'4'", False),
        ("[1, 2]", "(1, 2)", False), ("{1, 2}", "{2, 1}", True), ("{'a': 1.0}", "{'a': 1.00000001}", True),
        ("None", "<E {}>", False), ("4", "", False), ("[0.1]", "[0.2]", False), ("float", "float", True),
    ],
)  # fmt: skip
def test_values_are_compared_as_python_does_with_room_for_last_digits(expected: str, got: str, same: bool) -> None:
    assert same_value(expected, got) is same


@given(st.lists(st.sampled_from(["f(1)", "f('ab', [1, 2])", "f({'a': 1}, k=True)", "f(x)", "f((1.5,))", "f(set())"])))
def test_varied_calls_are_new_literal_and_always_the_same(calls: list[str]) -> None:
    made = vary_calls(calls, 20)
    assert made == vary_calls(calls, 20) and len(made) == len(set(made)) <= 20
    assert not set(made) & set(calls) and all(literal_call(call) for call in made)


def test_each_given_call_has_its_turn() -> None:
    made = vary_calls(["f(1)", "g('a')"], 4)
    assert [call[0] for call in made] == ["f", "g", "f", "g"]


def value(text: str) -> Answer:
    return Answer(kind="value", text=text)


@pytest.mark.parametrize(
    ("call", "left", "right", "cause"),
    [
        ("f([])", "0", "1", "empty_input"), ("f(5)", "3", "4", "off_by_one"), ("f(5)", "3", "-3", "sign"),
        ("f(5)", "2.5", "2.6", "rounding"), ("f(5)", "[1, 2]", "[2, 1]", "order"), ("f(5)", "'aB'", "'Ab'", "case"),
        ("f(5)", "[1, 1]", "[1]", "duplicates"), ("f(5)", "[1, 2]", "[1]", "off_by_one"), ("f(5)", "1", "'1'", "type"),
        ("f(5)", "'a b'", "'ab'", "whitespace"), ("f(0)", "True", "False", "boundary_condition"),
        ("f(5)", "10", "99", "logic_error"), ("f(5)", "<E>", "1", "logic_error"),
    ],
)  # fmt: skip
def test_likely_causes(call: str, left: str, right: str, cause: str) -> None:
    assert likely_cause(call, value(left), value(right)) == cause


def test_errors_and_timeouts_are_causes_too() -> None:
    assert likely_cause("f(5)", value("1"), Answer(kind="error", text="KeyError")) == "error"
    assert likely_cause("f(5)", value("1"), Answer(kind="timeout")) == "timeout"


@pytest.mark.parametrize(
    ("marks", "passed", "skipped"),
    [
        ("aaa", (2, 2, 2), "012"),
        ("aa", (2, 2), "01"),
        ("a", (2,), ""),  # one alone agrees with nobody
        ("aab", (2, 2, 2), ""),  # one that passes too behaves otherwise
        ("aab", (2, 2, 1), ""),  # three are few enough to want all of them
        ("aaab", (2, 2, 2, 1), "012"),
        ("abaab", (2, 1, 2, 2, 0), "023"),
        ("aabbc", (2, 2, 1, 1, 1), ""),
        ("aaabbb", (2, 2, 2, 1, 1, 1), "012"),
        ("aaabbb", (2, 2, 2, 2, 1, 1), ""),
        ("aaabbbcc", (2, 2, 2, 1, 1, 1, 0, 0), ""),  # less than half
        ("aaa", (1, 1, 1), ""),  # alike, and wrong
    ],
)
def test_the_gate_skips_a_debate_only_where_enough_pass_and_behave_alike(
    marks: str, passed: tuple[int, ...], skipped: str
) -> None:
    tried = [TrialRun(str(n), (mark,), right, 2) for n, (mark, right) in enumerate(zip(marks, passed, strict=True))]
    assert "".join(solution.name for solution in find_unanimous(tried)) == skipped


def test_the_gate_takes_neither_silence_nor_the_lack_of_examples_for_a_pass() -> None:
    assert not find_unanimous([TrialRun(name, ("<timeout >",), 1, 1) for name in "abc"])
    assert not find_unanimous([TrialRun(name, ("1",), 0, 0) for name in "abc"])


LONG = "x" * 6_000


@pytest.mark.parametrize(
    "text",
    [
        f">>> f(1)\n{LONG}\n>>> f(2)\n3\n",
        f">>> f(1)\n[1, 2]\n['{LONG}']\n>>> f(2)\n3\n",
        f"f(1) ==\n{LONG}\n\nf(2) == 3",
    ],
)
def test_a_result_too_long_to_be_read_states_no_shorter_one(text: str) -> None:
    """A right answer failed the example `f(1)` that gives None."""
    assert [(one.call, one.expected) for one in examples_in(text, "f")] == [("f(2)", "3")]


@pytest.mark.parametrize("name", ["count_" * 12 + "pairs", "a.b.c.d.e.f.g.h.i.j", "a1._b2"])
@pytest.mark.parametrize("before", ["", "-> ", "调用 ", "`"])
def test_a_call_is_read_with_its_whole_name(name: str, before: str) -> None:
    assert [one.call for one in examples_in(f"{before}{name}(2) == 3\n")] == [f"{name}(2)"]


def test_a_call_behind_letters_of_another_script_is_read() -> None:
    assert [one.call for one in examples_in("调用f(2) == 3")] == ["f(2)"]
