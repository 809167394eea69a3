"""Rewritten Go is compiled and run in the sandbox: it does what it did, and the attack no longer works.

Each case has a `TestBenign` that passes before and after, and a `TestAttack` that fails before and passes after.
"""

import asyncio
from dataclasses import dataclass

import pytest
from samples import repaired, rules

from moot.core.types import Code, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import SandboxLimits, find_sandbox
from moot.evidence.races import find_races


@dataclass(frozen=True)
class Case:
    name: str
    rule: str
    code: str
    tests: str

    def file(self, text: str) -> SourceFile:
        return SourceFile(path=f"{self.name}/{self.name}.go", language="go", text=f"package {self.name}\n\n{text}")


CASES = (
    Case(
        "headers",
        "go-read-header-timeout",
        'import "net/http"\n\nfunc New(h http.Handler) *http.Server {\n\treturn &http.Server{\n'
        '\t\tAddr:    ":9",\n\t\tHandler: h,\n\t}\n}\n',
        "s := New(nil)|s.Addr == `:9`|s.ReadHeaderTimeout > 0",
    ),
    Case(
        "versions",
        "go-tls-version",
        'import "crypto/tls"\n\nfunc New() *tls.Config {\n'
        '\treturn &tls.Config{ServerName: "a", MinVersion: tls.VersionTLS10}\n}\n',
        "c := New()|c.ServerName == `a`|c.MinVersion == 0x0303",
    ),
    Case(
        "cookies",
        "go-cookie",
        'import "net/http"\n\nfunc Set(w http.ResponseWriter, v string) {\n'
        '\thttp.SetCookie(w, &http.Cookie{Name: "session", Value: v})\n}\n',
        "w := httptest.NewRecorder(); Set(w, `v`); c := w.Result().Cookies()[0]|c.Value == `v`|c.Secure && c.HttpOnly",
    ),
    Case(
        "keys",
        "go-rsa-bits",
        'import (\n\t"crypto/rand"\n\t"crypto/rsa"\n)\n\n'
        "func Key() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 1024) }\n",
        "k, err := Key()|err == nil|k.N.BitLen() >= 2048",
    ),
    Case(
        "digests",
        "go-weak-hash",
        'import (\n\t"crypto/md5"\n\t"fmt"\n\t"io"\n)\n\nfunc Show(w io.Writer, b []byte) {\n'
        '\tfmt.Fprintf(w, "%x", md5.Sum(b))\n}\n',
        "f := func(s string) string { w := httptest.NewRecorder(); Show(w, []byte(s)); return w.Body.String() }"
        "|f(`a`) == f(`a`) && f(`a`) != f(`b`)|len(f(`a`)) == 64",
    ),
    Case(
        "templates",
        "go-text-template",
        'import (\n\t"net/http"\n\t"text/template"\n)\n\n'
        'var page = template.Must(template.New("p").Parse("<b>{{.}}</b>"))\n\n'
        'func Show(w http.ResponseWriter, r *http.Request) {\n\tpage.Execute(w, r.FormValue("n"))\n}\n',
        "f := shown(Show)|f(`ann`) == `<b>ann</b>`|!strings.Contains(f(`<i>`), `<i>`)",
    ),
    Case(
        "pages",
        "go-response-xss",
        'import (\n\t"fmt"\n\t"net/http"\n)\n\nfunc Show(w http.ResponseWriter, r *http.Request) {\n'
        '\tfmt.Fprintf(w, "<b title=\\"%s\\">%d %v</b>", r.FormValue("n"), 7, r.FormValue("n"))\n}\n',
        'f := shown(Show)|f(`ann`) == `<b title="ann">7 ann</b>`|!strings.Contains(f(`"<i>`), `<i>`)',
    ),
    Case(
        "trusted",
        "go-template-html",
        'import (\n\t"html/template"\n\t"net/http"\n)\n\nfunc Name(r *http.Request) template.HTML {\n'
        '\treturn template.HTML("<b>" + r.FormValue("n") + "</b>")\n}\n',
        "f := func(n string) string { return string(Name(httptest.NewRequest(`GET`, `/?n=`+n, nil))) }"
        "|f(`ann`) == `<b>ann</b>`|!strings.Contains(f(`<i>`), `<i>`)",
    ),
    Case(
        "loops",
        "go-loop-capture",
        "func Each(all []string, say func(string), wait func()) {\n\tfor _, one := range all {\n\t\tgo func() {\n"
        "\t\t\twait()\n\t\t\tsay(one)\n\t\t}()\n\t}\n}\n",
        "c, gate := make(chan string, 9), make(chan bool);"
        " f := func(all ...string) map[string]bool { Each(all, func(s string) { c <- s }, func() { <-gate });"
        " for range all { gate <- true }; got := map[string]bool{}; for range all { got[<-c] = true }; return got }"
        "|f(`a`)[`a`]|len(f(`a`, `b`, `c`)) == 3",
    ),
)
RACY = (
    Case(
        "sums",
        "go-goroutine-race",
        'import "sync"\n\nfunc Sum(all []int) (int, int) {\n\ttotal := 0\n'
        "\tseen := map[int]bool{}\n\tvar wg sync.WaitGroup\n"
        "\tfor _, n := range all {\n\t\twg.Add(1)\n\t\tgo func(n int) {\n\t\t\tdefer wg.Done()\n\t\t\ttotal += n\n"
        "\t\t\tseen[n] = true\n\t\t}(n)\n\t}\n\twg.Wait()\n\treturn total, len(seen)\n}\n",
        "a, b := Sum([]int{1, 2, 3, 4})|true|a == 10 && b == 4",
    ),
    Case(
        "guards",
        "go-unguarded-write",
        'import "sync"\n\ntype Count struct {\n\tmu sync.Mutex\n\tn  int\n}\n\nfunc (c *Count) Add() {\n\tc.mu.Lock()\n'
        "\tdefer c.mu.Unlock()\n\tc.n++\n}\n\nfunc (c *Count) Reset() {\n\tc.n = 0\n}\n",
        "c := &Count{}; done := make(chan bool); go func() { c.Add(); done <- true }(); c.Reset(); <-done|true|c.n < 2",
    ),
)
HELP = """
var (
	_ = os.Stat
	_ = strings.Contains
	_ = bytes.Equal
	_ = gzip.NewReader
	_ = sql.OpenDB
	_ driver.Driver
	_ = fmt.Sprint
)

func shown(h http.HandlerFunc) func(string) string {
	return func(n string) string {
		w := httptest.NewRecorder()
		h(w, httptest.NewRequest("GET", "/?n="+url.QueryEscape(n), nil))
		return w.Body.String()
	}
}
"""
IMPORTS = (
    "bytes",
    "compress/gzip",
    "database/sql",
    "database/sql/driver",
    "fmt",
    "net/http",
    "net/http/httptest",
    "net/url",
    "os",
    "strings",
    "testing",
)


