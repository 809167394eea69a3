"""Inside the sandbox: runs tests that need pytest, each reported once, after its teardown."""

from __future__ import annotations

import ast
import importlib
import os
from typing import TYPE_CHECKING, Any

from moot.edge.sandbox.python.inside.in_honest import insert_guards
from moot.edge.sandbox.python.inside.in_record import FOREIGN_SKIP, TRACE, SelectedTests, SignedReport, is_foreign

if TYPE_CHECKING:
    from moot.edge.sandbox.python.inside.in_record import Result

FOR_TESTS = (0, 1, 2, 5)
"""pytest exit codes caused by tests: success, failures, collection errors, no tests."""


class PytestReporter:
    def __init__(self, record: SignedReport, given: frozenset[str], chosen: SelectedTests) -> None:
        self.record, self.given, self.chosen = record, given, chosen
        self.worst: dict[str, Result] = {}
        self.traces: dict[str, str] = {}
        """Lines of the code in which an error arose, if the code runs elsewhere."""

    def pytest_load_initial_conftests(self) -> None:
        # Plugins are loaded by now and may change pytest; from here on only tests and code run.
        _guard_test_files()
        self.record.seal()

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.record.report_done(report.nodeid or "collection", "error", report.longreprtext)
        elif report.skipped:
            self.record.report_done(report.nodeid, *self._read_skip(report))

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.record.link is not None:
            self.record.link.finish_loading()
        items[:] = [item for item in items if self.chosen.runs(item.nodeid, self.record)]
        items[:] = [item for item in items if self.chosen.wants(item.nodeid)]

    def pytest_collection_finish(self, session: Any) -> None:
        self.record.report_found([item.nodeid for item in session.items])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.record.report_started(nodeid)

    def pytest_runtest_makereport(self, item: Any, call: Any) -> None:
        held = getattr(call.excinfo.value, "__dict__", {}) if call.excinfo else {}
        self.traces[item.nodeid] = held.get(TRACE, "")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            detail = f"{_detail(report)}\n{self.traces.get(report.nodeid, '')}".strip()
            self.worst[report.nodeid] = ("failed" if report.when == "call" else "error", detail)
        elif report.skipped:
            self.worst.setdefault(report.nodeid, self._read_skip(report))
        if report.when == "teardown":
            self.record.report_ended(report.nodeid, self.worst.pop(report.nodeid, ("passed", "")))

    def _read_skip(self, report: Any) -> Result:
        if hasattr(report, "wasxfail"):
            foreign, reason = "xfail" not in report.keywords, report.wasxfail
        else:
            where, _, reason = report.longrepr
            foreign = is_foreign(where, self.given)
        return FOREIGN_SKIP if foreign else ("skipped", reason)


def run(tests: list[str], record: SignedReport, given: frozenset[str], chosen: SelectedTests, *, doctests: bool) -> int:
    tests = [path for path in tests if not chosen.needs(path, record)]
    if not tests:
        record.seal()
        record.report_found([])
        return 0
    pytest = importlib.import_module("pytest")
    looks = ["-q", "--no-header", "--color=no", "--tb=short", "-p", "no:cacheprovider"]
    # Hypothesis works without its plugin, which costs half a second at the end of each run.
    looks += ["-p", "no:hypothesispytest", *_without_unused(), *(["--doctest-modules"] if doctests else [])]
    # A project's own settings may ask for reports or an early end.
    runs = ["--maxfail=0", "--continue-on-collection-errors", "-o", "addopts="]
    runs += ["--import-mode=importlib", f"--rootdir={os.getcwd()}"]
    status = int(pytest.main([*looks, *runs, *tests], plugins=[PytestReporter(record, given, chosen)]))
    if record.link is not None and status in FOR_TESTS:
        # Tests that are run again elsewhere have failed here.
        return int(not record.clean)
    return status or int(not record.clean)


def _without_unused() -> list[str]:
    """If installed, this plugin takes half a second to load; files that do not mention it do not need it."""
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(".") for name in names if name.endswith(".py")]
    for path in paths:
        with open(path, "rb") as file:
            if b"schemathesis" in file.read():
                return []
    return ["-p", "no:schemathesis"]


def _guard_test_files() -> None:
    """After pytest's own rewriting, so that its messages stay as they are."""
    rewriting = importlib.import_module("_pytest.assertion.rewrite")
    rewritten = rewriting.rewrite_asserts

    def rewrite_asserts(tree: ast.Module, *more: Any, **options: Any) -> None:
        rewritten(tree, *more, **options)
        insert_guards(tree)

    vars(rewriting)["rewrite_asserts"] = rewrite_asserts


def _detail(report: Any) -> str:
    printed = "".join(f"\n--- {title} ---\n{text[-500:]}" for title, text in report.sections)
    return str(report.longreprtext) + printed
