"""The nouns: frozen values and closed sets of words, nothing that acts."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Language = Literal["python", "javascript", "typescript", "go"]
SUFFIXES: dict[str, Language] = {
    ".py": "python", ".pyw": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
    ".go": "go",
}  # fmt: skip
"""The language of a file, by how its name ends."""
Severity = Literal["critical", "high", "medium", "low"]
Category = Literal["injection", "overflow", "race_condition", "logic_error", "auth", "xss", "other"]
Source = Literal["model", "scan", "executed"]
AbsenceReason = Literal["no_model", "timeout", "unreachable", "refused", "unreadable", "limit"]
Status = Literal["pending", "running", "paused", "completed", "failed", "cancelled"]
Finish = Literal["stop", "length", "filter", "unknown"]
AnswerKind = Literal["value", "error", "timeout", "none"]
TestStatus = Literal["passed", "failed", "error", "timeout", "skipped"]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]


def split_names(value: object) -> object:
    """`run_tests,run_code` as a list."""
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = Annotated[tuple[str, ...], BeforeValidator(split_names)]


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceFile(Value):
    path: str
    language: Language
    text: str
    base: str | None = None
    """The text before the change under review; only what it does not hold is in question."""


class Code(Value):
    """The files of a session, in display order."""

    files: tuple[SourceFile, ...]
    needs: tuple[str, ...] = ()
    """Packages that the project's own files (requirements, pyproject.toml, package.json, go.mod) ask for."""

    def file(self, path: str) -> SourceFile | None:
        return next((file for file in self.files if file.path == path), None)

    def with_texts(self, texts: dict[str, str]) -> "Code":
        """The same files, with other texts where `texts` has one."""
        files = tuple(f.model_copy(update={"text": texts.get(f.path, f.text)}) for f in self.files)
        return self.model_copy(update={"files": files})


class Tests(Value):
    """Test files given by the user, placed beside the code and run."""

    __test__ = False

    files: tuple[tuple[str, str], ...]
    language: Language = "python"
    entry: str = ""
    """The function that a Python `check(candidate)` is about, where the code does not make that plain."""


class TestOutcome(Value):
    __test__ = False

    name: str
    status: TestStatus
    detail: str = ""
    seconds: float | None = None
    memory: int | None = None
    """Bytes that the process had at most while this test ran, where that can be measured."""
    in_process: str = ""
    """Why the code ran in the process of its test, where it can fake a pass; empty where it ran apart from it."""
    code_decides: bool = False
    """In process because the code's own comparison was to decide, not because the test has no other way."""


class SuiteRun(Value):
    """Result of a test run. A run without tests is not a pass."""

    outcomes: tuple[TestOutcome, ...] = ()
    problem: str = ""
    """Why the run as a whole says nothing: no test found, time limit, crash of the runner."""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return (
            not self.problem and bool(self.outcomes) and all(o.status in ("passed", "skipped") for o in self.outcomes)
        )

    @property
    def passed_names(self) -> frozenset[str]:
        return frozenset(o.name for o in self.outcomes if o.status == "passed") if not self.problem else frozenset()

    @property
    def passed_in_process(self) -> tuple[TestOutcome, ...]:
        """Passes that the code can have faked, for it ran in the process of its test."""
        return tuple(o for o in self.outcomes if o.name in self.passed_names and o.in_process)

    @property
    def passed_apart(self) -> frozenset[str]:
        return self.passed_names - {outcome.name for outcome in self.passed_in_process}


class RaceRun(Value):
    """What the race detector said while tests ran. No report is good news only where there is no problem."""

    reports: tuple[str, ...] = ()
    problem: str = ""
    """Why the run says nothing about races."""
    seconds: float = 0.0


class Answer(Value):
    """What came of one call: a canonical text of the value, or the class of the error and its words."""

    kind: AnswerKind
    text: str = ""
    detail: str = ""

    @property
    def mark(self) -> str:
        """The part of it by which behaviours are compared: the words of an error are not behaviour."""
        return self.text if self.kind == "value" else f"<{self.kind} {self.text}>"


class Probing(Value):
    """The answers to a list of calls, in its order; `problem` says why there are none."""

    answers: tuple[Answer, ...] = ()
    problem: str = ""
    seconds: float = 0.0


class CommandRun(Value):
    """What came of one program beside the code. Only a status of 0 with no problem is good news."""

    status: int | None = None
    """The exit status; none where it was not begun, or did not end by itself."""
    out: str = ""
    err: str = ""
    missing: bool = False
    """There is no such program in the sandbox."""
    late: bool = False
    """It was ended because the time was over."""
    problem: str = ""
    """Why it did not run to its end."""
    seconds: float = 0.0


