"""Harden: red team attacks, blue team patches, executed checks decide, until the code holds or the rounds are used
up."""

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from moot.core.ci import Checks
from moot.core.errors import CutKind, SessionStopped
from moot.core.findings import where
from moot.core.protocol import Option, QuestionRange
from moot.core.room import Room
from moot.core.types import Code, Names, NotAnalysed, Result, Rules, SuiteRun, Tests, Unit, Value, Vulnerability
from moot.protocols.harden.attack import attack
from moot.protocols.harden.defend import apply_rewrites, count_tests, defend
from moot.protocols.harden.race_baseline import BaselineRun, scan_given_code
from moot.protocols.harden.turn_reports import AttackReport, Briefing, DefenseReport, Risks
from moot.text.excerpts import name_some
from moot.text.render import join_files, render_diff

Outcome = Literal[
    "hardened",
    "no_findings",
    "risk_accepted",
    "unresolved",
    "inconclusive",
    "timed_out",
    "budget_exhausted",
    "cancelled",
    "rejected",
]
RECORDED = {"timeout", "max_rounds", "min_vulnerabilities", "risk_threshold"}
StopReason = Literal["hardened", "no_findings", "risk_accepted", "max_rounds"] | CutKind


class HardenRules(Rules):
    max_rounds: Annotated[int, Option(help="Rounds of attack and defence.")] = Field(
        default=3, ge=1, le=20, description="rounds of attack and defence"
    )
    min_vulnerabilities: Annotated[int, Option(help="Stop when an attack finds fewer new flaws than this.")] = Field(
        default=1, ge=0, description="fewer new findings than this end the attack"
    )
    risk_threshold: Annotated[Unit, Option(help="Stop when the overall risk is below this.")] = Field(
        default=0.2, description="stop when the overall risk is below this"
    )
    tools: Annotated[Names, Option(help="Tools that Red and Blue may use, e.g. run_tests; see `moot tools`.")] = Field(
        default=(), description="tools that Red and Blue may use before they answer, by name; none: they may use none"
    )
    edition: Literal[1, 2] = Field(
        default=2, description="version of the protocol; sessions recorded by an earlier version keep theirs"
    )

    @model_validator(mode="before")
    @classmethod
    def keep_edition(cls, given: object) -> object:
        """Rules recorded by an earlier version keep its edition. Recorded rules are complete; a user's are not."""
        if isinstance(given, dict) and given.keys() >= RECORDED and "edition" not in given:
            return {"edition": 1, **given}
        return given


class HardenInput(Value):
    code: Annotated[Code, Option(help="Files or folders; - is standard input.", metavar="PATHS")]
    tests: Annotated[Tests | None, Option(help="Tests that patches must not break; run in a sandbox.")] = None
    task: Annotated[str, Option(derived=True)] = ""
    """What the code is to do, in words, where somebody says so: Red reads it."""
    repository: Annotated[str, Option(derived=True)] = ""
    """The git repository that the code is in, if any: tools may look at it."""
    left_out: Annotated[tuple[NotAnalysed, ...], Option(derived=True)] = ()
    """Files that belong to the code but could not be read."""


class HardenResult(Result):
    outcome: Outcome
    stop_reason: StopReason
    rounds: int
    final_code: str
    final_files: dict[str, str]
    attack_reports: tuple[AttackReport, ...]
    defense_reports: tuple[DefenseReport, ...]
    all_resolved: bool
    remaining_risks: Risks
    not_analysed: tuple[NotAnalysed, ...] = ()
    tests: SuiteRun | None = None
    """The given tests before any change."""
    tests_after: SuiteRun | None = None
    """The given tests on the final code; None if not run."""
    calls_full_run: int = 0
    diff: str = ""
    checks: Checks | None = None
    """CI hooks at post_adversarial on the final code; None if not configured."""

    @model_validator(mode="before")
    @classmethod
    def _read_older_words(cls, given: object) -> object:
        """Earlier versions recorded `hardened` also where a scan alone found nothing, and where findings were left."""
        if not isinstance(given, dict) or given.get("outcome") != "hardened" or not given.get("attack_reports"):
            return given
        word = name_quiet_stop([AttackReport.model_validate(report) for report in given["attack_reports"]])
        return given if word == "hardened" else {**given, "outcome": word, "stop_reason": word}


