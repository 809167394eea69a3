"""Tests out of what agents write, and the rules by which each of them gets a say or does not."""

import asyncio
from collections.abc import Sequence

import pytest

from moot.core.types import Absent, Answer, Code, Probing, SuiteRun, TestOutcome, Tests
from moot.edge.clock import SystemClock
from moot.edge.sandbox import find_sandbox
from moot.evidence.trials.suites import SuiteTest, TestSuite, of_files, of_reply, of_task
from moot.evidence.trials.validity import Judged, Ran, by_reading, by_running, stub_of
from moot.evidence.trials.values import Example
from moot.protocols.solve.attempts import Task, task_examples
from moot.protocols.solve.examining import ask_for_tests, valid_tests
from moot.runtime.ports import SessionPorts
from moot.testing import FakeSandbox, FakeScanner, FrozenClock, ScriptedModel, one_file, room

TEXT = "Write largest(numbers): the largest of a list, None for an empty one. largest([1, 3]) -> 3"
TASK = Task(text=TEXT, language="python", path="solution.py", examples=task_examples(TEXT, "python"))
RIGHT = one_file("def largest(numbers):\n    return max(numbers, default=None)\n", "solution.py")


def told(text: str) -> list[tuple[str, str, str]]:
    """What was read: call or text, value or error, category."""
    made = of_reply(text).made
    return [
        (t.example.call, t.example.expected or t.example.raises, t.category)
        if t.example
        else (t.text.strip(), "", t.category)
        for t in made
    ]


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("assert f(2) == 4  # functional\n", [("f(2)", "4", "functional")]),
        ("assert f([]) == []  # edge_case, moderate\n", [("f([])", "[]", "edge_case")]),
        ("f(2) == 4\nf(2) == 4\n", [("f(2)", "4", "functional")]),
        (
            "# Edge cases\nassert f(0) == 0\nassert f(-1) is None\n",
            [("f(0)", "0", "edge_case"), ("f(-1)", "None", "edge_case")],
        ),
        ("1. `f(2) == 4`\n2. f(3) -> 9  # edge case\n", [("f(2)", "4", "functional"), ("f(3)", "9", "edge_case")]),
        (
            "- edge_case: f('') == ''\n- **Security**: f('a; b') == 'a'\n",
            [("f('')", "''", "edge_case"), ("f('a; b')", "'a'", "security")],
        ),
        ("f(-1) raises ValueError  # error_handling\n", [("f(-1)", "ValueError", "error_handling")]),
        ("with pytest.raises(ValueError):\n    f(-1)\n", [("f(-1)", "ValueError", "error_handling")]),
        ("def test_empty_list():\n    assert f([]) == 0\n", [("f([])", "0", "edge_case")]),
        (
            "import unittest\nclass TestF(unittest.TestCase):\n    def test_a(self):\n"
            "        self.assertEqual(f(1), 2)\n        self.assertRaises(TypeError, f, 'x')\n",
            [("f(1)", "2", "functional"), ("f('x')", "TypeError", "error_handling")],
        ),
        ("N = 5\nassert f([0] * N) == 0  # large\n", [("N = 5\nassert f([0] * N) == 0", "", "performance")]),
        (
            "def test_threads():\n    x = f(1)\n    assert x == f(1)\n",
            [("def test_threads():\n    x = f(1)\n    assert x == f(1)", "", "concurrency")],
        ),
        ("Here are the tests:\n\nEdge cases:\nf(0) returns 0\n", [("f(0)", "0", "edge_case")]),
        ("I cannot do that.", []),
        ("", []),
        ("def f(x):\n    return x\n", []),
    ],
)  # fmt: skip
def test_messy_replies_are_read(reply: str, read: list[tuple[str, str, str]]) -> None:
    assert told(reply) == read


def test_a_suite_comes_from_files_from_a_task_and_from_a_reply() -> None:
    given = Tests(files=(("test_a.py", "def test_a(): pass\n"),))
    assert of_files(given).given == given
    assert of_task(TEXT).examples == TASK.examples and of_task(TEXT).made[0].origin == "task"
    suite = of_reply("assert f(1) == 1  # security, expert\nassert f(2) == 2\n")
    assert suite.made[0].difficulty == "expert" and suite.made[0].origin == "agent"
    assert suite.counted() == {"security": 1, "functional": 1}


def made(call: str, expected: str = "", raises: str = "") -> SuiteTest:
    return SuiteTest(name=call, example=Example(call=call, expected=expected, raises=raises))


@pytest.mark.parametrize(
    ("tests", "flaws"),
    [
        ([made("largest([2])", "2")], [None]),
        ([made("largest([1,3])", "1")], ["contradicts"]),
        ([made("largest([1, 3])", "3.0")], [None]),
        ([made("largest([1, 3])", raises="ValueError")], ["contradicts"]),
        ([made("largest([5])", "5"), made("largest([5])", "6")], ["contradicts", "contradicts"]),
        ([made("smallest([5])", "5")], ["not_about_task"]),
        ([SuiteTest(name="t", text="assert largest([1, 3]) == 1\n")], ["contradicts"]),
        ([SuiteTest(name="t", text="assert True\n")], ["not_about_task"]),
    ],
)
def test_what_reading_alone_shows(tests: list[SuiteTest], flaws: list[str | None]) -> None:
    assert [one.flaw for one in by_reading(tests, TASK.examples, TASK.names)] == flaws


