"""Why an attempt failed, read out of what test runners say: class of the error, failing input, expected and got."""

import asyncio
from typing import Any

import pytest

from moot.core.types import Answer, Code, Language, Probing, SourceFile, SuiteRun, TestOutcome, Tests
from moot.edge.sandbox import find_sandbox
from moot.evidence.trials.analysis import (
    Analysis,
    combine_analyses,
    failure,
    fit_failures,
    format_failure,
    format_failures,
    of_examples,
    of_suite,
    strip_unstable_parts,
)
from moot.evidence.trials.values import Example
from moot.protocols.harden.defend import find_broken_tests
from moot.protocols.harden.race_baseline import BaselineRun


def outcome(detail: str, status: Any = "failed") -> TestOutcome:
    return TestOutcome(name="test_it", status=status, detail=detail)


PYTHON = "test_s.py:4: in test_it\n    {line}\n{more}"


@pytest.mark.parametrize(
    ("line", "more", "seen"),
    [
        ("assert add(1, 2) == 3", "E   assert -1 == 3\nE    +  where -1 = add(1, 2)",
         {"kind": "wrong_value", "input": "add(1, 2)", "expected": "3", "got": "-1", "place": "test_s.py:4"}),
        ("assert 3 == add(1, 2)", "E   assert 3 == -1\nE    +  where -1 = add(1, 2)",
         {"kind": "wrong_value", "input": "add(1, 2)", "expected": "3", "got": "-1"}),
        ("assert add(1, 2) == 3, 'sum is wrong'", "E   AssertionError: sum is wrong\nE   assert -1 == 3",
         {"kind": "wrong_value", "expected": "3", "got": "-1", "input": "add(1, 2)"}),
        ("assert f() is None", "E   assert 4 is None\nE    +  where 4 = f()",
         {"kind": "wrong_value", "expected": "None", "got": "4", "input": "f()"}),
        ("assert f(2) > 3", "E   assert 2 > 3\nE    +  where 2 = f(2)",
         {"kind": "wrong_value", "expected": "> 3", "got": "2"}),
        ("assert f(2) != 3", "E   assert 3 != 3\nE    +  where 3 = f(2)",
         {"kind": "wrong_value", "expected": "!= 3", "got": "3"}),
        ("self.assertEqual(add(1, 2), 3)", "E   AssertionError: -1 != 3",
         {"kind": "wrong_value", "expected": "3", "got": "-1", "input": "self.assertEqual(add(1, 2), 3)"}),
        ("assert first([]) is None", "app.py:5: in first\n    return x[0]\nE   IndexError: list index out of range",
         {"kind": "exception", "error": "IndexError", "said": "list index out of range", "place": "app.py:5"}),
        ("with pytest.raises(ValueError):", "E   Failed: DID NOT RAISE <class 'ValueError'>",
         {"kind": "no_exception", "expected": "ValueError", "got": "no error"}),
        ("from app import f", "E   ImportError: cannot import name 'f' from 'app' (app.py)",
         {"kind": "missing", "error": "ImportError"}),
        ("import app", 'E     File "app.py", line 1\nE       def f(\nE   SyntaxError: expected \':\'',
         {"kind": "syntax", "error": "SyntaxError", "said": "expected ':'"}),
        ("f()", "E   MemoryError", {"kind": "memory", "error": "MemoryError"}),
        ("f()", "E   json.decoder.JSONDecodeError: Expecting value", {"kind": "exception", "error": "JSONDecodeError"}),
        ("assert ok(1)", "E   assert False\nE    +  where False = ok(1)", {"kind": "wrong_value", "input": "ok(1)"}),
    ],
)  # fmt: skip
def test_what_pytest_says(line: str, more: str, seen: dict[str, str]) -> None:
    found = failure(outcome(PYTHON.format(line=line, more=more))).model_dump()
    assert {key: found[key] for key in seen} == seen