class PathStep(Value):
    """One station on the way of a value from outside to where it does harm."""

    file: str
    line: int
    what: str


class Vulnerability(Value):
    id: str
    category: Category
    severity: Severity
    description: str
    evidence: str
    exploit: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    fingerprint: str = ""
    source: Source = "scan"
    rule: str = ""
    cwe: int | None = None
    confidence: Unit | None = None
    fix: str = ""
    path: tuple[PathStep, ...] = ()
    """From where the value came in to where it does harm, as far as that is known."""


class EdgeCase(Value):
    id: str
    description: str
    input: str = ""
    expected: str = ""


class StressScenario(Value):
    id: str
    description: str
    load: str = ""
    expected_behavior: str = ""


class NotAnalysed(Value):
    file: str
    line: int
    why: str


class ScanBlindSpot(Value):
    """A place where the scan cannot see what runs."""

    file: str
    line: int
    what: str
    text: str
    """The place itself, on one line."""


class Scan(Value):
    """What the deterministic red team saw in one version of the code."""

    findings: tuple[Vulnerability, ...] = ()
    hints: tuple[Vulnerability, ...] = ()
    edge_cases: tuple[EdgeCase, ...] = ()
    stress_scenarios: tuple[StressScenario, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    public_names: dict[str, tuple[str, ...]] = {}
    """Per file, what other code may use: it must survive a patch."""
    blind: tuple[ScanBlindSpot, ...] = ()
    """Where the scan cannot see what runs: a patch may not add any."""


class Repair(Value):
    """What the deterministic blue team did: new texts, and which fingerprints each rewrite was for."""

    texts: dict[str, str] = {}
    fixed: dict[str, str] = {}
    """Fingerprint of a finding that was rewritten -> what was done."""
    left: dict[str, str] = {}
    """Fingerprint of a finding that was not -> what a person should do."""


class Usage(Value):
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    """None: the price is not known. Never 0 for a guess."""


class ModelCall(Value):
    """One question to one model, complete: nothing outside it reaches the provider."""

    seat: str
    phase: str
    round: int
    system: str
    prompt: str
    json_schema: dict[str, object] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    """None: the model's own, 0 unless it was opened with another."""


class Reply(Value):
    text: str
    model: str
    usage: Usage = Usage()
    finish: Finish = "unknown"


class Absent(Value):
    """No usable answer from a seat: a value, never an exception or a silent default."""

    seat: str
    why: AbsenceReason
    detail: str = ""


class Spend(Value):
    """Cost of one model so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0


class Limits(Value):
    """Limits of a session: calls, tokens, cost, timeouts, retries."""

    max_calls: int | None = Field(default=None, ge=0, description="model calls a session may make")
    max_tokens: int | None = Field(default=None, ge=0, description="tokens a session may use")
    max_usd: float | None = Field(default=None, ge=0, description="dollars a session may spend")
    call_timeout: float = Field(default=120.0, gt=0, description="seconds one call may take")
    retries: int = Field(default=3, ge=0, le=10, description="tries again after a 429, a 5xx or a lost connection")
    max_reply_bytes: int = Field(default=1_000_000, gt=0, description="a longer reply is not used")
    reply_tokens: int = Field(default=4096, gt=0, description="tokens one reply may have")
    prompt_tokens: int = Field(default=24_000, gt=0, description="about how much material a prompt may hold")
    tool_calls: int = Field(default=4, ge=0, le=50, description="tools a seat may use in one turn")
    tool_seconds: float = Field(default=60.0, gt=0, description="seconds one tool may take")
    tool_bytes: int = Field(default=8000, ge=200, description="bytes of a tool's result that a prompt may hold")
    run_with_secrets: bool = Field(
        default=False, description="run code with the real secrets, not masks; then no prompt holds what it prints"
    )


class Rules(Value):
    """Rules common to all protocols."""

    timeout: float = Field(default=300.0, gt=0, description="seconds the whole session may take")


class Result(Value):
    """Fields common to all results; the runner fills them in."""

    session_id: str = ""
    degraded: tuple[str, ...] = ()
    calls: int = 0
    """Those that were answered."""
    calls_failed: int = 0
    """Calls that a provider refused, failed or did not answer in time."""
    usage: dict[str, Spend] = {}
    duration: float = 0.0
    resumable: bool = False
    """Whether `moot resume` has something left to do: after a stop, a spent limit or a provider that failed."""
    branch: str = ""
    """The git branch that holds a commit for each version, where the session was given a repository."""
