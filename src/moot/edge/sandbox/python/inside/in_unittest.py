"""Inside the sandbox: runs `unittest` cases without pytest, one report each."""

from __future__ import annotations

import sys
import traceback
import unittest
from typing import TYPE_CHECKING, Any

from moot.edge.sandbox.python.inside.in_plain import trace
from moot.edge.sandbox.python.inside.in_record import FOREIGN_SKIP, SignedReport, is_foreign

if TYPE_CHECKING:
    from moot.edge.sandbox.python.inside.in_record import Result


def cases_of(path: str, module: Any) -> list[tuple[str, unittest.TestCase]]:
    found = []
    for name, value in list(vars(module).items()):
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and value.__module__ == module.__name__:
            methods = unittest.defaultTestLoader.getTestCaseNames(value)
            found += [(f"{path}::{name}::{method}", value(method)) for method in methods]
    return found


def run_cases(cases: list[tuple[str, unittest.TestCase]], record: SignedReport, given: frozenset[str]) -> None:
    unittest.TestSuite(case for _, case in cases).run(CaseResult(record, given, {c.id(): name for name, c in cases}))


class CaseResult(unittest.TestResult):
    def __init__(self, record: SignedReport, given: frozenset[str], names: dict[str, str]) -> None:
        super().__init__()
        self.record, self.given, self.names = record, given, names
        self.worst: Result = ("passed", "")

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.worst = ("passed", "")
        self.record.report_started(self._name(test))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.record.report_ended(self._name(test), self.worst)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.worst = ("failed", _trace(err))

    def addError(self, test: Any, err: Any) -> None:
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.worst = ("error", _trace(err))
        else:
            self.record.report_done(str(test), "error", _trace(err))

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.worst = ("failed", _trace(err))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        raised = sys.exc_info()[2]
        where = traceback.extract_tb(raised)[-1].filename if raised else ""
        self.worst = FOREIGN_SKIP if is_foreign(where, self.given) else ("skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self.worst = ("skipped", "an expected failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.worst = ("failed", "passed although a failure was expected")

    def _name(self, test: unittest.TestCase) -> str:
        return self.names.get(test.id(), test.id())


def _trace(raised: Any) -> str:
    return trace(raised[1])
