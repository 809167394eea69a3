"""Run Python tests inside the sandbox and sign what happened; a script on its own, nothing of Moot is there."""

import asyncio
import builtins
import hmac
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
import unittest
import unittest.case
import unittest.suite
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

REPORT = 3
DETAIL = 4000
FOREIGN_SKIP = ("failed", "the code under test skipped this test")
RUNNERS = ("_pytest", "pluggy", "unittest.case", "unittest.suite", "unittest.result")


class Record:
    """The report: what is written cannot be taken back, and each line is signed with a key read before the code."""

    def __init__(self, key: str) -> None:
        # A process started by a test gets neither the pipe nor, after a fork, the right to sign.
        report, owner, write = os.dup(REPORT), os.getpid(), os.write
        os.close(REPORT)
        mac, dumps, pid = hmac.new(key.encode(), digestmod="sha256"), json.dumps, os.getpid

        def sign(event: dict[str, object]) -> None:
            if pid() != owner:
                return
            body = dumps(event).encode()
            signed = mac.copy()
            signed.update(body)
            line = memoryview(signed.hexdigest().encode() + b" " + body + b"\n")
            while line:
                line = line[write(report, line) :]

        self._sign = sign

    def found(self, tests: list[str]) -> None:
        self._sign({"event": "found", "tests": tests})

    def started(self, test: str) -> None:
        self._sign({"event": "started", "test": test})

    def done(self, test: str, status: str, detail: str = "") -> None:
        self._sign({"event": "done", "test": test, "status": status, "detail": shorten(detail)})

    def problem(self, text: str) -> None:
        self._sign({"event": "problem", "text": text})

    def finished(self) -> None:
        self._sign({"event": "finished"})


class Seal:
    """Notices when the code under test replaces a part of the test runner or a built-in exception."""

    def __init__(self) -> None:
        self._parts = [
            (owner, name, value, getattr(value, "__code__", None))
            for owner in self._owners()
            for name, value in owner.items()
            if isinstance(value, (FunctionType, type, property, classmethod, staticmethod))
        ]
        self._exceptions = {name: value for name, value in vars(builtins).items() if _is_exception(value)}

    def broken(self) -> bool:
        return any(
            owner.get(name) is not value or getattr(value, "__code__", None) is not code
            for owner, name, value, code in self._parts
        ) or any(vars(builtins).get(name) is not value for name, value in self._exceptions.items())

    @staticmethod
    def _owners() -> Iterator[Mapping[str, object]]:
        for name, module in list(sys.modules.items()):
            if name in RUNNERS or name.split(".")[0] in RUNNERS:
                yield vars(module)
                yield from (vars(v) for v in vars(module).values() if isinstance(v, type) and v.__module__ == name)


