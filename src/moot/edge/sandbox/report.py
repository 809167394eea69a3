"""Reads a run's report, and decides when to believe it."""

import hmac
import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from moot.core.measures import Coverage, FileCoverage
from moot.core.types import SuiteRun, TestOutcome, TestStatus, Value
from moot.edge.sandbox.limits import MIB, SandboxLimits
from moot.edge.sandbox.process import ProcessEnd
from moot.text.render import cut

GOOD: frozenset[TestStatus] = frozenset({"passed", "skipped"})


class FoundTests(Value):
    event: Literal["found"] = "found"
    tests: tuple[str, ...]


class Started(Value):
    event: Literal["started"] = "started"
    test: str


class Done(Value):
    event: Literal["done"] = "done"
    test: str
    status: TestStatus
    detail: str = ""
    seconds: float | None = None
    memory: int | None = None
    in_process: str = ""
    code_decides: bool = False

    def outcome(self) -> TestOutcome:
        return TestOutcome(
            name=self.test,
            status=self.status,
            detail=self.detail,
            seconds=self.seconds,
            memory=self.memory,
            in_process=self.in_process,
            code_decides=self.code_decides,
        )


class NeedsObjects(Value):
    """A test that cannot be judged separately because it needs the code's objects."""

    event: Literal["needs"] = "needs"
    test: str
    why: str
    code_decides: bool = False


class RunProblem(Value):
    event: Literal["problem"] = "problem"
    text: str


class CoveredFiles(Value):
    event: Literal["covered"] = "covered"
    files: tuple[FileCoverage, ...]


class Finished(Value):
    event: Literal["finished"] = "finished"


Event = FoundTests | Started | Done | NeedsObjects | RunProblem | CoveredFiles | Finished
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


@dataclass(frozen=True)
class SuiteReport:
    events: tuple[Event, ...]
    foreign: bool = False
    """Somebody without the key wrote to the report."""


def read_signed(report: bytes, key: str) -> SuiteReport:
    """The events with the runner's signature; a truncated last line does not count."""
    events: list[Event] = []
    foreign = False
    for line in report.split(b"\n")[:-1]:
        signature, _, body = line.partition(b" ")
        expected = hmac.new(key.encode(), body, "sha256").hexdigest()
        if not hmac.compare_digest(signature, expected.encode()):
            foreign = True
            continue
        try:
            events.append(EVENT.validate_json(body))
        except ValidationError:
            foreign = True
    return SuiteReport(tuple(events), foreign)


def read_go(report: bytes, expected: Sequence[str] = ()) -> SuiteReport:
    """The events of `go test -json`; `expected`: tests that its files are known to contain."""
    events: list[Event] = []
    output: dict[str, str] = {}
    finished = False
    for entry in map(_entry, report.decode("utf-8", "replace").splitlines()):
        package, action = str(entry.get("Package") or entry.get("ImportPath") or ""), str(entry.get("Action"))
        name = f"{package}.{entry['Test']}" if "Test" in entry else package
        finished = name == package and action in ("pass", "fail", "skip")
        if action in ("output", "build-output"):
            output[name] = output.get(name, "") + str(entry.get("Output", ""))
        elif name != package:
            events.extend(_go_test(action, name, output.get(name, ""), _read_elapsed(entry)))
        elif action == "fail":
            events.extend(_go_package_failed(package, events, output))
    # A program that exits before its tests looks like one without tests.
    run = {name.rpartition(".")[2] for name in _list_found(events)}
    missing = tuple(name for name in expected if name not in run) if finished and not _has_failures(events) else ()
    return SuiteReport((FoundTests(tests=missing), *events, *([Finished()] if finished else [])))


def judge(report: SuiteReport, ended: ProcessEnd, limits: SandboxLimits) -> SuiteRun:
    outcomes = tuple(done.outcome() for done in _select_done(report.events))
    problem = _reason_for_doubt(report, ended, limits)
    if problem:
        outcomes += tuple(
            TestOutcome(name=name, status="timeout" if ended.stopped == "time" else "error", detail=problem)
            for name in _list_unfinished(report.events)
        )
    elif not outcomes and not needs_in(report):
        problem = "no test was found"
    elif outcomes and not needs_in(report) and all(outcome.status == "skipped" for outcome in outcomes):
        problem = "every test was skipped"
    return SuiteRun(outcomes=outcomes, problem=problem, seconds=ended.seconds)


