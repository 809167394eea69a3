"""What one run of a benchmark keeps: its plan (`run.json`) and a row for each task and arm (`rows.jsonl`)."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue, ValidationError

from moot.core.errors import UsageError
from moot.core.types import Limits, Unit, Value

PLAN_FILE, ROWS_FILE = "run.json", "rows.jsonl"
FORMAT = 2
"""Of both files. In the first one, debates spent what they liked."""
Equal = Literal["calls", "tokens", "usd", "none"]
Choice = Literal["result", "vote", "vote+examples"]


class BenchRow(Value):
    """What came of one task in one arm."""

    suite: str
    task: str
    arm: str
    session: str = ""
    """Empty where no session was needed, or none could be begun."""
    right: bool | None = None
    """None: unknown (skipped, or the judge failed); such a row counts neither way."""
    why: str = ""
    """What the judge saw, or why there is no verdict."""
    skipped: bool = False
    """Nothing was tried: what the task needs is not here."""
    prompt: str = ""
    """The task as the models were given it."""
    answer: str = ""
    """Code, patch, letter or position."""
    expected: str = ""
    """The key, where there is one that is not a test."""
    outcome: str = ""
    """Of the session, as in its result."""
    early: bool | None = None
    """Whether the session stopped at its gate. None: it has none."""
    grade: str = ""
    """On what the answer rests: `tested`, `agreed`, `opinion`; empty where the result does not say."""
    sure: Unit | None = None
    """The confidence that the result states."""
    baseline_right: bool | None = None
    """Whether the vote of the session's own first answers was right."""
    answers: int = 0
    """Independent answers that a vote drew; 0: it is no vote."""
    calls: int = 0
    calls_failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float | None = None
    """None: the price is not known."""
    seconds: float = 0.0
    findings: int | None = None
    """Of the scan in the answer; None where the answer is no code."""
    serious: int | None = None
    """Those of them that are critical or high."""
    mutation: Unit | None = None
    """Share of small faults in the answer that the hidden tests notice; None: not measured."""
    degraded: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def key(self) -> tuple[str, str]:
        return self.arm, self.task


class ArmPlan(Value):
    """One way to spend calls on a task: a protocol by its rules, or a number of independent answers."""

    name: str
    title: str = ""
    """What it is, in words."""
    protocol: str = "debate"
    """Empty: no session, only the scan."""
    rules: dict[str, JsonValue] = Field(default_factory=dict)
    choose: Choice = "result"
    """How the answer is taken from the session."""
    models: tuple[str, ...] = ()
    answers: int | None = None
    """Independent answers drawn for each task; None: as many as the reference arm's mean spending pays for."""
    base: str = ""
    """The arm from which this one differs in one part."""

    @property
    def group(self) -> str:
        """Arms of one group take their answers from the same session."""
        return "answers" if self.is_vote else self.name

    @property
    def is_vote(self) -> bool:
        return self.choose in ("vote", "vote+examples")


class RunPlan(Value):
    """What a run does, written before its first call. A resumed run does the rest of it."""

    format: int = FORMAT
    id: str
    """Names the sessions of this run in the store."""
    name: str
    suite: str
    folder: str = ""
    """Tasks of the user's own."""
    repos: str = ""
    examples: bool = True
    """Whether the tasks' words may hold examples."""
    tasks: tuple[str, ...]
    """In the order of the SHA-256 of their ids."""
    digest: str
    """SHA-256 of the tasks with their tests: a changed suite is another run."""
    arms: tuple[ArmPlan, ...]
    models: tuple[str, ...] = ()
    equal: Equal = "calls"
    reference: str = "adaptive"
    """The arm whose mean spending the others are given."""
    limits: Limits = Limits()
    """Of each session."""
    budget: float | None = None
    """Dollars for the whole run."""
    mutants: int = 0
    seed: int = 1
    versions: dict[str, str] = Field(default_factory=dict)
    """Of Moot and Python."""

    def is_matched(self, arm: ArmPlan) -> bool:
        """Whether it is given what the reference arm spends: a vote as answers, a debate with all phases, or with one
        part switched, as a cap."""
        if self.equal == "none" or arm.name == self.reference or arm.answers is not None:
            return False
        return arm.is_vote or (self.format > 1 and "debate" in (arm.name, arm.base))


def read_plan(folder: Path) -> RunPlan:
    path = folder / PLAN_FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not a benchmark run: it has no {PLAN_FILE}")
    try:
        return RunPlan.model_validate_json(path.read_text("utf-8"))
    except ValidationError as error:
        raise UsageError(f"{path} cannot be read: {error.errors(include_url=False)[0]['msg']}") from None


def write_plan(folder: Path, plan: RunPlan) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / f"{PLAN_FILE}.new"
    new.write_text(json.dumps(plan.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n", "utf-8")
    new.replace(folder / PLAN_FILE)


def read_rows(folder: Path) -> list[BenchRow]:
    """The rows so far, each once. A last line that was cut off by a crash does not count: its task is done again."""
    path = folder / ROWS_FILE
    whole = path.read_bytes().split(b"\n")[:-1] if path.is_file() else []
    try:
        rows = [BenchRow.model_validate_json(line) for line in whole if line.strip()]
    except ValidationError as error:
        raise UsageError(f"{path} cannot be read: {error.errors(include_url=False)[0]['msg']}") from None
    return list({row.key: row for row in rows}.values())


def append_rows(folder: Path, rows: Iterable[BenchRow]) -> None:
    """Whole lines only: what a crash left behind is cut off first."""
    path = folder / ROWS_FILE
    with path.open("ab+") as file:
        file.seek(0)
        kept = file.read()
        if kept and not kept.endswith(b"\n"):
            file.truncate(kept.rfind(b"\n") + 1)
        file.seek(0, 2)
        for row in rows:
            file.write(row.model_dump_json().encode() + b"\n")