@pytest.mark.parametrize(
    ("detail", "seen"),
    [
        ("Failed example:\n    f(2)\nExpected:\n    4\nGot:\n    5\n", {"expected": "4", "got": "5"}),
        ("Traceback (most recent call last):\n  File \"a.py\", line 2, in f\nKeyError: 'x'\n",
         {"kind": "exception", "error": "KeyError", "said": "'x'"}),
        ("AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n\n-1 !== 3\n\n    at a.test.js:2:25",
         {"kind": "wrong_value", "expected": "3", "got": "-1"}),
        ("AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:\n\n[\n  -1\n]\n\n"
         "should loosely deep-equal\n\n[\n  3\n]\n    at a.test.js:2:72", {"expected": "[ 3 ]", "got": "[ -1 ]"}),
        ("TypeError: x is not a function\n    at a.test.js:2:1", {"kind": "exception", "error": "TypeError"}),
        ("ReferenceError: f is not defined\n    at a.test.js:2:1", {"kind": "missing", "error": "ReferenceError"}),
        ("=== RUN   TestAdd\n    a_test.go:3: Add(1, 2) = -1; want 3\n--- FAIL: TestAdd (0.00s)\n",
         {"kind": "wrong_value", "input": "Add(1, 2)", "expected": "3", "got": "-1", "place": "a_test.go:3"}),
        ("=== RUN   TestAdd\n    a_test.go:9: got 5, want 7\n--- FAIL: TestAdd (0.00s)\n",
         {"kind": "wrong_value", "expected": "7", "got": "5"}),
        ("=== RUN   TestB\n--- FAIL: TestB (0.00s)\n"
         "panic: runtime error: index out of range [1] with length 0 [recovered]\n",
         {"kind": "exception", "error": "panic", "said": "runtime error: index out of range [1] with length 0"}),
        ("./a_test.go:5:9: undefined: Add\n", {"kind": "missing", "error": "build failed", "place": "a_test.go:5"}),
        ("./a.go:2:1: syntax error: unexpected }\n", {"kind": "syntax", "place": "a.go:2"}),
        ("nobody knows", {"kind": "no_answer", "said": "nobody knows"}),
        ("", {"kind": "no_answer"}),
    ],
)  # fmt: skip
def test_what_other_runners_say(detail: str, seen: dict[str, str]) -> None:
    found = failure(outcome(detail)).model_dump()
    assert {key: found[key] for key in seen} == seen


@pytest.mark.parametrize(
    ("example", "answer", "seen"),
    [
        (Example(call="f(2)", expected="4"), Answer(kind="value", text="5"),
         {"kind": "wrong_value", "input": "f(2)", "expected": "4", "got": "5", "cause": "off_by_one"}),
        (Example(call="f([])", expected="None"), Answer(kind="error", text="IndexError", detail="out of range"),
         {"kind": "exception", "error": "IndexError", "got": "IndexError: out of range", "cause": "empty_input"}),
        (Example(call="f(-1)", raises="ValueError"), Answer(kind="value", text="0"),
         {"kind": "no_exception", "expected": "ValueError", "got": "0"}),
        (Example(call="f(1)", expected="1"), Answer(kind="error", text="NameError"), {"kind": "missing"}),
        (Example(call="f(9)", expected="1"), Answer(kind="timeout"), {"kind": "timeout", "cause": "timeout"}),
        (Example(call="f(9)", expected="1"), Answer(kind="none", detail="gone"), {"kind": "no_answer", "got": "gone"}),
    ],
)  # fmt: skip
def test_what_an_example_shows(example: Example, answer: Answer, seen: dict[str, str]) -> None:
    analysis = of_examples([example], Probing(answers=(answer,)))
    (missed,) = analysis.failures
    found = missed.model_dump()
    assert {key: found[key] for key in seen} == seen
    assert (analysis.passed, analysis.of, analysis.green) == (0, 1, False)


@pytest.mark.parametrize(
    ("problem", "kind", "error"),
    [
        ("SyntaxError: invalid syntax (line 1)", "syntax", "SyntaxError"),
        ("ModuleNotFoundError: No module named 'x'", "missing", "ModuleNotFoundError"),
        ("no answer within the limit of 60 s", "timeout", ""),
        ("more memory than the limit of 512 MiB", "memory", ""),
        ("", "no_answer", ""),
    ],
)
def test_code_that_cannot_be_loaded_passes_nothing(problem: str, kind: str, error: str) -> None:
    analysis = of_examples([Example(call="f(1)", expected="1")], Probing(problem=problem))
    assert (analysis.passed, analysis.of, analysis.green) == (0, 1, False)
    assert (analysis.failures[0].kind, analysis.failures[0].error) == (kind, error)


def test_what_counts_as_green() -> None:
    passed, skipped = (TestOutcome(name=name, status=name) for name in ("passed", "skipped"))
    assert of_suite(SuiteRun(outcomes=(passed,))).green
    assert of_suite(SuiteRun(outcomes=(passed, skipped))).green
    assert not of_suite(SuiteRun(outcomes=(skipped,))).green
    assert not of_suite(SuiteRun()).green
    assert not of_suite(SuiteRun(outcomes=(passed,), problem="broke off")).green
    assert not combine_analyses(of_suite(SuiteRun(outcomes=(passed,))), Analysis(problem="lost")).green
    assert of_suite(SuiteRun(outcomes=(passed, outcome("x")))).summary == "1 of 2 passed"


def test_no_address_and_no_place_of_this_machine_reaches_the_words() -> None:
    said = "E    +  where 1 = <function add at 0x7fd6>(1, 2)\n/lib/site-packages/x.py:1: in f\nobject at 0x12ab>"
    assert strip_unstable_parts(said) == "E    +  where 1 = add(1, 2)\nobject>"


