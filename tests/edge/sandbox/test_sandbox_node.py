"""JavaScript tests, run by Node's own runner."""

import asyncio
import shutil
import subprocess

import pytest
from sandbox_runs import boxed, local, statuses

from moot.core.types import Code, Language, SourceFile, SuiteRun, Tests

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="not run: Node.js is not on PATH")

SERVICE = "export const double = (number) => 2 * number;\n"
HEAD = "import test from 'node:test';\nimport assert from 'node:assert';\nimport { double } from './service.js';\n"


def run_node(test: str, service: str = SERVICE, language: Language = "javascript") -> SuiteRun:
    end = "ts" if language == "typescript" else "js"
    code = Code(files=(SourceFile(path=f"service.{end}", language=language, text=service),))
    return asyncio.run(boxed().run(code, Tests(files=((f"service.test.{end}", test),), language=language)))


def test_each_test_has_its_result() -> None:
    suite = run_node(
        HEAD
        + "test('doubles', () => assert.equal(double(2), 4));\n"
        + "test('is wrong', () => assert.equal(double(2), 5));\n"
        + "test('is for later', { skip: true }, () => {});\n"
        + "test.describe?.('group', () => { test('inner', () => {}); });\n"
    )
    assert suite.problem == ""
    assert statuses(suite)[:3] == ["passed", "failed", "skipped"]
    assert suite.outcomes[0].name == "service.test.js::doubles"
    assert "4 == 5" in suite.outcomes[1].detail


def test_what_holds_passes() -> None:
    assert run_node(HEAD + "test('doubles', () => assert.equal(double(2), 4));\n").passed


def test_common_js_runs_too() -> None:
    code = Code(
        files=(SourceFile(path="lib/service.js", language="javascript", text="exports.double = (n) => 2 * n;\n"),)
    )
    test = "const test = require('node:test');\nconst assert = require('node:assert');\n"
    test += "test('doubles', () => assert.equal(require('../lib/service').double(2), 4));\n"
    for sandbox in (boxed(), local()):
        tests = Tests(files=(("test/service.js", test),), language="javascript")
        assert asyncio.run(sandbox.run(code, tests)).passed


def test_no_test_is_a_problem() -> None:
    assert run_node("export const nothing = 1;\n").problem == "no test was found"


def test_a_file_that_does_not_load_is_an_error() -> None:
    suite = run_node(HEAD + "test('a', () => {});\n", service="export const = ;\n")
    assert (suite.passed, statuses(suite)) == (False, ["error"])
    assert "SyntaxError" in suite.outcomes[0].detail


@pytest.mark.parametrize(
    "service",
    [
        "process.exit(0);\nexport const double = 0;\n",
        "export const double = () => process.exit(0);\n",
        "console.log('ok 1 - doubles\\n# pass 1\\n# fail 0');\nexport const double = () => 0;\n",
        "import fs from 'node:fs';\nfor (let fd = 3; fd < 64; fd++) try { fs.writeSync(fd, 'x\\n') } catch {}\n"
        "export const double = () => process.exit(0);\n",
    ],
)
def test_a_cheat_does_not_pass(service: str) -> None:
    test = (
        HEAD + "test('first', () => {});\ntest('doubles', () => assert.equal(double(2), 4));\ntest('last', () => {});\n"
    )
    assert run_node(test, service).passed is False


def test_typescript_runs_or_says_why_not() -> None:
    asked = subprocess.run(["node", "-p", "!!process.features.typescript"], capture_output=True, text=True, check=True)
    test = "import test from 'node:test';\nimport { double } from './service.ts';\ntest('a', () => { double(2); });\n"
    suite = run_node(test, "export const double = (number: number): number => 2 * number;\n", "typescript")
    if asked.stdout.strip() == "true":
        assert suite.passed, suite
        assert not suite.outcomes[0].in_process
    else:
        assert "does not run TypeScript" in suite.problem
