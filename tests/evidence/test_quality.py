"""One figure for code: each part by its rule, nothing counted as good that was not measured."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

import moot
from moot.core.measures import Coverage, FileCoverage, Lint, LintFinding, Quality, QualityPart
from moot.core.types import (
    Code,
    Language,
    NotAnalysed,
    Scan,
    Severity,
    SourceFile,
    SuiteRun,
    TestOutcome,
    Vulnerability,
)
from moot.edge.store import SqlStore
from moot.edge.tools import linters as linting
from moot.edge.tools.linters import Linters
from moot.evidence.trials.rating import WEIGHTS, ease, of_coverage, of_lint, of_scan, of_tests, rate_quality
from moot.evidence.trials.structure import FileShape, shapes
from moot.runtime.ports import SessionPorts
from moot.testing import FakeScanner, FrozenClock, one_file, room

PYTHON = """def plain(x):
    return x


def busy(items, other=None):
    # a remark
    total = 0
    for item in items:
        if item > 0 and item != other:
            total += item
        elif item < -10 or not item:
            continue
    values = [i for i in items if i]
    return total if values else lambda y: y
"""
JAVASCRIPT = """function f(a) {
  for (const b of a) { if (b && b > 1) { return b; } }
  switch (a) { case 1: return 1; default: return 2; }
}
const g = (x) => x ?? 1;
"""
GO = """package a

