"""JavaScript tests and the code they test, in two sandboxes: no cheat passes, honest tests notice nothing of it."""

import asyncio
import shutil
from collections.abc import Sequence

import pytest
from node_cheats import CHEATS, HELPER, LINK, Cheat
from node_honest import CODE, HOOKS, TESTS, honest_test
from sandbox_runs import boxed, local

from moot.core.types import Code, SourceFile, SuiteRun, TestOutcome, Tests
from moot.edge.sandbox import Bubblewrap, SandboxLimits

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="not run: Node.js is not on PATH")

GROUPS = 3
ALONE = ("the parent is debugged", "the key is read from memory", "kill the parent")
"""What they do, they do to the whole run."""
HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as code from './service.js';\n"
MODULE = ("package.json", '{"type": "module"}')


def code_of(*files: tuple[str, str]) -> Code:
    return Code(files=tuple(SourceFile(path=path, language="javascript", text=text) for path, text in files))


def suite_of(*files: tuple[str, str]) -> Tests:
    return Tests(files=files, language="javascript")


def run_node(code: Code, tests: Tests, **limits: float) -> SuiteRun:
    return asyncio.run(boxed(**limits).run(code, tests))


def of(run: SuiteRun) -> dict[str, TestOutcome]:
    return {each.name.partition("::")[2] or each.name: each for each in run.outcomes}


async def run_cheats(cheats: Sequence[Cheat]) -> list[bool]:
    """Which of them made their test pass. Each test file has a process of its own, and so has its code."""
    files = [cheat.files(f"c{number:02}") for number, cheat in enumerate(cheats)]
    tests = suite_of(*(test for _, test in files), HELPER, MODULE)
    run = await boxed(wall=200, test=10).run(code_of(*(code for code, _ in files)), tests)
    found = [[each for each in run.outcomes if each.name.startswith(f"c{n:02}.test")] for n in range(len(cheats))]
    # Each of these tests can be judged apart, so whoever gets it into one process with the code has won too.
    return [
        bool(own) and (all(each.status == "passed" for each in own) or any(each.in_process for each in own))
        for own in found
    ]


def test_no_cheat_passes() -> None:
    names = [name for name in CHEATS if name not in ALONE]
    groups = [names[start::GROUPS] for start in range(GROUPS)] + [[name] for name in ALONE]

    async def run_all() -> list[str]:
        passed = await asyncio.gather(*(run_cheats([CHEATS[name] for name in group]) for group in groups))
        pairs = [pair for group, did in zip(groups, passed, strict=True) for pair in zip(group, did, strict=True)]
        return [name for name, did in pairs if did]

    assert len(CHEATS) >= 100
    assert asyncio.run(run_all()) == []


class OneSandbox(Bubblewrap):
    apart = False


def test_honest_tests_have_the_same_verdict_both_ways() -> None:
    code, tests = code_of(("shop.js", CODE)), suite_of(("shop.test.js", honest_test()), ("hooks.test.js", HOOKS))

    async def run_both() -> tuple[SuiteRun, SuiteRun]:
        limits = SandboxLimits(wall=120)
        apart, one = Bubblewrap(limits).run(code, tests), OneSandbox(limits).run(code, tests)
        return await asyncio.gather(apart, one)

    apart, together = map(of, asyncio.run(run_both()))
    assert {name: each.status for name, each in apart.items()} == {name: each.status for name, each in together.items()}
    wanted = {name.lstrip("*"): status for name, _, status in TESTS}
    assert {name: apart[name].status for name in wanted} == wanted
    needs = {name for name in apart if apart[name].in_process}
    assert needs == {name[1:] for name, _, _ in TESTS if name.startswith("*")} | {
        "with parts that need the code",
        "part with a callback",
        *("has it", "has it not", "is rich", "alone"),
    }
    assert all(each.in_process for each in together.values())
    assert apart["class compared"].code_decides
    assert not apart["callback"].code_decides


def test_nonsense_on_the_wire_fails_its_test_and_no_other() -> None:
    body = "for (const name of code.names) test(name, () => assert.throws(() => code.attack(name)));\n"
    body += "test('last', () => assert.strictEqual(code.double(2), 4));\n"
    run = of(run_node(code_of(("service.js", LINK)), suite_of(("service.test.js", HEAD + body)), wall=200, test=2))
    assert len(run) > 30
    assert [name for name, each in run.items() if each.status == "passed"] == ["last"]


def test_code_that_hangs_or_ends_costs_its_own_test_only() -> None:
    service = (
        "export const spin = () => { for (;;); };\nexport const never = () => new Promise(() => {});\n"
        "export const spinLater = async () => { await null; for (;;); };\n"
        "export const end = () => process.exit(0);\nexport const deep = () => deep();\n"
        "let calls = 0;\nexport const count = () => (calls += 1);\n"
    )
    body = (
        "test('spins', () => { try { code.spin(); } catch {} });\n"
        "test('never', async () => { await code.never(); });\n"
        "test('spins later', async () => { await code.spinLater(); });\n"
        "test('ends', () => { assert.throws(() => code.end()); });\n"
        "test('deep', () => { assert.throws(() => code.deep(), RangeError); });\n"
        "test('goes on', () => { assert.strictEqual(code.count(), 1); assert.strictEqual(code.count(), 2); });\n"
    )
    run = of(run_node(code_of(("service.js", service)), suite_of(("service.test.js", HEAD + body)), wall=120, test=2))
    statuses = {name: each.status for name, each in run.items()}
    assert statuses == {
        "spins": "timeout",
        "never": "timeout",
        "spins later": "timeout",
        "ends": "error",
        "deep": "passed",
        "goes on": "passed",
    }
    assert "within 2 s" in run["spins"].detail
    assert run["ends"].detail == "the code ended its process"


