"""Go's tests and the code they test, in two sandboxes: cheats do not pass, honest tests do as before."""

import asyncio
from collections.abc import Iterable, Mapping

import pytest
from go_cheats import (
    BROUGHT,
    CHEATS,
    COMPARED,
    FEED,
    IN_ONE_PROCESS,
    IN_PROCESS_CHEATS,
    OBJECTS,
    checks_of,
    code,
    compares,
    files_of,
)
from go_honest import CODE, MODULE_CODE, MODULE_TESTS, MODULE_TOGETHER, TESTS, TOGETHER
from sandbox_runs import boxed

from moot.core.types import Code, SourceFile, SuiteRun, TestOutcome, Tests
from moot.edge.sandbox import find_sandbox
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.report import judge
from moot.edge.sandbox.suites import plan

ENDS_ALL = frozenset({
    "ends all that runs", "kills its parent", "stops its parent", "gives itself for ever", "answers twice",
    "panics with nothing", "embeds the tests", "answers before it is asked", "imports the link", "prints later",
    "brings a module in the place of another", "runs out of stack",
})  # fmt: skip
"""What makes the other test fail too: at the start, or for good."""
CODE_DECIDES = frozenset({"redefines max", "an error that is every error", "an error that becomes every error"})
WRONG = {
    "2 * n": "3 * n", "sort.Ints(all)": "sort.Ints(nil)", "p.X += dx": "", "n.Left.Insert(value)": "n.Left",
    "hits++; ": "", "b[i], b[j] = b[j], b[i]": "", "return 0, ErrEmpty": "return 0, nil",
    "return Square{2}": "return Square{3}", "return last, true": "return last, false", "r + 1": "r", "n++; ": "",
    'fmt.Println("hello", name)': 'fmt.Println("bye", name)', "MulRange(1, n)": "MulRange(2, n-1)",
    "AddDate(0, 0, 1)": "AddDate(0, 0, 2)", "return now()": "return time.Now()", "rows[i][i] = 1": "",
    "numbers <- 1": "numbers <- 2", '"hi "': '"ho "', "a / b }\nfunc Div(": "a }\nfunc Div(",
    "found[word]++": "found[word]--", "c.items = append(c.items, item)": "", "p.X + q.X": "p.X", "a > b": "a < b",
    "1i, 2, true": "1i, 3, true", "return []string{}": "return nil", "do(each)": "do(each), do(each)",
    "return 7": "return 8", "{p: {}}": "{}", "math.Sqrt(x)": "x", "make([]byte, 3)": "make([]byte, 2)",
    '"high"': '"hi"',
}  # fmt: skip


def laid_out(files: Mapping[str, str]) -> Code:
    return Code(files=tuple(SourceFile(path=path, language="go", text=text) for path, text in files.items()))


def given(files: Mapping[str, str]) -> Tests:
    return Tests(files=tuple(files.items()), language="go")


async def run_both(files: Mapping[str, str], tests: Mapping[str, str]) -> tuple[SuiteRun, SuiteRun]:
    """In one process, as it was; and apart."""
    sandbox = find_sandbox()
    suite = await plan(laid_out(files), given(tests), 20)
    assert not isinstance(suite, SuiteRun), suite
    ended = await sandbox.program(suite)
    return judge(suite.read(ended.report), ended, sandbox.limits), await sandbox.run(laid_out(files), given(tests))


def verdicts(run: SuiteRun) -> dict[str, str]:
    return {outcome.name: outcome.status for outcome in run.outcomes}


def in_process(run: SuiteRun) -> set[str]:
    return {outcome.name.rpartition(".")[2] for outcome in run.outcomes if outcome.in_process}


@pytest.mark.parametrize(
    ("files", "tests", "together"),
    [(CODE, TESTS, TOGETHER), (MODULE_CODE, MODULE_TESTS, MODULE_TOGETHER)],
    ids=["one package", "several packages"],
)
def test_honest_tests_pass_both_ways(files: dict[str, str], tests: dict[str, str], together: set[str]) -> None:
    before, after = asyncio.run(run_both(files, tests))
    assert before.passed and after.passed, [o for o in (*before.outcomes, *after.outcomes) if o.status != "passed"]
    assert verdicts(before) == verdicts(after)
    assert in_process(after) == together, "what needs the code's own process, and nothing else"


def test_wrong_code_fails_both_ways() -> None:
    text = CODE["shop/shop.go"]
    for right, wrong in WRONG.items():
        text = text.replace(right, wrong)
    before, after = asyncio.run(run_both({"shop/shop.go": text}, TESTS))
    assert verdicts(before) == verdicts(after), (before, after)
    assert sum(status == "failed" for status in verdicts(after).values()) >= 25


def cheat(files: Mapping[str, str], test: str, **limits: float) -> SuiteRun:
    sandbox = boxed(test=8, wall=80, **limits)
    return asyncio.run(sandbox.run(laid_out(files), given({"service_test.go": test})))