func F(a int) int {
\tif a > 1 || a < -1 {
\t\treturn 1
\t}
\tswitch a {
\tcase 0:
\t\treturn 2
\tdefault:
\t\treturn 3
\t}
}
"""


def shape(text: str, path: str = "app.py", language: Language = "python") -> FileShape:
    found, broken = shapes(one_file(text, path, language))
    assert not broken
    return found[0]


@pytest.mark.parametrize(
    ("path", "language", "text", "complexities"),
    [
        ("a.py", "python", PYTHON, {"plain": 1, "busy": 9}),
        ("a.js", "javascript", JAVASCRIPT, {"f": 5, "g": 2}),
        ("a.go", "go", GO, {"F": 4}),
        ("a.py", "python", "match x:\n    case 1:\n        y = 1\n    case _:\n        y = 2\n", {"<module>": 2}),
        ("a.ts", "typescript", "class A { m(a: number): number { return a > 1 ? a : 0; } }\n", {"m": 2}),
    ],
)
def test_complexity_counts_the_ways_through_a_function(
    path: str, language: Language, text: str, complexities: dict[str, int]
) -> None:
    assert {f.name: f.complexity for f in shape(text, path, language).functions} == complexities


def test_lines_are_code_and_a_long_file_is_not_worse_for_it() -> None:
    assert shape(PYTHON).lines == 11
    once = shape("def f(a, b):\n    return a * b + a - b\n")
    often = shape("".join(f"def f{n}(a, b):\n    return a * b + a - b\n" for n in range(50)))
    assert abs(once.maintainability - often.maintainability) < 20
    dense = "def f(a):\n" + "".join(f"    if a > {n} and a != {n}: a = a * {n} + a - {n}\n" for n in range(80))
    assert shape(dense).maintainability < 40 < shape(PYTHON).maintainability


def run_of(*statuses: str, problem: str = "") -> SuiteRun:
    outcomes = [TestOutcome.model_validate({"name": f"t{n}", "status": s}) for n, s in enumerate(statuses)]
    return SuiteRun(outcomes=tuple(outcomes), problem=problem)


@pytest.mark.parametrize(
    ("run", "value"),
    [
        (None, None),
        (run_of(), None),
        (run_of("skipped"), None),
        (run_of("passed", problem="the process ended"), None),
        (run_of("passed", "failed", "skipped"), 0.5),
        (run_of("failed", "timeout", "error"), 0.0),
        (run_of("passed"), 1.0),
    ],
)
def test_tests_count_only_where_they_say_something(run: SuiteRun | None, value: float | None) -> None:
    told = of_tests(run)
    assert told[0] == value and told[1]


def finding(severity: Severity) -> Vulnerability:
    return Vulnerability(id="V", category="other", severity=severity, description="d", evidence="e")


CUT = (NotAnalysed(file="a.py", line=3, why="too deep"),)


@pytest.mark.parametrize(
    ("scan", "value"),
    [
        (Scan(), 1.0),
        (Scan(findings=(finding("critical"),)), 0.0),
        (Scan(findings=(finding("high"), finding("low"))), 0.4),
        (Scan(findings=tuple(finding("high") for _ in range(5))), 0.0),
        (Scan(not_analysed=CUT), None),
        (Scan(findings=(finding("critical"),), not_analysed=CUT), 0.0),
    ],
)
def test_findings_cost_by_their_severity(scan: Scan, value: float | None) -> None:
    told = of_scan(scan)[0]
    assert told == (value if value is None else pytest.approx(value))


def lint(count: int, **more: object) -> Lint:
    said = [LintFinding(file="a.py", line=1, rule="F401", message="unused") for _ in range(count)]
    return Lint.model_validate({"findings": tuple(said), "by": ("ruff",), **more})


@pytest.mark.parametrize(
    ("said", "lines", "value"),
    [
        (None, 10, None),
        (lint(0), 10, 1.0),
        (lint(1), 10, 0.5),
        (lint(1), 1, 0.0),
        (lint(9), 10, 0.0),
        (lint(0, skipped={"go": "no gofmt is installed"}), 10, None),
    ],
)
def test_lint_counts_by_the_line(said: Lint | None, lines: int, value: float | None) -> None:
    assert of_lint(said, lines)[0] == value


def test_coverage_counts_lines_and_branches() -> None:
    file = FileCoverage(file="a.py", lines=6, missed=(2,), branches=2, open=(1,))
    assert of_coverage(Coverage(files=(file,)))[0] == 6 / 8
    assert of_coverage(None)[0] is None and of_coverage(Coverage(problem="why"))[0] is None
    assert of_coverage(Coverage())[0] is None


def test_ease_falls_from_simple_to_hopeless() -> None:
    assert [ease(n) for n in (1, 5, 40, 99)] == [1.0, 1.0, 0.0, 0.0] and 0.4 < ease(22) < 0.6


def test_the_score_is_the_weighted_sum_and_what_is_missing_adds_nothing() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
    code = one_file("def f(x):\n    return x\n")
    alone = rate_quality(code, Scan(), None)
    assert alone.unmeasured == ("tests", "coverage", "lint") and alone.measured == 0.4 and alone.score < 0.4
    assert all(part.why for part in alone.parts)
    file = FileCoverage(file="app.py", lines=2)
    full = rate_quality(code, Scan(), lint(0), run_of("passed"), Coverage(files=(file,)))
    assert full.measured == 1.0 and full.score == pytest.approx(
        sum(p.weight * (p.value or 0) for p in full.parts), abs=1e-4
    )
    assert full.score > 0.95


@pytest.mark.parametrize("code", [one_file("def f(:\n"), one_file(""), one_file("\n# only a remark\n"), Code(files=())])
def test_broken_or_no_code_scores_nothing(code: Code) -> None:
    got = rate_quality(code, Scan(), lint(0))
    assert got.score == 0.0 and got.measured == 0.0 and len(got.unmeasured) == len(WEIGHTS)
    assert rate_quality(code, Scan(findings=(finding("low"),)), lint(0)).measured == WEIGHTS["scan"]


def test_ruff_reads_the_text_and_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "temp").mkdir()
    (tmp_path / "work" / "ruff.toml").write_text("lint.select = []\n")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temp"))
    before = sorted(tmp_path.rglob("*"))
    code = Code(
        files=(
            SourceFile(path="../a.py", language="python", text="import os  # noqa\n"),
            SourceFile(path="../../../c.py", language="python", text="import os\n"),
            SourceFile(path="b.py", language="python", text="x = 1\n"),
            SourceFile(path="b.py", language="python", text="def f(:\n"),
        )
    )
    said = Linters().lint(code)
    assert said.by == ("ruff",) and not said.skipped
    assert {(f.file, f.rule) for f in said.findings if f.line == 1} == {
        ("../a.py", "F401"), ("../../../c.py", "F401"), ("b.py", "invalid-syntax"),
    }  # fmt: skip
    assert sorted(tmp_path.rglob("*")) == before, "a path of the code led out of the folder that is removed"


def test_gofmt_and_languages_without_a_linter() -> None:
    assert [f.rule for f in Linters().lint(one_file("package a\nfunc  F(){}\n", "a.go", "go")).findings] == ["gofmt"]
    assert Linters().lint(one_file("package a\n", "a.go", "go")) == Lint(by=("gofmt",))
    broken = Linters().lint(one_file("package\n", "a.go", "go"))
    assert {f.rule for f in broken.findings} == {"syntax"}
    assert "javascript" in Linters().lint(one_file("x\n", "a.js", "javascript")).skipped


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("#!/bin/sh\nexit 3\n", "status 3"),
        ("#!/bin/sh\necho '{'\n", "cannot be read"),
        ("#!/bin/sh\necho '[{}]'\n", "cannot be read"),
        ("#!/bin/sh\nexec sleep 1000\n", "longer than"),
        ("not a program", "cannot be started"),
    ],
)
def test_a_linter_that_fails_says_nothing(
    script: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "ruff"
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setattr(linting, "_program", lambda name: str(program))
    monkeypatch.setattr(linting, "SECONDS", 0.5)
    said = Linters().lint(one_file("x = 1\n"))
    assert why in said.skipped["python"] and not said.by


def test_no_ruff_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linting, "_program", lambda name: None)
    assert Linters().lint(one_file("x = 1\n")).skipped == {"python": "no ruff is installed"}


def test_measuring_is_a_step_of_the_room() -> None:
    live = room({}, SessionPorts(scanner=FakeScanner(), clock=FrozenClock(), linter=Linters()))
    code = one_file("import os\n\n\ndef f(x):\n    return x\n")
    got = asyncio.run(live.measure(code, run_of("passed", "failed")))
    values = {part.name: part.value for part in got.parts}
    assert values["tests"] == 0.5 and values["coverage"] is None and values["lint"] == 0.0 and values["scan"] == 1.0


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text("def clamp(x, low):\n    if x < low:\n        return low\n    return x\n")
    (tmp_path / "test_app.py").write_text("from app import clamp\nassert clamp(1, 2) == 2\nassert clamp(3, 2) == 3\n")
    (tmp_path / "bad.py").write_text("import os\ndef f(x):\n    os.system('ls ' + input())\n")
    return tmp_path


def test_the_command_shows_the_parts(cli: Cli, files: Path) -> None:
    ran = cli("quality", "app.py", "--tests", "test_app.py")
    assert ran.code == 0 and "2 of 2 passed" in ran.out and "100% of lines, 100% of branches" in ran.out
    assert "of 1.00 that could be measured\n" in ran.out
    alone = cli("quality", "app.py")
    assert "of 0.50 that could be measured; not measured: tests, coverage" in alone.out
    low = cli("quality", "app.py", "--min", "0.6")
    assert low.code == 1 and "is below --min 0.6" in low.err
    assert cli("quality", "app.py", "test_app.py", "--min", "0.9").code == 0


def test_the_command_as_json_and_from_python(cli: Cli, files: Path) -> None:
    told = json.loads(cli("quality", "app.py", "--tests", "test_app.py", "--json").out)
    got = asyncio.run(moot.quality(files / "app.py", tests=files / "test_app.py"))
    assert isinstance(got, Quality) and told["score"] == got.score and told["unmeasured"] == []
    assert [QualityPart.model_validate(part).value for part in told["parts"]] == [part.value for part in got.parts]
    worse = json.loads(cli("quality", "bad.py", "--json").out)
    assert {p["name"]: p["value"] for p in worse["parts"]}["scan"] == 0.0


def test_attempts_are_kept_with_their_quality(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "start.py").write_text("def largest(numbers):\n    return max(numbers, default=None)\n")
    (tmp_path / "test_start.py").write_text("from start import largest\nassert largest([1, 3]) == 3\n")
    store = str(tmp_path / "moot.db")
    ran = cli(
        "solve", "Write largest(numbers)", "--file", "start.py", "--tests", "test_start.py", "--no-llm", "--json",
        "--quiet", "--store", store,
    )  # fmt: skip
    told = json.loads(ran.out)
    quality = told["attempts"][0]["quality"]
    assert told["outcome"] == "solved" and quality["measured"] == 1.0

    async def versions() -> list[tuple[float | None, Any]]:
        kept = SqlStore(store)
        try:
            return [(v.quality, v.metrics) for v in await kept.versions(told["session_id"])]
        finally:
            await kept.aclose()

    ((kept, metrics),) = asyncio.run(versions())
    assert kept == quality["score"] and metrics["quality"] == kept and metrics["parts"] == quality["parts"]
