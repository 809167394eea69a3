"""CI hooks: which checks run at which points of a session, and their results."""

from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from moot.core.types import Value, split_names

Point = Literal["post_proposal", "post_optimization", "post_adversarial", "post_convergence"]
Action = Literal["unit_tests", "linter", "static_analysis", "security_scan", "benchmarks"]
CheckStatus = Literal["passed", "failed", "error", "skipped", "timeout"]
Verdict = Literal["passed", "failed", "unclear", "nothing"]
POINTS: tuple[Point, ...] = get_args(Point)
ACTIONS: tuple[Action, ...] = get_args(Action)


class OwnCommand(Value):
    """Passes if it exits with status 0."""

    name: Annotated[str, Field(min_length=1, max_length=60)]
    point: Point
    command: Annotated[tuple[str, ...], Field(min_length=1)]


def _distinct(commands: tuple[OwnCommand, ...]) -> tuple[OwnCommand, ...]:
    seen = set[tuple[str, str]]()
    for each in commands:
        if each.name in ACTIONS or (each.point, each.name) in seen:
            raise ValueError(f"the name {each.name!r} is already used")
        seen.add((each.point, each.name))
    return commands


def _once(actions: tuple[Action, ...]) -> tuple[Action, ...]:
    return tuple(dict.fromkeys(actions))


Actions = Annotated[tuple[Action, ...], BeforeValidator(split_names), AfterValidator(_once)]
Commands = Annotated[tuple[OwnCommand, ...], AfterValidator(_distinct)]


class CiHooks(Value):
    actions: dict[Point, Actions] = Field(default_factory=dict)
    commands: Commands = ()
    benchmark_runs: int = Field(default=3, ge=1, le=50, description="runs of the tests for the `benchmarks` action")
    benchmark_seconds: float | None = Field(
        default=None, gt=0, description="a test whose median time is longer fails the `benchmarks` action"
    )

    def at(self, point: Point) -> bool:
        return bool(self.actions.get(point)) or any(each.point == point for each in self.commands)

    def needs_sandbox(self, point: Point) -> bool:
        """True unless every check there only reads the code, as a scan does."""
        wanted = set(self.actions.get(point, ())) - {"security_scan"}
        return bool(wanted) or any(each.point == point for each in self.commands)


class Remark(Value):
    text: str
    file: str = ""
    line: int = 0
    rule: str = ""
    """The rule or test it comes from."""

    @property
    def text_line(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""
        return place + (f"[{self.rule}] " if self.rule else "") + self.text


class Feedback(Value):
    """Result of one check. Only `passed` counts as success; a check that could not run is `skipped` or `error`."""

    point: Point
    action: str
    """One of the actions, or the name of the user's own command."""
    tool: str = ""
    status: CheckStatus
    summary: str
    findings: tuple[Remark, ...] = ()
    output: str = ""
    """Truncated."""
    seconds: float = 0.0


class Checks(Value):
    point: Point
    feedback: tuple[Feedback, ...] = ()

    @property
    def verdict(self) -> Verdict:
        statuses = {each.status for each in self.feedback}
        if not statuses:
            return "nothing"
        if statuses & {"failed", "timeout"}:
            return "failed"
        return "passed" if statuses == {"passed"} else "unclear"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(f"{each.action}: {each.status}: {each.summary}" for each in self.feedback)

    @property
    def unclear(self) -> tuple[Feedback, ...]:
        return tuple(each for each in self.feedback if each.status in ("skipped", "error"))