async def harden(given: HardenInput, rules: HardenRules, room: Room) -> HardenResult:
    result = await attack_and_patch(given, rules, room)
    if result.stop_reason in get_args(CutKind):
        return result
    try:
        checks = await check_final(given, result, room)
    except SessionStopped as cut:
        room.degrade(f"the checks of the project did not run to their end: {cut}")
        return result
    return result.model_copy(update={"checks": checks})


async def check_final(given: HardenInput, result: HardenResult, room: Room) -> Checks | None:
    """Run the project's checks on the final code; an inconclusive check is not a pass."""
    checks = await room.check("post_adversarial", given.code.with_texts(result.final_files), given.tests)
    for each in checks.unclear:
        room.degrade(f"{each.action} says nothing: {each.summary}")
    return checks if checks.feedback else None


async def attack_and_patch(given: HardenInput, rules: HardenRules, room: Room) -> HardenResult:
    code, attacks, defenses = given.code, list[AttackReport](), list[DefenseReport]()
    baseline = BaselineRun(given.tests)
    briefing = Briefing(given.task, rules.tools, given.tests, given.repository, rules.edition)
    stopped: StopReason = "max_rounds"
    for spot in given.left_out:
        room.degrade(f"not looked at: {spot.why}")
    try:
        if given.tests:
            baseline = BaselineRun(given.tests, await room.execute(code, given.tests))
            note_weak_tests(baseline, room)
        await room.snapshot(code, "as given", count_tests(baseline.run))
        version, baseline = await scan_given_code(code, baseline, room)
        for number in range(1, rules.max_rounds + 2):  # the last one is the closing attack
            attacks.append(await attack(version, number, attacks, defenses, room, briefing))
            reason = reason_to_stop(attacks, rules)
            if reason and may_rewrite_first(reason, attacks, rules):
                defense, version = await apply_rewrites(version, attacks[-1], baseline, room)
                defenses.append(defense)
                code = version.code
                if defense.accepted:
                    continue
            if reason:
                stopped = reason
                break
            if number <= rules.max_rounds:
                defense, version = await defend(version, attacks[-1], defenses, baseline, room, briefing)
                defenses.append(defense)
                code = version.code
                summary = f"round {number}: {len(defense.patched_vulnerabilities)} flaws patched"
                await room.gate("defense", summary, {"diff": render_diff(given.code, code)})
    except SessionStopped as cut:
        stopped = cut.kind
        room.degrade(f"{cut.kind.replace('_', ' ')}: {cut}")
    # Tests were given and none could run: the patches may have broken anything.
    untested = bool(baseline.why_not_run) and code != given.code
    outcome = outcome_of(stopped, attacks, complete=not given.left_out and not untested)
    return HardenResult(
        outcome=outcome,
        stop_reason=stopped,
        rounds=min(len(attacks), rules.max_rounds),
        final_code=join_files(code),
        final_files={file.path: file.text for file in code.files},
        attack_reports=tuple(attacks),
        defense_reports=tuple(defenses),
        all_resolved=outcome == "hardened" and not attacks[-1].vulnerabilities,
        remaining_risks=list_remaining_risks(attacks, defenses),
        not_analysed=(*given.left_out, *(attacks[-1].not_analysed if attacks else ())),
        tests=baseline.run,
        tests_after=tests_after(baseline, defenses),
        calls_full_run=full_run(rules, room.has_model),
        diff=render_diff(given.code, code),
    )


def reason_to_stop(attacks: Sequence[AttackReport], rules: HardenRules) -> StopReason | None:
    latest = attacks[-1]
    seen = {f.id for report in attacks[:-1] for f in report.vulnerabilities}
    new = [f for f in latest.vulnerabilities if f.id not in seen]
    standing = [f for f in latest.vulnerabilities if f.id in seen]
    if len(new) < rules.min_vulnerabilities and not standing:
        return name_quiet_stop(attacks)
    if latest.overall_risk < rules.risk_threshold:
        return "risk_accepted"
    return None


