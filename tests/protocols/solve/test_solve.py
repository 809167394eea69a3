"""`moot solve`, path by path, through the CLI: what is asked, what is run, what is kept, what is said at the end."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from solve_kit import CHANGE, REFUSAL, RIGHT, TASK, TESTS, WORSE, WRONG, code, coder, reflection, reflector, world

from moot.core.types import Tests
from moot.edge.files.sources import read_tests
from moot.protocols.solve.attempts import Task as SolveTask
from moot.protocols.solve.attempts import choose_block, task_examples
from moot.surfaces.extensions.solve import solution_path
from moot.text.replies import CodeBlock


def run(cli: Cli, folder: Path, *entries: dict[str, object], more: tuple[str, ...] = (), **kind: Any) -> dict[str, Any]:
    ran = cli(*world(folder, *entries, **kind), *more)
    assert ran.out, ran.err
    return {**json.loads(ran.out), "exit": ran.code}


def story(cli: Cli, session: str) -> dict[str, Any]:
    return dict(json.loads(cli("show", session, "--json").out))


def prompts(told: dict[str, Any], phase: str) -> list[str]:
    calls = [s["value"]["call"] for s in told["steps"] if s["name"].startswith("ask ")]
    return [call["prompt"] for call in calls if call["phase"] == phase]


def test_a_first_attempt_that_passes_is_the_result_after_one_call(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(RIGHT)))
    assert (result["exit"], result["outcome"], result["stop_reason"]) == (0, "solved", "all_passed")
    assert (result["code"], result["best"], result["calls"], result["rounds"]) == (RIGHT, 1, 1, 1)
    assert (result["passed"], result["of"], result["tests_given"], result["examples"]) == (4, 4, True, 1)
    assert result["degraded"] == [] and result["lessons_learnt"] == []


LIAR = (
    "class N(int):\n    __eq__ = int.__ne__\n    __hash__ = int.__hash__\n"
    "def largest(numbers):\n    return N(-5) if numbers else None\n"
)
ITSELF = (
    "class largest:\n    def __init__(self, numbers): self.numbers = numbers\n"
    "    def __eq__(self, other): return other in self.numbers\n    __hash__ = None\n"
)


@pytest.mark.parametrize("text", [LIAR, ITSELF], ids=["a number that lies", "a class that decides for itself"])
def test_code_that_judges_itself_is_not_solved(cli: Cli, tmp_path: Path, text: str) -> None:
    tests = "from solution import largest\ndef test_some(): assert largest([1, 3, 2]) == 3\n"
    result = run(
        cli, tmp_path, *coder(code(text), code(text)), *reflector(reflection()), tests=tests, more=("--attempts", "2")
    )
    assert (result["exit"], result["outcome"]) == (1, "unsolved"), result


def test_a_failure_is_reflected_on_and_the_next_prompt_holds_all_of_it(cli: Cli, tmp_path: Path) -> None:
    entries = [*coder(code(WORSE), code(WRONG), code(RIGHT)), *reflector(reflection("Use max."), reflection())]
    result = run(cli, tmp_path, *entries)
    assert (result["outcome"], result["best"], result["calls"]) == ("solved", 3, 5)
    assert [a["analysis"]["passed"] for a in result["attempts"]] == [0, 3, 4]
    told = story(cli, result["session_id"])
    first, second, third = prompts(told, "solve")
    assert "failed its tests" not in first and TESTS.strip() in first
    assert WORSE.strip() in second and "change: Use max." in second and "got: 0" in second
    assert WRONG.strip() in third and "Use max." in third and CHANGE in third and "ValueError" in third
    reflected = prompts(told, "reflect")
    assert "ValueError: max() " in reflected[1] and "Use max." in reflected[1]


def test_every_attempt_is_a_version_with_its_diff_and_its_figures(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(reflection()))
    one, two = story(cli, result["session_id"])["versions"]
    assert (one["code"], two["code"], one["diff"]) == (WRONG, RIGHT, "")
    assert "+    return max(numbers, default=None)" in two["diff"]
    figures = ("attempt", "passed", "failed")
    assert [[v["metrics"][key] for key in figures] for v in (one, two)] == [[1, 3, 1], [2, 4, 0]]
    assert (one["pass_rate"], two["pass_rate"]) == (0.75, 1.0)


def test_the_best_attempt_is_returned_and_not_the_last(cli: Cli, tmp_path: Path) -> None:
    entries = [*coder(code(WRONG), code(WORSE), code(WORSE)), *reflector(reflection(), reflection())]
    result = run(cli, tmp_path, *entries, more=("--out", "best.py", "--write-anyway"))
    assert (result["exit"], result["outcome"], result["stop_reason"]) == (1, "unsolved", "attempts_spent")
    assert (result["best"], result["code"], result["passed"], result["of"]) == (1, WRONG, 3, 4)
    assert (tmp_path / "best.py").read_text() == WRONG
    assert story(cli, result["session_id"])["versions"][-1]["code"] == WRONG, "what is kept last is the best"


def test_an_attempt_that_fails_is_not_written_unless_that_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "best.py").write_text("kept\n")
    ran = cli(*world(tmp_path, *coder(code(WRONG))), "--attempts", "1", "--out", "best.py", "--force")
    assert ran.code == 1 and (tmp_path / "best.py").read_text() == "kept\n"
    assert "nothing was written: unsolved" in ran.err and "--write-anyway" in ran.err
    more = ("--attempts", "1", "--out", "best.py", "--write-anyway", "--force")
    ran = cli(*world(tmp_path, *coder(code(WRONG))), *more)
    assert ran.code == 1 and (tmp_path / "best.py").read_text() == WRONG
    assert "do not rely on it" in ran.err


def test_attempts_are_as_many_as_asked_for(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WRONG)), more=("--attempts", "1"))
    assert (result["outcome"], result["rounds"], result["calls"]) == ("unsolved", 1, 1)


def test_examples_in_the_task_decide_where_there_are_no_tests(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WORSE), code(WRONG)), *reflector(reflection()), tests=None)
    assert (result["outcome"], result["of"], result["examples"], result["tests_given"]) == ("solved", 1, 1, False)
    (missed,) = result["attempts"][0]["analysis"]["failures"]
    assert (missed["input"], missed["expected"], missed["got"]) == ("largest([1, 3])", "3", "0")


def test_one_passing_example_is_told_as_one_and_what_nothing_touches_is_named(cli: Cli, tmp_path: Path) -> None:
    kept = "def slug(title):\n    return title.lower().replace(' ', '-')\n"
    command = world(tmp_path, *coder(code(kept)), tests=None)
    command[1] = "Write slug(title): lower case, words joined by hyphens, accents removed. slug('A b') gives 'a-b'."
    result = json.loads(cli(*command).out)
    assert (result["outcome"], result["untested"]) == ("solved", ["accents removed"])
    assert result["known"] == "passes the 1 example of the task; nothing else was tested"
    assert result["degraded"] == ["no test touches these words of the task: accents removed"]
    first = cli(*(word for word in command if word != "--json")).out
    assert "solved by attempt 1: passes the 1 example of the task; nothing else was tested" in first, first


def test_without_tests_and_examples_nothing_is_claimed(cli: Cli, tmp_path: Path) -> None:
    command = world(tmp_path, *coder(code(RIGHT)), tests=None)
    command[1] = "Write a function that finds the largest number."
    ran = cli(*command)
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"], result["stop_reason"], result["calls"]) == (2, "not_tested", "not_tested", 1)
    assert result["code"] == RIGHT and any("not tested" in note for note in result["degraded"])


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("def test_nothing():\n    assert True\n", "pass on an empty file"),
        ("x = 1\n", "no test was found"),
        ("import pytest\npytest.skip('later', allow_module_level=True)\n", "every test was skipped"),
    ],
)
def test_tests_that_prove_nothing_do_not_count(cli: Cli, tmp_path: Path, tests: str, said: str) -> None:
    command = world(tmp_path, *coder(code(RIGHT)), tests=tests)
    command[1] = "Find the largest number."
    ran = cli(*command)
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"], result["tests_given"]) == (2, "not_tested", False)
    assert any(said in note for note in result["degraded"])


def test_code_that_is_there_already_is_run_first_and_counts_as_no_attempt(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(WRONG)
    more = ("--file", "solution.py", "--attempts", "1", "--out", "solution.py", "--force")
    result = run(cli, tmp_path, *coder(code(RIGHT)), *reflector(reflection()), more=more)
    assert (result["outcome"], result["best"], result["rounds"]) == ("solved", 1, 1)
    assert [a["number"] for a in result["attempts"]] == [0, 1]
    assert (tmp_path / "solution.py").read_text() == RIGHT


def test_code_that_passes_already_needs_no_model(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(RIGHT)
    result = run(cli, tmp_path, more=("--file", "solution.py"))
    assert (result["outcome"], result["best"], result["calls"]) == ("solved", 0, 0)


def test_without_a_model_the_failure_is_looked_into_by_rules(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_text(WRONG)
    (tmp_path / "test_solution.py").write_text(TESTS)
    command = ("solve", TASK, "--file", "solution.py", "--tests", "test_solution.py", "--no-llm")
    ran = cli(*command, "--json")
    result = json.loads(ran.out)
    assert (ran.code, result["outcome"], result["stop_reason"], result["calls"]) == (1, "unsolved", "no_model", 0)
    (failure,) = result["attempts"][0]["analysis"]["failures"]
    assert (failure["kind"], failure["error"], failure["place"]) == ("exception", "ValueError", "solution.py:2")
    assert failure["input"] == "largest([])"
    shown = cli(*command)
    assert shown.out.startswith("unsolved: ") and "error: ValueError: max() " in shown.out
    assert "no model was called" in shown.out


@pytest.mark.parametrize("more", [(), ("--no-llm",), ("--file", "solution.py")])
def test_without_a_model_it_says_what_to_set(cli: Cli, tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "solution.py").write_text(WRONG)
    ran = cli("solve", TASK, *more)
    assert ran.code == 2 and ran.out == "" and "MOOT_MODEL" in ran.err and "--no-llm" in ran.err


@pytest.mark.parametrize("bad", [REFUSAL, "", "CODE:\nFILE: solution.py\n```python\n", "```python\ndef largest(nu"])
def test_a_reply_without_code_is_never_an_attempt_that_passed(cli: Cli, tmp_path: Path, bad: str) -> None:
    result = run(cli, tmp_path, *coder(*[bad] * 6))
    assert (result["exit"], result["outcome"], result["best"], result["code"]) == (2, "inconclusive", None, "")
    assert [a["absent"] for a in result["attempts"]] == ["unreadable"] * 3


def test_after_a_refusal_the_next_attempt_goes_on(cli: Cli, tmp_path: Path) -> None:
    entries = [*coder(code(WRONG), REFUSAL, REFUSAL, code(RIGHT)), *reflector(reflection())]
    result = run(cli, tmp_path, *entries)
    assert (result["outcome"], result["best"]) == ("solved", 3)
    assert [a["absent"] for a in result["attempts"]] == [None, "unreadable", None]
    assert WRONG.strip() in prompts(story(cli, result["session_id"]), "solve")[-1]


def test_where_nobody_reflects_the_failure_analysis_stands_in(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(REFUSAL, REFUSAL))
    assert (result["outcome"], result["best"], result["lessons_learnt"]) == ("solved", 2, [])
    assert any("failure analysis stands in" in note for note in result["degraded"])
    assert "ValueError" in prompts(story(cli, result["session_id"]), "solve")[-1]


def test_a_budget_that_ends_gives_the_best_so_far_and_can_be_carried_on(cli: Cli, tmp_path: Path) -> None:
    entries = [*coder(code(WRONG), code(RIGHT)), *reflector(reflection())]
    result = run(cli, tmp_path, *entries, more=("--max-calls", "2", "--out", "best.py"))
    assert (result["exit"], result["outcome"], result["code"], result["best"]) == (2, "budget_exhausted", WRONG, 1)
    assert result["resumable"] and not (tmp_path / "best.py").exists()
    ran = cli("resume", result["session_id"], "--max-calls", "9", "--json")
    resumed = json.loads(ran.out)
    assert (ran.code, resumed["outcome"], resumed["calls"], resumed["best"]) == (0, "solved", 3, 2)
    assert (tmp_path / "best.py").read_text() == RIGHT


def test_a_provider_that_fails_is_no_spent_attempt(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WRONG), {"error": "auth"}), *reflector(reflection()))
    assert (result["exit"], result["outcome"], result["stop_reason"]) == (2, "inconclusive", "absent")
    assert result["resumable"] and result["code"] == WRONG
    world(tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(reflection()))  # the provider works again
    resumed = json.loads(cli("resume", result["session_id"], "--json").out)
    assert (resumed["outcome"], resumed["best"]) == ("solved", 2)


def test_secrets_in_task_and_tests_reach_no_prompt_and_no_record(cli: Cli, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    tests = TESTS + f"\n\ndef test_key():\n    assert largest([1]) == 1, {secret!r}\n"
    result = run(cli, tmp_path, *coder(code(RIGHT)), tests=tests)
    assert result["outcome"] == "solved"
    assert secret not in json.dumps(story(cli, result["session_id"]))


def test_the_page_of_a_session_tells_it_all(cli: Cli, tmp_path: Path) -> None:
    result = run(cli, tmp_path, *coder(code(WRONG), code(RIGHT)), *reflector(reflection()))
    told = cli("show", result["session_id"]).out
    for words in ("Examples are tried", "An episode is kept", "A lesson is learnt", "Version 2: attempt 2: 4 of 4"):
        assert words in told


@pytest.mark.parametrize(
    ("tests", "language", "path"),
    [
        ("from solution import f\n", "python", "solution.py"),
        ("import json\nimport pytest\nfrom tools.slug import f\n", "python", "tools/slug.py"),
        ("import slug\n", "python", "slug.py"),
        ("import json\n", "python", "solution.py"),
        ("const f = require('./slug');\n", "javascript", "slug.js"),
        ("import test from 'node:test';\nimport { f } from './lib/slug.js';\n", "javascript", "lib/slug.js"),
        ("import { f } from './slug.ts';\n", "typescript", "slug.ts"),
        ("package slug\n", "go", "solution.go"),
    ],
)
def test_the_tests_say_which_file_the_solution_is(tests: str, language: Any, path: str) -> None:
    name = {"python": "test_it.py", "javascript": "it.test.js", "typescript": "it.test.ts", "go": "it_test.go"}[
        language
    ]
    assert solution_path(Tests(files=((name, tests),), language=language), language) == path


def test_a_module_beside_the_tests_is_not_the_solution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "kit.py").write_text("X = 1\n")
    (folder / "test_a.py").write_text("import kit\nfrom slug import f\n")
    assert solution_path(read_tests("tests"), "python") == "slug.py"


@pytest.mark.parametrize(
    ("task", "calls"),
    [
        ("def f(x):\n    '''f(2) -> 4; len([1]) is 1'''", ["f(2)"]),
        ("Write f. f(2) -> 4 and g(3) gives 9", ["f(2)", "g(3)"]),
        ("def g(x): ...\n\ndef f(x):\n    '''\n    >>> f(1)\n    2\n    >>> g(1)\n    1\n    '''", ["g(1)", "f(1)"]),
        ("def f(n):\n    '''For n = 5, the output should be 1'''", ["f(5)"]),
        ("Nothing here", []),
    ],
)
def test_examples_are_those_of_what_the_task_defines(task: str, calls: list[str]) -> None:
    assert [example.call for example in task_examples(task, "python")] == calls


def test_of_several_blocks_the_one_is_taken_that_defines_what_was_asked_for() -> None:
    task = SolveTask(text="def f(x):\n", language="python", path="solution.py")
    short, usage = CodeBlock(path="", text="def f(x):\n    return 1\n"), CodeBlock(path="", text="print(f(1))\n" * 9)
    assert choose_block([short, usage], task) == short.text
    named = CodeBlock(path="./solution.py", text="f = abs\n")
    assert choose_block([short, named, usage], task) == named.text


@pytest.mark.parametrize(
    ("text", "advice", "lesson"),
    [
        (
            "def fizzbuzz(n):\n    '''fizzbuzz(3) -> 'Fizz''''",
            "Let fizzbuzz check 15",
            "Let the function check a figure",
        ),
        ("def largest(xs):\n    '''The largest number.'''", "Keep the largest so far", "Keep the largest so far"),
        ("Write largest(xs): the largest. largest([1]) -> 1", "Mend `largest` first", "Mend the function first"),
        ("Write `sum_all`: sum_all([1]) -> 1", "Begin sum_all with zero", "Begin the function with zero"),
    ],
)
def test_a_lesson_holds_no_name_of_its_task_but_its_words(text: str, advice: str, lesson: str) -> None:
    examples = task_examples(text, "python")
    assert SolveTask(text=text, language="python", path="solution.py", examples=examples).general(advice) == lesson