FAILS, PASSES = Ran(first="failed", second="failed"), Ran(first="passed", second="passed")
WAVERS = Ran(first="failed", second="passed")


@pytest.mark.parametrize(
    ("stub", "solutions", "flaw"),
    [
        (FAILS, [], None),
        (FAILS, [PASSES, FAILS], None),
        (PASSES, [PASSES], "passes_on_stub"),
        (WAVERS, [], "not_deterministic"),
        (FAILS, [WAVERS], "not_deterministic"),
        (FAILS, [WAVERS, PASSES], None),
        (Ran(first="failed", second="failed", same=False), [], "not_deterministic"),
        (Ran(first="broken", second="broken"), [PASSES], "does_not_run"),
    ],
)
def test_what_runs_show(stub: Ran, solutions: list[Ran], flaw: str | None) -> None:
    assert by_running(Judged(test=made("f(1)", "1")), stub, solutions).flaw == flaw


def judged(reply: str, *solutions: str, task: Task = TASK) -> list[tuple[str, str | None]]:
    live = room({}, SessionPorts(scanner=FakeScanner(), clock=SystemClock(), sandbox=find_sandbox()))
    codes = [one_file(text, "solution.py") for text in solutions]
    found = asyncio.run(valid_tests(of_reply(reply), task, live, codes))
    assert all(one.detail for one in found if not one.valid)
    return [(one.test.name, one.flaw) for one in found]


def test_generated_tests_are_judged_in_the_sandbox() -> None:
    reply = """assert largest([2, 9]) == 9  # functional
assert largest([]) == None  # edge_case
assert largest([1, 3]) == 1
assert len([largest([1])]) == 1
assert largest([1, helper()]) == 3
assert smallest([1]) == 1
"""
    found = judged(reply, RIGHT.files[0].text)
    assert found == [
        ("largest([2, 9])", None),
        ("largest([])", None),
        ("largest([1, 3])", "contradicts"),
        ("assert len([largest([1])]) == 1", "passes_on_stub"),
        ("assert largest([1, helper()]) == 3", "does_not_run"),
        ("smallest([1])", "not_about_task"),
    ]


def test_a_test_that_wavers_has_no_say() -> None:
    answers = iter(["1", "1", "1", "2"])
    statuses = iter(["failed", "passed", "failed", "failed", *["passed"] * 4])

    def put(code: Code, calls: Sequence[str]) -> Probing:
        return Probing(answers=tuple(Answer(kind="value", text=next(answers)) for _ in calls))

    def run(code: Code, tests: Tests) -> SuiteRun:
        return SuiteRun(outcomes=(TestOutcome.model_validate({"name": "t", "status": next(statuses)}),))

    live = room({}, SessionPorts(scanner=FakeScanner(), clock=FrozenClock(), sandbox=FakeSandbox(run, judge_calls=put)))
    suite = of_reply("assert largest([2]) == 2\nassert largest([0] * 3) == 1\nassert largest([0] * 4) == 1\n")
    found = asyncio.run(valid_tests(suite, TASK, live, [RIGHT]))
    assert [one.flaw for one in found] == ["not_deterministic", "not_deterministic", None]


def test_one_broken_solution_says_nothing_of_the_tests() -> None:
    assert judged("assert largest([2]) == 2\n", "def largest(:\n", RIGHT.files[0].text) == [("largest([2])", None)]


def test_names_come_from_the_tests_where_the_task_has_none() -> None:
    task = Task(text="Write something that adds.", language="python", path="solution.py")
    assert judged("assert add(1, 2) == 3\nassert add(1, 1) == None\n", task=task) == [
        ("add(1, 2)", None),
        ("add(1, 1)", None),
    ]


def test_other_languages_are_not_judged_and_so_have_no_say() -> None:
    task = TASK.model_copy(update={"language": "go"})
    assert judged("assert largest([2]) == 2\n", task=task) == [("largest([2])", "does_not_run")]


def test_stubs_have_the_names_and_do_nothing() -> None:
    names: dict[str, object] = {}
    exec(stub_of(["f", "Stack"], ["Stack"]), names)
    stack = names["Stack"](3)  # type: ignore[operator]
    assert stack.push(1) is None and names["f"](1, key=2) is None  # type: ignore[operator]


def asked(*replies: str) -> tuple[TestSuite | Absent, ScriptedModel]:
    model = ScriptedModel({"tester": list(replies)})
    live = room({"tester": model})
    return asyncio.run(ask_for_tests(TASK, "tester", 1, live)), model


def test_a_seat_is_asked_in_the_form_that_is_read() -> None:
    suite, model = asked("TESTS:\nFILE: test_made.py\n```python\nassert largest([4]) == 4  # edge_case\n```\n")
    assert isinstance(suite, TestSuite) and suite.made[0].category == "edge_case"
    assert "largest(...) == ..." in model.asked[0].prompt and len(model.asked[0].prompt) < 1800
    again, _ = asked("Sure!\n```\nlargest([4]) == 4\n```\nDone.")
    assert isinstance(again, TestSuite) and len(again.made) == 1


@pytest.mark.parametrize("reply", ["I'm sorry, I can't.", "```python\ndef largest(n): return 1\n```", ""])
def test_no_readable_test_is_an_absence(reply: str) -> None:
    suite, _ = asked(reply, reply)
    assert isinstance(suite, Absent) and suite.why in ("unreadable", "refused")