def may_rewrite_first(reason: StopReason, attacks: Sequence[AttackReport], rules: HardenRules) -> bool:
    """A risk that could be accepted is still repaired where a rewrite does it: that asks nobody."""
    again = {f.id for report in attacks[:-1] for f in report.vulnerabilities}
    new = [f for f in attacks[-1].vulnerabilities if f.source == "scan" and f.id not in again]
    return rules.edition > 1 and reason == "risk_accepted" and bool(new) and attacks[-1].round <= rules.max_rounds


def name_quiet_stop(attacks: Sequence[AttackReport]) -> Literal["hardened", "no_findings", "risk_accepted"]:
    """The word for an end without enough new findings: what nobody attacked did not hold, and what is left is left."""
    if attacks[-1].vulnerabilities:
        return "risk_accepted"
    attacked = any(report.vulnerabilities or report.red == "model" for report in attacks)
    return "hardened" if attacked else "no_findings"


def outcome_of(stopped: StopReason, attacks: Sequence[AttackReport], *, complete: bool = True) -> Outcome:
    """An attack with a gap proves nothing, whatever it did not find."""
    if stopped in ("timed_out", "budget_exhausted", "cancelled", "rejected"):
        return stopped
    latest = attacks[-1]
    if latest.gap and (latest.gap == "unreachable" or not latest.vulnerabilities):
        return "inconclusive"
    if stopped == "max_rounds" or latest.gap:
        return "unresolved"
    return stopped if complete else "inconclusive"


def list_remaining_risks(attacks: Sequence[AttackReport], defenses: Sequence[DefenseReport]) -> tuple[str, ...]:
    """Open findings with advice, then whatever else Blue left open."""
    left = defenses[-1].remaining_risks if defenses else ()
    known = {f.id for report in attacks for f in report.vulnerabilities}
    advice = {i: risk for risk in left for i in known if risk.startswith(f"{i}: ")}
    lines = []
    for f in list_open_findings(attacks, defenses):
        todo = advice.get(f.id, "").removeprefix(f"{f.id}: ") or f.fix
        if defenses and defenses[-1].blue == "scan" and not todo.startswith(f.fix):
            # Two flaws of one line may have changed places: the advice must be that of this one.
            todo = f.fix
        what = f"{f.id} ({f.severity}) {where(f)}: {f.description.rstrip('.')}"
        lines.append(f"{what}. To do: {todo}" if todo else what)
    lines += [risk for risk in left if risk not in advice.values()]
    return tuple(dict.fromkeys(lines))


def list_open_findings(attacks: Sequence[AttackReport], defenses: Sequence[DefenseReport]) -> list[Vulnerability]:
    """The last attack's findings, minus what was patched after it if the session was stopped."""
    if not attacks:
        return []
    patched = {i for d in defenses if d.round >= attacks[-1].round for i in d.patched_vulnerabilities}
    return [f for f in attacks[-1].vulnerabilities if f.id not in patched]


def estimate_harden(given: HardenInput, rules: HardenRules, seats: Collection[str]) -> QuestionRange:
    return QuestionRange(int("red" in seats), full_run(rules, seats.__contains__))


def full_run(rules: HardenRules, has_model: Callable[[str], bool]) -> int:
    """Calls in a run to the last round; the difference is what stopping early saves."""
    red, blue = has_model("red"), has_model("blue")
    return (rules.max_rounds + 1) * red + rules.max_rounds * blue


def tests_after(baseline: BaselineRun, defenses: Sequence[DefenseReport]) -> SuiteRun | None:
    """The test run of the last accepted patch; without one the code and its tests are unchanged."""
    accepted = [defense for defense in defenses if defense.accepted]
    return accepted[-1].tests if accepted else baseline.run


def note_weak_tests(baseline: BaselineRun, room: Room) -> None:
    run = baseline.run
    if why := baseline.why_not_run:
        room.degrade(f"not tested: the given tests cannot run ({why})")
    elif run and not run.passed:
        failing = [o.name for o in run.outcomes if o.status not in ("passed", "skipped")]
        room.degrade(f"given tests that fail before any change are not held against a patch: {name_some(failing)}")