class PytestReporter:
    """A pytest plugin that reports each test once, after its teardown."""

    def __init__(self, record: Record, given: frozenset[str]) -> None:
        self.record, self.given = record, given
        self.seal: Seal | None = None
        self.clean = True
        self.worst: dict[str, tuple[str, str]] = {}

    def pytest_load_initial_conftests(self) -> None:
        # Plugins are loaded by now and may change pytest; what comes after is the tests and the code.
        self.seal = Seal()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.record.done(report.nodeid or "collection", "error", report.longreprtext)
        elif report.skipped:
            self.record.done(report.nodeid, *self._skipped(report))

    def pytest_collection_finish(self, session: Any) -> None:
        self.record.found([item.nodeid for item in session.items])
        self._check()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._check()
        self.record.started(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.worst[report.nodeid] = ("failed" if report.when == "call" else "error", _pytest_detail(report))
        elif report.skipped:
            self.worst.setdefault(report.nodeid, self._skipped(report))
        if report.when == "teardown":
            self._check()
            self.record.done(report.nodeid, *self.worst.pop(report.nodeid, ("passed", "")))

    def _skipped(self, report: Any) -> tuple[str, str]:
        if hasattr(report, "wasxfail"):
            foreign, reason = "xfail" not in report.keywords, report.wasxfail
        else:
            where, _, reason = report.longrepr
            foreign = is_foreign(where, self.given)
        self.clean = self.clean and not foreign
        return FOREIGN_SKIP if foreign else ("skipped", reason)

    def _check(self) -> None:
        if self.seal is None or self.seal.broken():
            self.record.problem("the code under test changed the test runner")


class PlainResult(unittest.TestResult):
    """Results where there is no pytest: functions and test cases, one report each."""

    def __init__(self, record: Record, given: frozenset[str]) -> None:
        super().__init__()
        self.record, self.given, self.seal = record, given, Seal()
        self.names: dict[str, str] = {}
        self.worst: tuple[str, str] = ("passed", "")

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.worst = ("passed", "")
        self._check()
        self.record.started(self._name(test))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self._check()
        self.record.done(self._name(test), *self.worst)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.worst = ("failed", _trace(err[1]))

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.worst = ("error", _trace(err[1]))
        else:
            self.record.done(str(test), "error", _trace(err[1]))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.worst = ("failed", _trace(err[1]))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        raised = sys.exc_info()[2]
        where = traceback.extract_tb(raised)[-1].filename if raised else ""
        if is_foreign(where, self.given):
            super().addFailure(test, sys.exc_info())
            self.worst = FOREIGN_SKIP
        else:
            self.worst = ("skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self.worst = ("skipped", "an expected failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.worst = ("failed", "passed although a failure was expected")

    def _name(self, test: unittest.TestCase) -> str:
        return self.names.get(test.id(), test.id())

    def _check(self) -> None:
        if self.seal.broken():
            self.record.problem("the code under test changed the test runner")


def run_pytest(tests: list[str], record: Record, given: frozenset[str]) -> int:
    pytest = importlib.import_module("pytest")
    looks = ["-q", "--no-header", "--color=no", "--tb=short", "-p", "no:cacheprovider"]
    # Hypothesis works without its plugin, which costs half a second at the end of each run.
    looks += ["-p", "no:hypothesispytest"]
    # A project's own settings may ask for reports or an early end.
    runs = [
        "--maxfail=0",
        "--continue-on-collection-errors",
        "-o",
        "addopts=",
        "--import-mode=importlib",
        f"--rootdir={os.getcwd()}",
    ]
    reporter = PytestReporter(record, given)
    return int(pytest.main([*looks, *runs, *tests], plugins=[reporter])) or int(not reporter.clean)


def run_plain(tests: list[str], record: Record, given: frozenset[str]) -> int:
    result = PlainResult(record, given)
    cases, broken = [], False
    for number, path in enumerate(tests):
        try:
            cases += _plain_cases(path, _load(path, f"moot_tests_{number}"))
        except BaseException as problem:
            broken = True
            record.done(path, "error", _trace(problem))
    result.names = {case.id(): name for name, case in cases}
    record.found([name for name, _ in cases])
    unittest.TestSuite(case for _, case in cases).run(result)
    return 0 if result.wasSuccessful() and not broken else 1


def main() -> int:
    spec_path = Path(__file__).with_name("spec.json")
    spec = json.loads(spec_path.read_text("utf-8"))
    spec_path.unlink()
    record = Record(spec.pop("key"))
    run = run_pytest if importlib.util.find_spec("pytest") else run_plain
    root = os.getcwd()
    front = [os.path.normpath(os.path.join(root, folder)) for folder in spec["front"]]
    # Only now, so that no file of the code stands in for a module of the runner.
    importlib.import_module("pytest" if run is run_pytest else "unittest")
    sys.path[:0] = front
    sys.path += [os.path.join(root, folder) for folder in spec["back"]]
    os.environ["PYTHONPATH"] = os.pathsep.join(front)
    given = frozenset(os.path.join(root, path) for path in spec["given"])
    status = run(spec["tests"], record, given) if spec["tests"] else 0
    record.finished()
    return status


def is_foreign(path: str, given: frozenset[str]) -> bool:
    """Whether a file of the code, and not one of the tests, is where this came from."""
    full = os.path.abspath(path)
    return full.startswith(os.getcwd() + os.sep) and full not in given


def shorten(text: str) -> str:
    """Without the place of the work folder, so that a report is the same wherever it is; beginning and end if long."""
    text = text.replace(os.getcwd() + "/", "").encode("utf-8", "replace").decode()
    if len(text) <= DETAIL:
        return text
    return f"{text[: DETAIL // 4]}\n… {len(text) - DETAIL} characters cut …\n{text[-DETAIL * 3 // 4 :]}"


def _pytest_detail(report: Any) -> str:
    printed = "".join(f"\n--- {title} ---\n{text[-500:]}" for title, text in report.sections)
    return str(report.longreprtext) + printed


def _plain_cases(path: str, module: ModuleType) -> list[tuple[str, unittest.TestCase]]:
    cases: list[tuple[str, unittest.TestCase]] = []
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and name.startswith("test"):
            cases.append((f"{path}::{name}", _FunctionCase(_called(value), f"{path}::{name}")))
        elif isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__:
            for method in unittest.defaultTestLoader.getTestCaseNames(value):
                cases.append((f"{path}::{name}::{method}", value(method)))
    return cases


class _FunctionCase(unittest.FunctionTestCase):
    def __init__(self, function: Callable[[], None], name: str) -> None:
        super().__init__(function)
        self._name = name

    def id(self) -> str:
        return self._name


def _called(function: FunctionType) -> Callable[[], None]:
    return (lambda: asyncio.run(function())) if inspect.iscoroutinefunction(function) else function


def _load(path: str, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path!r} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _trace(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem))


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and exit handlers that the tests left behind have no say in the status.
    os._exit(ended)