def needs_in(report: SuiteReport) -> list[NeedsObjects]:
    return [event for event in report.events if isinstance(event, NeedsObjects)]


def coverage_in(report: SuiteReport, run: SuiteRun) -> Coverage:
    """Unknown if the run is inconclusive."""
    files = next((event.files for event in report.events if isinstance(event, CoveredFiles)), ())
    if run.problem:
        return Coverage(problem=run.problem)
    return Coverage(files=files) if files else Coverage(problem="no file of the code could be watched")


def _reason_for_doubt(report: SuiteReport, ended: ProcessEnd, limits: SandboxLimits) -> str:
    said = next((event.text for event in report.events if isinstance(event, RunProblem)), "")
    done = [event.test for event in _select_done(report.events)] + [event.test for event in needs_in(report)]
    missing = [name for name in _list_found(report.events) if name not in done]
    clean = all(event.status in GOOD for event in _select_done(report.events))
    if ended.stopped == "time":
        return f"the tests took longer than the limit of {limits.wall:g} s"
    if ended.stopped == "memory":
        return f"the tests used more memory than the limit of {limits.memory // MIB} MiB"
    if report.foreign or len(done) != len(set(done)):
        return "the code under test wrote to the test report"
    if said:
        return said
    if not any(isinstance(event, Finished) for event in report.events):
        return _explain_early_end(ended, limits)
    if missing:
        return f"{len(missing)} of {len(_list_found(report.events))} tests did not run, the first is {missing[0]!r}"
    if clean and done and ended.status != 0:
        return f"the test runner ended with status {ended.status}{_quote_output(ended)}"
    if not clean and ended.status == 0:
        return "the test runner ended with status 0 although a test failed"
    return ""


def _explain_early_end(ended: ProcessEnd, limits: SandboxLimits) -> str:
    if ended.status in (128 + signal.SIGXCPU, -signal.SIGXCPU):
        return f"the tests used more processor time than the limit of {limits.cpu} s"
    return f"the test process ended with status {ended.status} before its tests did{_quote_output(ended)}"


def _quote_output(ended: ProcessEnd) -> str:
    text = ended.output.strip()
    return f": {cut(text, 1000)}" if text else ""


def _select_done(events: Sequence[Event]) -> list[Done]:
    return [event for event in events if isinstance(event, Done)]


def _list_found(events: Sequence[Event]) -> list[str]:
    return [name for event in events if isinstance(event, FoundTests) for name in event.tests]


def _list_unfinished(events: Sequence[Event]) -> list[str]:
    done = {event.test for event in events if isinstance(event, Done | NeedsObjects)}
    return [event.test for event in events if isinstance(event, Started) and event.test not in done]


def _entry(line: str) -> dict[str, JsonValue]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        return {}
    return entry if isinstance(entry, dict) else {}


def _read_elapsed(entry: dict[str, JsonValue]) -> float | None:
    spent = entry.get("Elapsed")
    return float(spent) if isinstance(spent, int | float) and spent >= 0 else None


def _has_failures(events: Sequence[Event]) -> bool:
    return any(done.status not in GOOD for done in _select_done(events))


def _has_failed_below(package: str, events: Sequence[Event]) -> bool:
    return any(done.status == "failed" and done.test.startswith(f"{package}.") for done in _select_done(events))


def _go_package_failed(package: str, events: Sequence[Event], output: dict[str, str]) -> list[Event]:
    """A test that ends the whole program, by a panic for example, gets no result from Go."""
    cut_off = [name for name in _list_unfinished(events) if name.startswith(f"{package}.")]
    if cut_off:
        return [Done(test=name, status="error", detail=cut(output.get(name, ""))) for name in cut_off]
    if _has_failed_below(package, events):
        return []
    return [Done(test=package, status="error", detail=cut("".join(output.values())))]


def _go_test(action: str, name: str, output: str, seconds: float | None) -> list[Event]:
    match action:
        case "run":
            return [FoundTests(tests=(name,)), Started(test=name)]
        case "pass":
            return [Done(test=name, status="passed", seconds=seconds)]
        case "skip":
            return [Done(test=name, status="skipped", seconds=seconds, detail=cut(output))]
        case "fail":
            return [Done(test=name, status="failed", seconds=seconds, detail=cut(output))]
        case _:
            return []