def suite_file(case: Case) -> tuple[str, str]:
    setup, benign, attack = case.tests.split("|", 2)
    lines = "".join(f'\t"{name}"\n' for name in IMPORTS)
    bodies = "".join(
        f"\nfunc Test{name}(t *testing.T) {{\n\t{setup}\n\tif !({wanted}) {{\n\t\tt.Fatal()\n\t}}\n}}\n"
        for name, wanted in (("Benign", benign), ("Attack", attack))
    )
    unused = "".join(f"\t_ = {name}\n" for name in _names(setup))
    bodies = bodies.replace("\n\tif !(", f"\n{unused}\tif !(")
    return f"{case.name}/{case.name}_test.go", f"package {case.name}\n\nimport (\n{lines})\n{HELP}{bodies}"


def _names(setup: str) -> list[str]:
    pieces = [piece.split(":=")[0] for piece in setup.split("{")[0].split(";") if ":=" in piece]
    return [name.strip() for piece in pieces for name in piece.split(",") if name.strip() != "_"]


def given(cases: tuple[Case, ...]) -> Tests:
    # Before Go 1.22 the turns of a loop shared their variable.
    module = ("go.mod", "module given\n\ngo 1.21\n")
    return Tests(files=(module, *(suite_file(case) for case in cases)), language="go")


def mended(case: Case) -> SourceFile:
    text, repair = repaired("go", case.file(case.code).text)
    assert case.rule in rules("go", case.file(case.code).text)
    assert repair.fixed and rules("go", text) == [], (case.name, repair, text)
    return case.file(case.code).model_copy(update={"text": text})


def run(files: tuple[SourceFile, ...], cases: tuple[Case, ...]) -> SuiteRun:
    sandbox = find_sandbox(limits=SandboxLimits(wall=120))
    return asyncio.run(sandbox.run(Code(files=files), given(cases)))


def statuses(suite: SuiteRun) -> dict[str, str]:
    return {outcome.name.removeprefix("given/"): outcome.status for outcome in suite.outcomes}


def test_benign_input_gives_what_it_gave_and_the_attack_fails() -> None:
    before = statuses(run(tuple(case.file(case.code) for case in CASES), CASES))
    expected = {f"{c.name}.TestBenign": "passed" for c in CASES} | {f"{c.name}.TestAttack": "failed" for c in CASES}
    assert before == expected
    after = run(tuple(mended(case) for case in CASES), CASES)
    assert statuses(after) == dict.fromkeys(before, "passed"), after


@pytest.mark.parametrize("case", RACY, ids=lambda case: case.name)
def test_a_lock_ends_what_the_race_detector_sees(case: Case) -> None:
    sandbox, tests = find_sandbox(), given((case,))
    before, after = Code(files=(case.file(case.code),)), Code(files=(mended(case),))
    racy = asyncio.run(sandbox.races(before, tests))
    assert find_races(racy.reports, before, tests), racy
    clean = asyncio.run(sandbox.races(after, tests))
    assert (clean.reports, clean.problem) == ((), "")
    assert run(after.files, (case,)).passed
