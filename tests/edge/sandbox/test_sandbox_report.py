"""When a report is believed: pure, by tables of cases."""

import hmac
import json

import pytest

from moot.edge.sandbox.layout import safe_path
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.process import ProcessEnd, Stop
from moot.edge.sandbox.report import (
    Done,
    Event,
    Finished,
    FoundTests,
    Started,
    SuiteReport,
    judge,
    read_go,
    read_signed,
)
from moot.text.render import cut

LIMITS = SandboxLimits()
A_FOUND, A_STARTED = FoundTests(tests=("a",)), Started(test="a")
A_PASSED, A_FAILED = Done(test="a", status="passed"), Done(test="a", status="failed")
END = Finished()


def ended(status: int = 0, stopped: Stop = "", output: str = "") -> ProcessEnd:
    return ProcessEnd(status, stopped, b"", output, 0.5)


@pytest.mark.parametrize(
    ("events", "how", "problem"),
    [
        ((A_FOUND, A_STARTED, A_PASSED, END), ended(), ""),
        ((A_FOUND, A_STARTED, A_FAILED, END), ended(1), ""),
        ((END,), ended(5), "no test was found"),
        ((A_FOUND, A_STARTED, A_PASSED), ended(), "the test process ended with status 0 before its tests did"),
        ((A_FOUND, A_STARTED, A_PASSED, END), ended(3), "the test runner ended with status 3"),
        ((A_FOUND, A_STARTED, A_FAILED, END), ended(), "the test runner ended with status 0 although a test failed"),
        ((FoundTests(tests=("a", "b")), A_PASSED, END), ended(), "1 of 2 tests did not run, the first is 'b'"),
        ((A_FOUND, A_FAILED, A_PASSED, END), ended(1), "the code under test wrote to the test report"),
        ((), ended(1, output="tar: no"), "the test process ended with status 1 before its tests did: tar: no"),
        ((A_FOUND, A_STARTED), ended(-9, "time"), "the tests took longer than the limit of 60 s"),
        ((A_FOUND, A_STARTED), ended(-9, "memory"), "the tests used more memory than the limit of 1024 MiB"),
        ((A_FOUND, A_STARTED), ended(152), "the tests used more processor time than the limit of 60 s"),
    ],
)
def test_a_report_is_believed_only_when_it_is_whole(events: tuple[Event, ...], how: ProcessEnd, problem: str) -> None:
    suite = judge(SuiteReport(events), how, LIMITS)
    assert suite.problem == problem
    assert suite.passed == (not problem and A_PASSED in events)


def test_a_line_that_is_not_signed_is_foreign() -> None:
    body = json.dumps({"event": "finished"}).encode()
    good = hmac.new(b"key", body, "sha256").hexdigest().encode() + b" " + body + b"\n"
    assert read_signed(good, "key") == SuiteReport((END,))
    assert read_signed(good + good[:20], "key") == SuiteReport((END,))
    assert read_signed(good, "other") == SuiteReport((), foreign=True)
    assert read_signed(b"\xff\n" + good, "key") == SuiteReport((END,), foreign=True)


GO: list[dict[str, object]] = [
    {"Action": "start", "Package": "work"},
    {"Action": "run", "Package": "work", "Test": "TestA"},
    {"Action": "output", "Package": "work", "Test": "TestA", "Output": "    a_test.go:5: got 1\n"},
    {"Action": "fail", "Package": "work", "Test": "TestA", "Elapsed": 0},
    {"Action": "run", "Package": "work", "Test": "TestB"},
    {"Action": "pass", "Package": "work", "Test": "TestB", "Elapsed": 0},
    {"Action": "fail", "Package": "work", "Elapsed": 0.002},
]
GO_BROKEN: list[dict[str, object]] = [
    {"ImportPath": "work", "Action": "build-output", "Output": "./a.go:3:1: syntax error\n"},
    {"Action": "start", "Package": "work"},
    {"Action": "fail", "Package": "work", "Elapsed": 0},
]
GO_EMPTY: list[dict[str, object]] = [{"Action": "start", "Package": "work"}, {"Action": "skip", "Package": "work"}]


def go(entries: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in entries).encode()


def test_go_reports_each_test() -> None:
    suite = judge(read_go(go(GO)), ended(1), LIMITS)
    assert suite.problem == ""
    assert [(done.name, done.status) for done in suite.outcomes] == [("work.TestA", "failed"), ("work.TestB", "passed")]
    assert "got 1" in suite.outcomes[0].detail


def test_go_code_that_does_not_build_is_an_error() -> None:
    suite = judge(read_go(go(GO_BROKEN)), ended(1), LIMITS)
    assert [outcome.status for outcome in suite.outcomes] == ["error"]
    assert "syntax error" in suite.outcomes[0].detail


def test_go_without_tests_or_cut_short_is_a_problem() -> None:
    assert judge(read_go(go(GO_EMPTY)), ended(0), LIMITS).problem == "no test was found"
    assert judge(read_go(go(GO_EMPTY), ["TestA"]), ended(0), LIMITS).problem.startswith("1 of 1 tests did not run")
    assert judge(read_go(go(GO[4:6] + GO_EMPTY[1:]), ["TestA", "TestB"]), ended(0), LIMITS).passed is False
    assert judge(read_go(go(GO[4:6] + GO_EMPTY[1:]), ["TestB"]), ended(0), LIMITS).passed is True
    assert "before its tests did" in judge(read_go(go(GO[:4])), ended(1), LIMITS).problem
    assert "before its tests did" in judge(read_go(b"not json\n"), ended(1), LIMITS).problem


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a.py", "a.py"),
        ("/etc/passwd", "etc/passwd"),
        ("../../a.py", "a.py"),
        ("a/../../b.py", "a/b.py"),
        ("./a//b.py", "a/b.py"),
        ("C:\\code\\a.py", "C:/code/a.py"),
        ("a\0.py", "a.py"),
        ("..", "unnamed"),
    ],
)
def test_a_path_cannot_leave(path: str, safe: str) -> None:
    assert safe_path(path) == safe


def test_a_long_text_keeps_both_ends() -> None:
    text = cut("a" * 10_000 + "z" * 10_000)
    assert (text[0], text[-1]) == ("a", "z")
    assert len(text) < 4_100
