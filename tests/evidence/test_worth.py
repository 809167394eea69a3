"""What tests are worth: faults they notice, and that tests which say nothing are worth nothing."""

import asyncio
import json
from pathlib import Path

import pytest
from conftest import Cli

from moot.core.measures import MutationScore
from moot.core.types import Code, SuiteRun, TestOutcome, Tests
from moot.edge.sandbox import find_sandbox
from moot.evidence.trials.mutants import mutants
from moot.evidence.trials.worth import judge_mutant, mutation_score
from moot.surfaces.library.run import run_tests
from moot.testing import one_file

CODE = one_file("def clamp(x, low):\n    if x < low:\n        return low\n    return x\n")
GOOD = "from app import clamp\nassert clamp(1, 2) == 2\nassert clamp(3, 2) == 3\n"
NAMED = Tests(files=(("test_app.py", ""),))


def run_of(status: str = "passed", problem: str = "", detail: str = "", seconds: float = 1.0) -> SuiteRun:
    outcome = TestOutcome.model_validate({"name": "t", "status": status, "detail": detail})
    return SuiteRun(outcomes=(outcome,), problem=problem, seconds=seconds)


def scored(tests: str, code: Code = CODE, limit: int = 30) -> MutationScore:
    given = Tests(files=(("test_app.py", tests),))
    return asyncio.run(mutation_score(code, given, find_sandbox().run, limit))


def test_good_tests_notice_and_the_equivalent_fault_survives() -> None:
    found = scored(GOOD)
    assert [m.what for m in found.mutants if m.fate == "survived"] == ["'<' became '<='"]
    assert found.score == found.count("killed") / len(found.mutants) and found.score > 0.6
    assert all(m.why for m in found.mutants if m.fate == "killed")


@pytest.mark.parametrize(
    ("tests", "problem"),
    [
        ("assert True\nassert True\n", ""),
        ("import app\n", "no test was found"),
        ("", "no test was found"),
        ("from app import clamp\nassert clamp(1, 2) == 7\n", "not tested"),
        ("import pytest\n@pytest.mark.skip\ndef test_a(): pass\n", "every test was skipped"),
    ],
)
def test_tests_that_say_nothing_score_nothing(tests: str, problem: str) -> None:
    found = scored(tests, limit=3)
    assert found.score == 0.0 and problem in found.problem and found.count("killed") == 0


def test_code_without_a_place_for_a_fault_has_no_score() -> None:
    found = scored("import app\nassert app.x\n", one_file("x = 'a'\n"))
    assert found.score is None and "nothing in the code" in found.problem


@pytest.mark.parametrize(
    ("after", "fate"),
    [
        (run_of("failed"), "killed"),
        (run_of("timeout"), "killed"),
        (run_of("passed", problem="the test process ended"), "killed"),
        (run_of("skipped"), "killed"),
        (run_of("passed"), "survived"),
        (run_of("error", detail="app.go:3:2: invalid operation: operator - not defined"), "not_applicable"),
    ],
)
def test_the_fate_of_a_fault(after: SuiteRun, fate: str) -> None:
    assert judge_mutant(mutants(CODE)[0], run_of(), after).fate == fate


def test_a_failing_test_has_no_say_and_the_time_is_bounded() -> None:
    asked: list[Code] = []

    async def run(code: Code, tests: Tests) -> SuiteRun:
        asked.append(code)
        return run_of("failed" if code != CODE else "passed", seconds=1.0)

    found = asyncio.run(mutation_score(CODE, NAMED, run, limit=4, seconds=2.5))
    assert [m.fate for m in found.mutants] == ["killed", "killed", "not_applicable"]
    assert found.score == 1.0 and len(asked) == 3 and "2.5 s were over" in found.mutants[-1].why
    none = asyncio.run(mutation_score(CODE, NAMED, run, limit=4, seconds=0.5))
    assert none.score is None and none.problem


def test_doctests_go_with_the_fault() -> None:
    text = 'def double(n):\n    """\n    >>> double(2)\n    4\n    """\n    return 2 * n\n'
    given = Tests(files=(("app.py", text),))
    found = asyncio.run(mutation_score(one_file(text), given, find_sandbox().run))
    assert found.score is not None and found.score > 0.6


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(CODE.files[0].text)
    (tmp_path / "test_app.py").write_text(GOOD)
    (tmp_path / "check_half.py").write_text("from app import clamp\nassert clamp(1, 2) == 2\n")
    (tmp_path / "prose.py").write_text('def f(x):\n    """f(2) -> 4"""\n    return x * 2\n')
    return tmp_path


def test_the_command_shows_it(cli: Cli, files: Path) -> None:
    ran = cli("run", "app.py", "--tests", "check_half.py", "--coverage", "--mutants", "8")
    assert ran.code == 0, ran
    assert "coverage: 75% of lines, 50% of branches" in ran.out
    assert "app.py: not covered: lines 4; one side of the branches at 2" in ran.out
    assert "mutation score: 0." in ran.out and "not noticed: app.py line 4: 'x' became 'None'" in ran.out


def test_the_command_as_json(cli: Cli, files: Path) -> None:
    told = json.loads(cli("run", "app.py", "--tests", "test_app.py", "--coverage", "--mutants", "3", "--json").out)
    assert told["passed"] and told["coverage"]["lines"] == 1.0 and told["coverage"]["branches"] == 1.0
    assert told["mutation"]["score"] > 0 and len(told["mutation"]["mutants"]) == 3
    plain = json.loads(cli("run", "app.py", "--tests", "test_app.py", "--json").out)
    assert "coverage" not in plain and "mutation" not in plain


def test_examples_in_prose_find_faults_and_are_not_watched(cli: Cli, files: Path) -> None:
    ran = cli("run", "prose.py", "--coverage", "--mutants", "5")
    assert "coverage not measured: coverage needs tests" in ran.out and "mutation score: " in ran.out
    assert "mutation score: 0.00" not in ran.out


def test_from_python(files: Path) -> None:
    seen = asyncio.run(run_tests(files / "app.py", tests=files / "test_app.py", coverage=True, mutants=2))
    assert seen.run.passed and seen.coverage and seen.coverage.share == 1.0
    assert seen.mutation and seen.mutation.score and len(seen.mutation.mutants) == 2