def test_every_failure_that_fits_is_told_and_the_others_are_named() -> None:
    many = of_suite(SuiteRun(outcomes=tuple(outcome(f"E   assert {n} == 0") for n in range(1, 31))))
    words = format_failures(many)
    assert words.count("got: ") == 30 and "not shown" not in words
    few = fit_failures(many, 100)
    assert 0 < len(few.parts) < 31 and few.missing[-1] == "failure of test_it: not shown" and few.note in few.join()
    assert len(format_failure(failure(outcome("E   assert " + "9" * 5000 + " == 0")))) < 600


CASES: list[tuple[Language, str, str, str, str, dict[str, str]]] = [
    ("python", "solution.py", "def f(x):\n    return [x]\n", "test_s.py",
     "from solution import f\n\ndef test_f():\n    assert f(2) == [3]\n",
     {"input": "f(2)", "expected": "[3]", "got": "[2]"}),
    ("javascript", "solution.js", "exports.f = (x) => x;\n", "s.test.js",
     "const { f } = require('./solution.js');\nrequire('node:test')('f', () => require('assert').equal(f(2), 3));\n",
     {"expected": "3", "got": "2"}),
    ("go", "solution.go", "package s\n\nfunc F(x int) int { return x }\n", "s_test.go",
     'package s\n\nimport "testing"\n\nfunc TestF(t *testing.T) {\n\tif got := F(2); got != 3 {\n'
     '\t\tt.Errorf("F(2) = %d; want %d", got, 3)\n\t}\n}\n', {"input": "F(2)", "expected": "3", "got": "2"}),
]  # fmt: skip


@pytest.mark.parametrize(("language", "path", "text", "name", "tests", "seen"), CASES, ids=lambda v: str(v)[:10])
def test_real_runs_are_understood(
    language: Language, path: str, text: str, name: str, tests: str, seen: dict[str, str]
) -> None:
    code = Code(files=(SourceFile(path=path, language=language, text=text),))
    run = asyncio.run(find_sandbox().run(code, Tests(files=((name, tests),), language=language)))
    (missed,) = of_suite(run).failures
    found = missed.model_dump()
    assert {key: found[key] for key in seen} == seen, run


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("assert largest([1, 3]) == 3", {"input": "largest([1, 3])", "expected": "3", "got": "0"}),
        ("assert 3 == largest([1, 3])", {"input": "largest([1, 3])", "expected": "3", "got": "0"}),
        ("assert largest([1, 3]) == 3, 'wrong'", {"input": "largest([1, 3])", "expected": "3", "got": "0"}),
        (
            "assert largest([]) is None",
            {"input": "largest([])", "expected": "None", "got": "0", "cause": "empty_input"},
        ),
    ],
)
def test_the_same_is_read_from_tests_that_run_without_pytest(line: str, seen: dict[str, str]) -> None:
    tests = Tests(language="python", files=(("test_s.py", f"from s import largest\n\n\ndef test_it():\n    {line}\n"),))
    code = Code(files=(SourceFile(path="s.py", language="python", text="def largest(numbers):\n    return 0\n"),))
    run = asyncio.run(find_sandbox().run(code, tests))
    assert "Traceback" in run.outcomes[0].detail
    found = failure(run.outcomes[0]).model_dump()
    assert {key: found[key] for key in seen} == seen and found["place"] == "test_s.py:5"


APART = TestOutcome(name="a", status="passed")
NEEDED = TestOutcome(name="b", status="passed", in_process="the test hands over a function of its own")
DECIDED = TestOutcome(name="c", status="passed", in_process="the code's own __eq__ decides", code_decides=True)


@pytest.mark.parametrize(
    ("outcomes", "green", "worth", "apart"),
    [
        ((APART,), True, 1, 1),
        ((APART, NEEDED), True, 2, 1),
        ((NEEDED,), True, 1, 0),
        ((APART, DECIDED), False, 1, 1),
        ((DECIDED,), False, 0, 0),
    ],
)
def test_what_the_code_decided_itself_proves_nothing(
    outcomes: tuple[TestOutcome, ...], green: bool, worth: float, apart: int
) -> None:
    found = of_suite(SuiteRun(outcomes=outcomes))
    assert (found.green, found.worth, found.apart) == (green, worth, apart)
    assert ("in process" in found.caveat) == (outcomes != (APART,))


def test_a_patch_may_not_move_a_test_into_its_own_process() -> None:
    before = BaselineRun(tests=None, run=SuiteRun(outcomes=(APART, NEEDED)))
    moved = APART.model_copy(update={"in_process": "the test uses the code's class A"})
    assert find_broken_tests(SuiteRun(outcomes=(APART, NEEDED)), before) == []
    assert find_broken_tests(SuiteRun(outcomes=(moved, NEEDED)), before) == ["a"]
