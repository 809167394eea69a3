"""Analyses a failed attempt by rules: error class, failing input, expected and actual value."""

import ast
import re
from collections.abc import Collection, Sequence
from typing import Literal

from moot.core.types import Answer, Probing, SuiteRun, TestOutcome, Value
from moot.evidence.trials.contrast import Cause, format_answer, likely_cause
from moot.evidence.trials.kinds import asks_refusal, is_refusal, worth
from moot.evidence.trials.summary import format_in_process
from moot.evidence.trials.values import Example, is_satisfied
from moot.text.excerpts import Fitted, TextPart, fit_parts

Kind = Literal["wrong_value", "exception", "no_exception", "syntax", "missing", "timeout", "memory", "no_answer"]
ADDRESS = re.compile(r"<(?:function|bound method|built-in function|class) '?([\w.<>]+?)'?(?: at 0x[0-9a-f]+)?>")
PLACE = re.compile(
    r"^(?:(?P<file>[^\s:][^:\n]*?):(?P<line>\d+): in |  File \"(?P<from>[^\"\n]+)\", line (?P<at>\d+), in )",
    re.MULTILINE,
)
PYTHON_ERROR = re.compile(
    r"^(?:E\s+)?(?:[\w.]+\.)?(?P<error>[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning|Timeout))\b"
    r":? ?(?P<said>.*)$",
    re.MULTILINE,
)
ASSERTION = re.compile(
    r"^(?:E\s+|AssertionError: )?assert (?P<got>.+?) (?P<sign>==|!=|is not|is|in|not in|<=|>=|<|>) (?P<wanted>.+)$",
    re.MULTILINE,
)
UNITTEST = re.compile(r"^E\s+AssertionError: (?P<got>.+?) (?P<sign>!=) (?P<wanted>.+?)(?: : .*)?$", re.MULTILINE)
WHERE = re.compile(r"^E\s+\+\s+where (?P<value>.+?) = (?P<call>[\w.]+\(.*\))$", re.MULTILINE)
YODA = re.compile(r"^\s+assert [^\s(]+ == \w[\w.]*\(.*\)$", re.MULTILINE)
ASSERTED = re.compile(r"^\s+(?:assert |self\.assert\w+\()(?P<said>.+)$", re.MULTILINE)
NOT_RAISED = re.compile(r"DID NOT RAISE (?:any of )?(?:<class ')?\(?(?P<error>[\w.]+)|(?P<other>\w+) not raised")
DOCTEST = re.compile(r"Expected:\n(?P<wanted>(?:\s{4}.*\n)+)Got:\n(?P<got>(?:\s{4}.*\n?)+)")
NODE_SHORT = re.compile(r"^(?P<got>\S.*) !==? (?P<wanted>.+)$", re.MULTILINE)
NODE_INLINE = re.compile(r"ERR_ASSERTION\]: (?P<got>\S.*?) ={2,3} (?P<wanted>.+)$", re.MULTILINE)
NODE_LONG = re.compile(r":\n\n(?P<got>.+?)\n\nshould [\w ,-]+\n\n(?P<wanted>.+?)\n(?:    at |$)", re.DOTALL)
NODE_ERROR = re.compile(r"^(?P<error>[A-Z]\w*Error)(?: \[[A-Z_]+\])?: (?P<said>.*)$", re.MULTILINE)
GO_SAID = re.compile(r"^\s+(?P<file>[\w./-]+\.go):(?P<line>\d+): (?P<said>.+)$", re.MULTILINE)
GO_VALUES = re.compile(
    r"(?:(?P<call>\w[\w.]*\(.*?\))\s*(?:=|returned|:)?\s*)?(?:got:?\s*)?(?P<got>\S.*?)[,;]?\s+"
    r"(?:want|wanted|expected):?\s*(?P<wanted>.+)$"
)
GO_PANIC = re.compile(r"^panic: (?P<said>.+?)(?: \[recovered.*)?$", re.MULTILINE)
GO_BUILD = re.compile(r"^\S*?(?P<file>[\w-]+\.go):(?P<line>\d+):\d+: (?P<said>.+)$", re.MULTILINE)
MISSING = frozenset({"ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "ReferenceError"})
SYNTAX = frozenset({"SyntaxError", "IndentationError", "TabError"})
LONGEST = 300
MOST_TOLD = 6_000
"""Tokens of failures kept of one run."""


class FailedTest(Value):
    test: str
    kind: Kind
    error: str = ""
    """The error class, as the language names it."""
    input: str = ""
    expected: str = ""
    got: str = ""
    said: str = ""
    place: str = ""
    """The last line reached in the solution or the test."""
    cause: Cause | None = None


class Analysis(Value):
    passed: int = 0
    of: int = 0
    failures: tuple[FailedTest, ...] = ()
    problem: str = ""
    """Why the whole run is inconclusive."""
    refused: int = 0
    refusals: int = 0
    """Passed and total tests that expect a refusal, such as an error."""
    in_process: int = 0
    """Passes that the code could have faked because it ran in its test's process."""
    decided: int = 0
    """Of these, tests that could have run separately, but the code's own comparison had to decide."""
    why_in_process: str = ""

    @property
    def green(self) -> bool:
        """In-process passes alone are not enough."""
        return not self.problem and not self.failures and self.passed > 0 and not self.decided

    @property
    def apart(self) -> int:
        return self.passed - self.in_process

    @property
    def worth(self) -> float:
        """Passed tests weighted by kind; those decided by the code's own comparison count nothing."""
        refused = max(0, self.refused - self.decided)
        return worth(self.passed - self.decided, self.of, min(refused, self.passed - self.decided), self.refusals)

    @property
    def caveat(self) -> str:
        return format_in_process(self.in_process, self.of, self.why_in_process, decided=self.decided)

    @property
    def summary(self) -> str:
        return f"{self.passed} of {self.of} passed" + (f"; {self.problem}" if self.problem else "")


def combine_analyses(one: Analysis, other: Analysis) -> Analysis:
    return Analysis(
        passed=one.passed + other.passed,
        of=one.of + other.of,
        failures=(*one.failures, *other.failures),
        problem="; ".join(filter(None, (one.problem, other.problem))),
        refused=one.refused + other.refused,
        refusals=one.refusals + other.refusals,
        in_process=one.in_process + other.in_process,
        decided=one.decided + other.decided,
        why_in_process=one.why_in_process or other.why_in_process,
    )


def of_suite(run: SuiteRun, known: Collection[str] = ()) -> Analysis:
    """A skipped test counts neither way; an aborted run has no passes. `known`: tests whose code expects a refusal."""
    ran = [outcome for outcome in run.outcomes if outcome.status != "skipped"]
    failures = tuple(failure(o) for o in ran if o.status != "passed")
    refusals = [o.name for o in ran if is_refusal(o.name, known)]
    return Analysis(
        passed=len(run.passed_names),
        of=len(ran),
        failures=failures,
        problem=strip_unstable_parts(run.problem),
        refused=sum(name in run.passed_names for name in refusals),
        refusals=len(refusals),
        in_process=len(run.passed_in_process),
        decided=sum(outcome.code_decides for outcome in run.passed_in_process),
        why_in_process=next((outcome.in_process for outcome in run.passed_in_process), ""),
    )


def of_examples(examples: Sequence[Example], probing: Probing) -> Analysis:
    if probing.problem or len(probing.answers) != len(examples):
        problem = strip_unstable_parts(probing.problem) or "not every example was answered"
        refusals = sum(map(asks_refusal, examples))
        return Analysis(of=len(examples), failures=(_whole(problem),), problem="", refusals=refusals)
    missed = [(e, a) for e, a in zip(examples, probing.answers, strict=True) if not is_satisfied(e, a)]
    return Analysis(
        passed=len(examples) - len(missed),
        of=len(examples),
        failures=tuple(_describe_miss(e, a) for e, a in missed),
        refused=sum(asks_refusal(e) and (e, a) not in missed for e, a in zip(examples, probing.answers, strict=True)),
        refusals=sum(map(asks_refusal, examples)),
    )


def _whole(problem: str) -> FailedTest:
    """The code could not be loaded."""
    error = PYTHON_ERROR.match(problem)
    name = error["error"] if error else ""
    kind: Kind = "memory" if "memory" in problem else "timeout" if "limit of" in problem else "no_answer"
    return FailedTest(
        test="loading the code",
        kind=_kind_of(name) if name else kind,
        error=name,
        said=_cut(error["said"] if error else problem),
    )


def _describe_miss(example: Example, answer: Answer) -> FailedTest:
    wanted = (
        Answer(kind="error", text=example.raises) if example.raises else Answer(kind="value", text=example.expected)
    )
    kinds: dict[str, Kind] = {"timeout": "timeout", "none": "no_answer"}
    kind: Kind = kinds.get(answer.kind) or (
        _kind_of(answer.text) if answer.kind == "error" else "no_exception" if example.raises else "wrong_value"
    )
    return FailedTest(
        test=example.call,
        kind=kind,
        error=answer.text if answer.kind == "error" else "",
        input=_cut(example.call),
        expected=_cut(example.raises or example.expected),
        got=_cut(strip_unstable_parts(format_answer(answer))),
        said=_cut(strip_unstable_parts(answer.detail)),
        cause=likely_cause(example.call, wanted, answer),
    )


def failure(outcome: TestOutcome) -> FailedTest:
    """Parse the output of any test runner."""
    detail = strip_unstable_parts(outcome.detail)
    if outcome.status == "timeout":
        return FailedTest(test=outcome.name, kind="timeout", said=_cut(detail))
    for read in (_of_pytest, _of_doctest, _of_node, _of_go):
        if seen := read(outcome.name, detail):
            return seen
    if error := _last(PYTHON_ERROR, detail):
        return FailedTest(
            test=outcome.name,
            kind=_kind_of(error["error"]),
            error=error["error"],
            said=_cut(error["said"]),
            place=_place(detail),
        )
    return FailedTest(test=outcome.name, kind="no_answer", said=_cut(detail.strip()))


def _of_pytest(test: str, detail: str) -> FailedTest | None:
    if not re.search(r"^E\s|^Traceback \(most recent", detail, re.MULTILINE):
        return None
    place = _place(detail)
    if silent := NOT_RAISED.search(detail):
        return FailedTest(
            test=test,
            kind="no_exception",
            expected=silent["error"] or silent["other"],
            got="no error",
            place=place,
            input=_find_asserted(detail),
        )
    error = _last(PYTHON_ERROR, detail)
    if error and error["error"] != "AssertionError":
        name = error["error"]
        return FailedTest(
            test=test,
            kind=_kind_of(name),
            error=name,
            input=_find_asserted(detail),
            said=_cut(error["said"]),
            place=place,
        )
    compared, called = ASSERTION.search(detail) or UNITTEST.search(detail), WHERE.search(detail)
    got, wanted = _sides(compared, called) if compared else ("", "")
    call = called["call"] if called else _find_asserted(detail)
    return FailedTest(
        test=test,
        kind="wrong_value",
        error="AssertionError",
        input=_cut(call),
        expected=_cut(wanted),
        got=_cut(got),
        said=_cut(error["said"]) if error and not compared else "",
        place=place,
        cause=likely_cause(call, _value(wanted), _value(got)) if compared and not call.startswith("assert ") else None,
    )


def _sides(compared: "re.Match[str]", called: "re.Match[str] | None") -> tuple[str, str]:
    """Actual and expected value: the side with the call is the actual one, wherever it is."""
    left, right = compared["got"], compared["wanted"]
    if (called and called["value"] == right and called["value"] != left) or YODA.search(compared.string):
        left, right = right, left
    equal = compared["sign"] in ("==", "is") or compared.re is UNITTEST
    return left, right if equal else f"{compared['sign']} {right}"


def _of_doctest(test: str, detail: str) -> FailedTest | None:
    if not (said := DOCTEST.search(detail)):
        return None
    wanted, got = (" ".join(said[name].split()) for name in ("wanted", "got"))
    return FailedTest(test=test, kind="wrong_value", expected=_cut(wanted), got=_cut(got), place=_place(detail))


def _of_node(test: str, detail: str) -> FailedTest | None:
    error = NODE_ERROR.search(detail)
    if error is None or "\n    at " not in detail:
        return None
    values = NODE_LONG.search(detail) or NODE_SHORT.search(detail) or NODE_INLINE.search(detail)
    if error["error"] == "AssertionError" or values:
        got, wanted = (" ".join(values[name].split()) if values else "" for name in ("got", "wanted"))
        said = "" if values else _cut(error["said"])
        return FailedTest(
            test=test, kind="wrong_value", error=error["error"], expected=_cut(wanted), got=_cut(got), said=said
        )
    name = error["error"]
    return FailedTest(test=test, kind=_kind_of(name), error=name, said=_cut(error["said"]))


def _of_go(test: str, detail: str) -> FailedTest | None:
    if panic := GO_PANIC.search(detail):
        return FailedTest(test=test, kind="exception", error="panic", said=_cut(panic["said"]))
    if "--- FAIL" not in detail and "=== RUN" not in detail:
        built = GO_BUILD.search(detail)
        if not built:
            return None
        place, said = f"{built['file']}:{built['line']}", _cut(built["said"])
        return FailedTest(
            test=test, kind="missing" if "undefined" in said else "syntax", error="build failed", said=said, place=place
        )
    line = GO_SAID.search(detail)
    if line is None:
        return FailedTest(test=test, kind="no_answer", said=_cut(detail.strip()))
    values = GO_VALUES.match(line["said"])
    return FailedTest(
        test=test,
        kind="wrong_value",
        input=_cut(values["call"] or "") if values else "",
        expected=_cut(values["wanted"]) if values else "",
        got=_cut(values["got"]) if values else "",
        said=_cut(line["said"]),
        place=f"{line['file']}:{line['line']}",
    )


def strip_unstable_parts(text: str) -> str:
    """Remove memory addresses and local paths, so that equal failures have equal text."""
    text = re.sub(r" at 0x[0-9a-f]+", "", ADDRESS.sub(r"\1", text))
    lines = [line for line in text.split("\n") if "/site-packages/" not in line and "node:internal" not in line]
    return "\n".join(lines)


def _kind_of(error: str) -> Kind:
    if error in SYNTAX:
        return "syntax"
    if error in MISSING:
        return "missing"
    return "memory" if error == "MemoryError" else "exception"


def _value(text: str) -> Answer:
    return Answer(kind="value", text=text)


def _place(detail: str) -> str:
    found = [(m["file"] or m["from"], m["line"] or m["at"]) for m in PLACE.finditer(detail)]
    own = [f"{file}:{line}" for file, line in found if not file.startswith("/")]
    return own[-1] if own else ""


def _find_asserted(detail: str) -> str:
    """The call compared on the test's own line, or the line itself if nothing is more precise."""
    line = ASSERTED.search(detail)
    if line is None:
        return ""
    try:
        stated = ast.parse(line[0].strip()).body[0]
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return _cut(line[0].strip())
    match stated:
        case (
            ast.Assert(test=ast.Compare(left=ast.Call() as call))
            | ast.Assert(test=ast.Compare(comparators=[ast.Call() as call]))
            | ast.Assert(test=ast.Call() as call)
        ):
            return _cut(ast.unparse(call))
        case _:
            return _cut(line[0].strip())


def _last(pattern: "re.Pattern[str]", text: str) -> "re.Match[str] | None":
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def _cut(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else f"{text[: most - 30]}… ({len(text)} characters)"


def format_failure(failure: FailedTest) -> str:
    lines = [f"{failure.input or failure.test}"]
    if failure.expected:
        lines.append(f"  expected: {failure.expected}")
    if failure.got:
        lines.append(f"  got: {failure.got}")
    if failure.error and failure.error != "AssertionError" and failure.error not in failure.got:
        lines.append(f"  error: {failure.error}{f': {failure.said}' if failure.said else ''}")
    elif failure.said and failure.said not in failure.got:
        lines.append(f"  said: {failure.said}")
    lines += ["  no answer in time"] if failure.kind == "timeout" else []
    lines += (
        [f"  likely cause: {failure.cause.replace('_', ' ')}"] if failure.cause not in (None, "logic_error") else []
    )
    lines += [f"  at {failure.place}"] if failure.place else []
    return "\n".join(lines)


def fit_failures(analysis: Analysis, tokens: int) -> Fitted:
    """Each failure as far as the tokens allow, in order."""
    found = fit_parts([TextPart(f"failure of {f.test}", format_failure(f)) for f in analysis.failures], tokens)
    return Fitted((TextPart("summary", f"{analysis.summary}."), *found.parts), found.missing)


def format_failures(analysis: Analysis) -> str:
    """For the record: no prompt shows more of it."""
    return fit_failures(analysis, MOST_TOLD).join()
