"""Shared values: frozen models and closed sets of words, without behaviour."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

Language = Literal["python", "javascript", "typescript", "go"]
SUFFIXES: dict[str, Language] = {
    ".py": "python", ".pyw": "python", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "javascript", ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
    ".go": "go",
}  # fmt: skip
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
    """The text before the change under review; only lines it does not contain are in scope."""


class Code(Value):
    """The files of a session, in display order."""

    files: tuple[SourceFile, ...]
    needs: tuple[str, ...] = ()
    """Packages that the project's own files (requirements, pyproject.toml, package.json, go.mod) require."""

    def file(self, path: str) -> SourceFile | None:
        return next((file for file in self.files if file.path == path), None)

    def with_texts(self, texts: dict[str, str]) -> "Code":
        """The same files with some texts replaced."""
        files = tuple(f.model_copy(update={"text": texts.get(f.path, f.text)}) for f in self.files)
        return self.model_copy(update={"files": files})


class Passage(Value):
    """Lines of a file, quoted with their place."""

    path: str
    first: int
    last: int
    text: str


class Passages(Value):
    """What a search in files found, in the order of the files."""

    found: tuple[Passage, ...] = ()
    problem: str = ""
    """Why nothing could be searched."""


class Tests(Value):
    """Test files given by the user, placed beside the code and run."""

    __test__ = False

    files: tuple[tuple[str, str], ...]
    language: Language = "python"
    entry: str = ""
    """The function that a Python `check(candidate)` tests, if the code does not make it obvious."""


class TestOutcome(Value):
    __test__ = False

    name: str
    status: TestStatus
    detail: str = ""
    seconds: float | None = None
    memory: int | None = None
    """Peak memory in bytes during this test, where measurable."""
    in_process: str = ""
    """Why the code ran in its test's process, where it can fake a pass; empty if it ran separately."""
    code_decides: bool = False
    """In process because the code's own comparison must decide, not because the test requires it."""


class SuiteRun(Value):
    """Result of a test run. A run without tests is not a pass."""

    outcomes: tuple[TestOutcome, ...] = ()
    problem: str = ""
    """Why the whole run is inconclusive: no test found, time limit, crash of the runner."""
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
        """Passes that the code could have faked because it ran in its test's process."""
        return tuple(o for o in self.outcomes if o.name in self.passed_names and o.in_process)

    @property
    def passed_apart(self) -> frozenset[str]:
        return self.passed_names - {outcome.name for outcome in self.passed_in_process}


class RaceRun(Value):
    """Race detector output of a test run. An empty report counts only if there is no problem."""

    reports: tuple[str, ...] = ()
    problem: str = ""
    seconds: float = 0.0


class Answer(Value):
    """Result of one call: the value as canonical text, or the class and message of the error."""

    kind: AnswerKind
    text: str = ""
    detail: str = ""

    @property
    def mark(self) -> str:
        """The part used to compare behaviours; error messages do not count."""
        return self.text if self.kind == "value" else f"<{self.kind} {self.text}>"


class Probing(Value):
    """The answers in the order of the calls; `problem` says why there are none."""

    answers: tuple[Answer, ...] = ()
    problem: str = ""
    seconds: float = 0.0


class CommandRun(Value):
    """Result of one program beside the code. Only status 0 without a problem is a success."""

    status: int | None = None
    """None if it did not start, or was killed."""
    out: str = ""
    err: str = ""
    missing: bool = False
    late: bool = False
    """It was killed at the time limit."""
    problem: str = ""
    seconds: float = 0.0


class PathStep(Value):
    """One step of a value's path from input to sink."""

    file: str
    line: int
    what: str


