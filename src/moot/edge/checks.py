"""Runs CI hooks: tests, tools and the user's commands in the sandbox, and the scan, which executes nothing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moot.core.ci import Action, Checks, CiHooks, Feedback, Point
from moot.core.errors import SandboxError
from moot.core.ports import Sandbox, Scanner
from moot.core.types import Code, CommandRun, Language, SourceFile, Tests
from moot.edge.sandbox.layout import safe_path
from moot.evidence.check_feedback import of_benchmarks, of_command, of_listing, of_scan, of_tests, of_tool, skip_check

NO_TESTS = "no tests were given"


@dataclass(frozen=True)
class CheckTool:
    """A program that reads files without running them. The project's own settings do not reach it."""

    argv: tuple[str, ...]
    each: bool = False
    """Takes one file at a time."""
    packages: bool = False
    """Takes the whole folder instead of files."""
    read: Callable[[Point, str, str, CommandRun, Code], Feedback] = of_tool

    @property
    def name(self) -> str:
        return " ".join(self.argv[:2]) if self.argv[0] in ("go", "node") else self.argv[0]


RUFF = CheckTool(
    (
        *("ruff", "check", "--isolated", "--no-cache", "--quiet", "--output-format=concise"),
        "--select=E4,E7,E9,F,B,PLE",
    )
)
MYPY = CheckTool(
    (
        *("mypy", "--config-file=", "--cache-dir=/dev/null", "--ignore-missing-imports"),
        *("--no-error-summary", "--no-color-output"),
    )
)
GOFMT = CheckTool(("gofmt", "-l"), read=of_listing)
GO_VET = CheckTool(("go", "vet", "./..."), packages=True)
NODE = CheckTool(("node", "--check"), each=True)
TOOLS: Mapping[Action, Mapping[Language, CheckTool]] = {
    "linter": {"python": RUFF, "go": GOFMT},
    "static_analysis": {"python": MYPY, "go": GO_VET, "javascript": NODE},
}


@dataclass(frozen=True)
class SandboxChecks:
    """One point at a time, one check after another: the limits apply to each."""

    hooks: CiHooks
    scanner: Scanner
    sandbox: Sandbox | None = None

    def at(self, point: Point) -> bool:
        return self.hooks.at(point)

    async def check(self, point: Point, code: Code, tests: Tests) -> Checks:
        done: list[Feedback] = []
        for action in self.hooks.actions.get(point, ()):
            done += await self._action(point, action, code, tests)
        for own in (each for each in self.hooks.commands if each.point == point):
            run = await self._box().command(code, tests, own.command)
            done.append(of_command(point, own.name, run).model_copy(update={"tool": own.command[0]}))
        return Checks(point=point, feedback=tuple(done))

    async def _action(self, point: Point, action: Action, code: Code, tests: Tests) -> list[Feedback]:
        match action:
            case "security_scan":
                return [of_scan(point, await asyncio.to_thread(self.scanner.scan, code))]
            case "unit_tests" | "benchmarks" if not tests.files:
                return [skip_check(point, action, NO_TESTS)]
            case "unit_tests":
                return [of_tests(point, action, await self._box().run(code, tests))]
            case "benchmarks":
                runs = [await self._box().run(code, tests) for _ in range(self.hooks.benchmark_runs)]
                return [of_benchmarks(point, runs, self.hooks.benchmark_seconds)]
            case _:
                languages = dict.fromkeys(file.language for file in code.files)
                return [await self._run_tool(point, action, language, code) for language in languages]

    async def _run_tool(self, point: Point, action: Action, language: Language, code: Code) -> Feedback:
        tool = TOOLS[action].get(language)
        if tool is None:
            return skip_check(
                point, action, f"no {action.replace('_', ' ')} for {language}; name one in [[ci.commands]]"
            )
        files = [f.model_copy(update={"path": safe_path(f.path)}) for f in code.files if f.language == language]
        files = [f for f in files if not f.path.endswith("conftest.py")]  # conftest.py is not laid out
        if not files:
            return skip_check(point, action, "there is no file to look at", tool.name)
        groups = [[file] for file in files] if tool.each else [files]
        runs = [await self._tool_run(tool, group, code) for group in groups]
        worst = next((run for run in runs if run.status != 0), None)
        ended = worst or runs[-1]
        merged = ended.model_copy(
            update={
                "out": "\n".join(run.out for run in runs),
                "err": "\n".join(run.err for run in runs),
                "seconds": sum(run.seconds for run in runs),
            }
        )
        found = tool.read(point, action, tool.name, merged, Code(files=tuple(files)))
        return found.model_copy(update={"summary": f"{tool.argv[0]}: {found.summary}"}) if merged.missing else found

    async def _tool_run(self, tool: CheckTool, files: list[SourceFile], code: Code) -> CommandRun:
        named = () if tool.packages else tuple(f"./{file.path}" for file in files)
        return await self._box().command(code, Tests(files=()), (*tool.argv, *named))

    def _box(self) -> Sandbox:
        if self.sandbox is None:
            raise SandboxError("checks are configured, but there is no sandbox to run them in")
        return self.sandbox