async def cheat_all(names: Iterable[str]) -> dict[str, SuiteRun]:
    few = asyncio.Semaphore(4)

    async def one(name: str) -> tuple[str, SuiteRun]:
        wall = 12.0 if name == "stops its parent" else 80.0
        sandbox = find_sandbox(limits=SandboxLimits(test=8, wall=wall))
        async with few:
            return name, await sandbox.run(laid_out(files_of(name)), given({"service_test.go": checks_of(name)}))

    return dict(await asyncio.gather(*map(one, names)))


def outcome(run: SuiteRun, name: str) -> TestOutcome | None:
    return next((each for each in run.outcomes if each.name == f"given.{name}"), None)


@pytest.mark.parametrize("part", range(4))
def test_no_cheat_passes(part: int) -> None:
    names = [*CHEATS, *BROUGHT][part::4]
    for name, run in asyncio.run(cheat_all(names)).items():
        double, triple = outcome(run, "TestDouble"), outcome(run, "TestTriple")
        if name in CODE_DECIDES:
            assert double is not None and double.in_process and double.code_decides, (name, run)
            continue
        assert not run.passed and (double is None or double.status != "passed"), (name, run)
        if double is not None and name not in ENDS_ALL:
            # The judge itself is well: another test of the same code passes.
            assert triple is not None and triple.status == "passed", (name, run)


@pytest.mark.parametrize("name", IN_PROCESS_CHEATS)
def test_printed_results_do_not_count_in_one_process(name: str) -> None:
    run = cheat({"service.go": IN_PROCESS_CHEATS[name]}, IN_ONE_PROCESS)
    assert not run.passed, run


def test_what_runs_in_one_process_says_so() -> None:
    run = cheat({"service.go": code("", FEED + "func Double(n int) int { return 2 * n }\n")}, IN_ONE_PROCESS)
    assert run.passed, run
    double, triple = outcome(run, "TestDouble"), outcome(run, "TestTriple")
    assert double is not None and double.in_process == "it hands a channel to Feed of the code"
    assert triple is not None and not triple.in_process


def test_a_call_that_never_returns_costs_one_test() -> None:
    run = asyncio.run(cheat_all(["never returns"]))["never returns"]
    double, triple = outcome(run, "TestDouble"), outcome(run, "TestTriple")
    assert double is not None and triple is not None
    assert (double.status, triple.status) == ("timeout", "passed")
    assert "service_test.go:11: given.Double: the code took longer than the limit of 8s" in double.detail


def test_a_process_that_ends_costs_one_test_and_what_was_printed_is_shown() -> None:
    ends = code("fmt os", 'func Double(n int) int { fmt.Println("bye"); os.Exit(0); return 0 }\n')
    run = cheat({"service.go": ends}, checks_of(""))
    double, triple = outcome(run, "TestDouble"), outcome(run, "TestTriple")
    assert double is not None and triple is not None
    assert (double.status, triple.status) == ("failed", "passed")
    assert "| bye\n" in double.detail and "the code under test ended its process (exit status 0)" in double.detail


def test_code_that_reads_what_came_with_the_tests_is_not_trusted() -> None:
    golden = {"service_test.go": checks_of(""), "golden.txt": "4"}
    reads = code("os strconv", (
        'func Double(n int) int { text, _ := os.ReadFile("golden.txt"); got, _ := strconv.Atoi(string(text))\n'
        "return got }\n"
    ))  # fmt: skip
    run = asyncio.run(boxed().run(laid_out({"service.go": reads}), given(golden)))
    assert run.outcomes and all(each.in_process and each.code_decides for each in run.outcomes), run
    hidden = reads.replace('"golden.txt"', '"golden" + ".txt"')
    run = asyncio.run(boxed().run(laid_out({"service.go": hidden}), given(golden)))
    double = outcome(run, "TestDouble")
    assert double is not None and "got 0, want 4" in double.detail and not double.in_process, run


def test_what_cannot_be_read_gives_no_verdict() -> None:
    deep = code("", f"var x = {'(' * 60_000}1{')' * 60_000}\n")
    run = cheat({"service.go": deep}, checks_of(""))
    assert not run.passed, run


def test_objects_whose_content_stays_with_the_code_are_never_equal() -> None:
    async def run_all() -> list[SuiteRun]:
        few = asyncio.Semaphore(3)

        async def one(name: str) -> SuiteRun:
            async with few:
                return await boxed().run(laid_out({"service.go": OBJECTS}), given({"service_test.go": compares(name)}))

        return list(await asyncio.gather(*map(one, COMPARED)))

    for name, run in zip(COMPARED, asyncio.run(run_all()), strict=True):
        assert [each.status for each in run.outcomes] == ["failed"], (name, run)
