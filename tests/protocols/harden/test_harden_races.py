"""Harden on Go: a race that the tests show is a finding, and only a run without it accepts the patch."""

import asyncio
from collections.abc import Callable, Mapping, Sequence

import pytest
from kit import run_harden

from moot.core.types import Code, RaceRun, SourceFile, SuiteRun, TestOutcome, Tests
from moot.edge.sandbox import find_sandbox
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, harden
from moot.runtime.ports import SessionPorts
from moot.scan import StaticTeam
from moot.testing import FakeSandbox, FrozenClock, Line, ScriptedModel, one_file, room

RACY = "package counter\n\nvar total int\n\nfunc Count() {\n\ttotal++\n}\n"
SAFE = """package counter

import "sync"

var (
	mu    sync.Mutex
	total int
)

func Count() {
	mu.Lock()
	defer mu.Unlock()
	total++
}
"""
RENAMED = "package counter\n\nvar total int\n\nfunc Count() {\n\ttotal += 1\n}\n"
TEST = """package counter

import "testing"

func TestCount(t *testing.T) {
	done := make(chan bool)
	go func() { Count(); done <- true }()
	Count()
	<-done
}
"""
TESTS = Tests(files=(("counter_test.go", TEST),), language="go")
REPORT = """WARNING: DATA RACE
Write at 0x00c000086030 by goroutine 9:
  given.Count()
      counter.go:{line} +0x8c

Previous write at 0x00c000086030 by goroutine 8:
  given.Count()
      counter.go:{line} +0x8c
"""
NOTHING = '{"vulnerabilities": []}'
Watch = Callable[[Code, Tests], RaceRun]


def blue(code: str) -> str:
    return (
        "PATCHES:\nVULN-001: a lock\n\nREMAINING_RISKS:\nNONE\n\nCONFIDENCE: 0.9\n\n"
        f"PATCHED_CODE:\nFILE: counter.go\n```go\n{code}```\n"
    )


def passing(code: Code, tests: Tests) -> SuiteRun:
    return SuiteRun(outcomes=(TestOutcome(name="given.TestCount", status="passed"),))


def watching(code: Code, tests: Tests) -> RaceRun:
    text = code.files[0].text
    line = text.splitlines().index("\ttotal++" if "total++" in text else "\ttotal += 1") + 1
    return RaceRun() if "Lock" in text else RaceRun(reports=(REPORT.format(line=line),))


def faked(
    script: Mapping[str, Sequence[Line]], watch: Watch = watching, code: Code | None = None
) -> tuple[HardenResult, tuple[str, ...]]:
    code = code or one_file(RACY, "counter.go", "go")
    result, model, live = run_harden(code, script, tests=TESTS, sandbox=FakeSandbox(passing, watch))
    model.assert_finished()
    return result, live.degraded


def test_a_race_is_repaired_only_when_a_run_no_longer_shows_it() -> None:
    result, degraded = faked({"red": [NOTHING] * 3, "blue": [blue(RENAMED), blue(SAFE)]})
    first = result.attack_reports[0].vulnerabilities[0]
    assert (first.rule, first.source, first.file, first.line) == ("go-data-race", "executed", "counter.go", 6)
    rejected, accepted = result.defense_reports
    assert not rejected.accepted and "only moved" in rejected.rejected_because
    assert accepted.accepted and accepted.patched_vulnerabilities == ("VULN-001",)
    assert (result.outcome, result.all_resolved, result.final_code, degraded) == ("hardened", True, SAFE, ())


def test_a_run_that_says_nothing_accepts_no_patch() -> None:
    def once(code: Code, tests: Tests) -> RaceRun:
        return watching(code, tests) if code.files[0].text == RACY else RaceRun(problem="it took too long")

    result, degraded = faked({"red": [NOTHING] * 4, "blue": [blue(SAFE)] * 3}, once)
    assert (result.outcome, result.final_code) == ("unresolved", RACY)
    assert "still there on a second look" in result.defense_reports[0].rejected_because
    assert "a patched version could not be watched for races: it took too long" in degraded


def test_a_report_without_a_place_accepts_no_patch() -> None:
    def odd(code: Code, tests: Tests) -> RaceRun:
        return watching(code, tests) if code.files[0].text == RACY else RaceRun(reports=("WARNING: DATA RACE\n",))

    result, degraded = faked({"red": [NOTHING] * 4, "blue": [blue(SAFE)] * 3}, odd)
    assert (result.outcome, result.final_code) == ("unresolved", RACY)
    assert "1 data races at no place in the given files" in degraded


def test_without_a_race_detector_the_scan_is_left_and_that_is_said() -> None:
    asked: list[Code] = []

    def missing(code: Code, tests: Tests) -> RaceRun:
        asked.append(code)
        return RaceRun(problem="there is no gcc")

    result, degraded = faked({"red": [NOTHING]}, missing)
    assert (result.outcome, len(asked)) == ("hardened", 1)
    assert degraded == ("races were looked for by the scan alone, not by execution: there is no gcc",)


def test_only_go_with_tests_that_run_is_watched() -> None:
    def never(code: Code, tests: Tests) -> RaceRun:
        raise AssertionError("watched")

    python = Code(files=(SourceFile(path="app.py", language="python", text="x = 1\n"),))
    assert faked({"red": [NOTHING]}, never, python)[0].outcome == "hardened"
    silent = FakeSandbox(lambda code, tests: SuiteRun(problem="no test was found"), never)
    go = one_file(RACY, "counter.go", "go")
    assert run_harden(go, {"red": [NOTHING]}, tests=TESTS, sandbox=silent)[0].outcome == "hardened"


def test_a_race_within_the_tests_is_told_and_is_no_finding() -> None:
    report = REPORT.format(line=7).replace("counter.go", "counter_test.go")
    result, degraded = faked({"red": [NOTHING]}, lambda code, tests: RaceRun(reports=(report,)))
    assert result.outcome == "hardened" and not result.attack_reports[0].vulnerabilities
    assert degraded == ("a data race within the given tests: counter_test.go:7 and counter_test.go:7",)


@pytest.mark.parametrize("patch", [SAFE, RENAMED])
def test_a_real_run_decides(patch: str) -> None:
    model = ScriptedModel({"blue": [blue(patch)]})
    real = SessionPorts(scanner=StaticTeam(), clock=FrozenClock(), sandbox=find_sandbox())
    live = room({"blue": model}, real)
    given = HardenInput(code=one_file(RACY, "counter.go", "go"), tests=TESTS)
    result = asyncio.run(harden(given, HardenRules(max_rounds=1), live))
    (race,) = (f for f in result.attack_reports[0].vulnerabilities if f.rule == "go-data-race")
    assert (race.file, race.line, [step.line for step in race.path]) == ("counter.go", 6, [6, 6])
    assert (result.outcome, result.final_code) == (("hardened", SAFE) if patch == SAFE else ("unresolved", RACY))
    assert live.degraded == ()