def test_each_file_has_a_process_of_the_code_to_itself() -> None:
    code = code_of(("service.js", "let calls = 0;\nexport const count = () => (calls += 1);\n"))
    test = HEAD + "test('first', () => assert.strictEqual(code.count(), 1));\n"
    run = run_node(code, suite_of(("a.test.js", test), ("b.test.js", test)))
    assert run.passed
    assert not any(each.in_process for each in run.outcomes)


@pytest.mark.parametrize(
    ("files", "test"),
    [
        ([("service.js", "module.exports = (n) => 2 * n;\n")], "assert.equal(require('./service')(2), 4)"),
        ([("lib/index.js", "exports.f = (n) => 2 * n;\n")], "const { f } = require('./lib'); assert.equal(f(2), 4)"),
        (
            [("a.js", "exports.f = (n) => require('./b').g(n);\n"), ("b.js", "exports.g = (n) => 2 * n;\n")],
            "assert.equal(require('./a.js').f(2), 4); assert.equal(require('./b').g(1), 2)",
        ),
        (
            [("service.js", "class A { f(n) { return 2 * n; } }\nmodule.exports = A;\nmodule.exports.one = 1;\n")],
            "const A = require('./service'); assert.equal(new A().f(2), 4); assert.equal(A.one, 1)",
        ),
    ],
)
def test_common_js_is_judged_apart_too(files: list[tuple[str, str]], test: str) -> None:
    head = "const test = require('node:test');\nconst assert = require('node:assert');\n"
    tests = suite_of(("own.test.js", f"{head}test('it', () => {{ {test}; }});\n"))
    for sandbox in (boxed(), local()):
        run = asyncio.run(sandbox.run(code_of(*files), tests))
        assert run.passed, run
        assert not run.outcomes[0].in_process


@pytest.mark.parametrize(
    "planted",
    [
        ("node_modules/checks/index.js", "exports.same = () => {};\n"),
        ("checks.js", "exports.same = () => {};\n"),
        ("checks/package.json", '{"main": "other.js"}'),
        ("checks/index.json", "{}"),
    ],
)
def test_a_helper_of_the_tests_is_not_taken_from_the_code(planted: tuple[str, str]) -> None:
    code = code_of(
        ("service.js", "exports.double = (n) => n;\n"), ("checks/other.js", "exports.same = () => {};\n"), planted
    )
    name = "checks" if "node_modules" in planted[0] else "./checks"
    test = f"const test = require('node:test');\nconst {{ same }} = require('{name}');\n"
    test += "test('it', () => same(require('./service.js').double(2), 4));\n"
    helper = "exports.same = (one, other) => require('node:assert').strictEqual(one, other);\n"
    run = run_node(code, suite_of(("own.test.js", test), ("checks/index.js", helper)))
    assert not run.passed
    assert not any(each.in_process for each in run.outcomes)


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("process.env.MODE = 'x'; assert.equal(code.double(2), 4)", "process.env"),
        ("const http = await import('node:http'); assert.equal(code.double(2), 4)", "http"),
        ("const { double } = await import(`./${'service'}.js`); assert.equal(double(2), 4)", "made up"),
        ("assert.equal((await import('./service.js?again')).double(2), 4)", "more than once"),
        ("const fs = await import('node:fs'); assert.match(fs.readFileSync('service.js', 'utf8'), /double/)", "a file"),
    ],
)
def test_what_a_test_shares_with_the_code_is_named(test: str, why: str) -> None:
    head = HEAD if "import(`" not in test else HEAD.replace("import * as code from './service.js';\n", "")
    service = code_of(("service.js", "export const double = (n) => 2 * n;\n"))
    run = run_node(service, suite_of(("service.test.js", f"{head}test('it', async () => {{ {test}; }});\n")))
    assert run.passed, run
    assert why in run.outcomes[0].in_process


@pytest.mark.parametrize(
    "service",
    [
        "require('node:assert').strictEqual = () => {};\n",
        "for (let fd = 3; fd < 64; fd += 1) try { require('node:fs').writeSync(fd, 'hello\\n'); } catch {}\n",
        "console.log('ok 1 - it');\nprocess.exit(0);\n",
    ],
)
def test_what_runs_in_one_process_is_not_fooled_by_the_simple_ways(service: str) -> None:
    code = code_of(("service.js", f"{service}exports.apply = (f) => f(1);\n"))
    test = "const code = require('./service.js');\nconst test = require('node:test');\n"
    test += "test('it', () => require('node:assert').strictEqual(code.apply((n) => n), 2));\n"
    run = run_node(code, suite_of(("service.test.js", test)))
    assert not run.passed


@pytest.mark.parametrize(
    "elsewhere",
    [
        "test('b', () => { const result = []; result.push(1); assert.deepEqual(result, [1]); });\n",
        "// then result.render(x)\n",
        "const hint = 'result.render(x)';\n",
    ],
)
def test_a_name_elsewhere_in_the_file_lets_no_object_judge_itself(elsewhere: str) -> None:
    service = code_of(("service.js", "export const greet = () => ({ includes: () => true });\n"))
    test = "test('a', () => { const result = code.greet('Bob'); assert.ok(result.includes('Hello')); });\n"
    run = run_node(service, suite_of(("service.test.js", HEAD + elsewhere + test)))
    assert of(run)["a"].status == "failed", run