Certainty = Literal["", "possible"]


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
    """From source to sink, as far as known."""
    certainty: Certainty = ""
    """`possible`: it depends on what the code does not show, mostly on where a parameter of a function with unknown
    callers comes from."""


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
    """0: all of it, which could not even be read."""
    why: str

    @property
    def sentence(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return self.why if self.why.startswith(f"{place} ") else f"{place}: {self.why}"


class ScanBlindSpot(Value):
    file: str
    line: int
    what: str
    text: str
    """The code at this place, on one line."""


class Scan(Value):
    """Result of the deterministic red team for one version of the code."""

    findings: tuple[Vulnerability, ...] = ()
    hints: tuple[Vulnerability, ...] = ()
    edge_cases: tuple[EdgeCase, ...] = ()
    stress_scenarios: tuple[StressScenario, ...] = ()
    not_analysed: tuple[NotAnalysed, ...] = ()
    public_names: dict[str, tuple[str, ...]] = {}
    """File -> names that other code may use: a patch must keep them."""
    blind: tuple[ScanBlindSpot, ...] = ()
    """Places where the scan cannot see what runs; a patch may not add any."""
    rules: int = 0
    """Rules that were run, of all languages given; 0 if unknown."""
    unknown_callers: int = 0
    """Functions with parameters that nothing in the given files calls: where their values come from is unknown."""


class Repair(Value):
    """Result of the deterministic blue team: new texts, and the fingerprints each rewrite addressed."""

    texts: dict[str, str] = {}
    fixed: dict[str, str] = {}
    """Fingerprint of a rewritten finding -> what was done."""
    left: dict[str, str] = {}
    """Fingerprint of any other finding -> what a person should do."""


class Usage(Value):
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    """None if the price is unknown; never a guessed 0."""


class ModelCall(Value):
    """One complete question to one model: the provider sees nothing else."""

    seat: str
    phase: str
    round: int
    system: str
    prompt: str
    json_schema: dict[str, object] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    """None: the model's default, 0 unless it was opened with another."""


class Reply(Value):
    text: str
    model: str
    usage: Usage = Usage()
    finish: Finish = "unknown"


class HeardTurn(Value):
    """A turn of another seat that a prompt contains."""

    seat: str
    phase: str
    round: int
    through: str = ""
    """The seat that passed it on; empty: directly."""
    condensed: bool = False
    """Whether that seat's shorter text is shown instead of the turn."""
    tokens: int = 0
    """About how many the prompt holds of it."""


class Absent(Value):
    """No usable answer from a seat: a value, never an exception or a silent default."""

    seat: str
    why: AbsenceReason
    detail: str = ""


class Spend(Value):
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
    retries: int = Field(default=3, ge=0, le=10, description="retries after a 429, a 5xx or a lost connection")
    max_reply_bytes: int = Field(default=1_000_000, gt=0, description="longer replies are not used")
    reply_tokens: int = Field(default=4096, gt=0, description="tokens one reply may have")
    prompt_tokens: int = Field(default=24_000, gt=0, description="approximate limit of material in a prompt")
    tool_calls: int = Field(default=4, ge=0, le=50, description="tools a seat may use in one turn")
    tool_seconds: float = Field(default=60.0, gt=0, description="seconds one tool may take")
    tool_bytes: int = Field(default=8000, ge=200, description="bytes of a tool's result in a prompt")
    run_with_secrets: bool = Field(
        default=False, description="run code with the real secrets, not masks; its output is then left out of prompts"
    )


class Rules(Value):
    timeout: float = Field(default=300.0, gt=0, description="seconds the whole session may take")


class Result(Value):
    """Fields common to all results; the runner fills them in."""

    session_id: str = ""
    degraded: tuple[str, ...] = ()
    calls: int = 0
    """Answered calls."""
    calls_failed: int = 0
    """Calls that a provider refused, failed or did not answer in time."""
    usage: dict[str, Spend] = {}
    duration: float = 0.0
    resumable: bool = False
    """Whether `moot resume` can continue: after a stop, a spent limit or a failed provider."""
    branch: str = ""
    """The git branch with one commit for each version, if the session has a repository."""
