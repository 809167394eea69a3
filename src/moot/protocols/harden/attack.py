"""The red team's turn: a model and the scan attack in parallel, and no finding gets lost."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from moot.core.findings import (
    HALF,
    add_fingerprints,
    by_gravity,
    drop_duplicates,
    in_question,
    locate,
    match_moved_findings,
    max_severity,
    overall_risk,
)
from moot.core.room import Ask, Room
from moot.core.types import Absent, Category, Code, EdgeCase, Scan, Severity, StressScenario, Unit, Value, Vulnerability
from moot.protocols.harden.prompts import prompt
from moot.protocols.harden.turn_reports import AttackReport, Briefing, DefenseReport, Version
from moot.text.excerpts import show
from moot.text.render import fence_text, material
from moot.text.replies import Aliases, Synonyms, Title, instructions

SAYINGS = Synonyms(
    (
        ("sql", "injection"), ("command", "injection"), ("deserial", "injection"), ("traversal", "injection"),
        ("buffer", "overflow"), ("memory", "overflow"), ("race", "race_condition"), ("concurren", "race_condition"),
        ("deadlock", "race_condition"), ("authenti", "auth"), ("authori", "auth"), ("access_control", "auth"),
        ("cross_site_scripting", "xss"), ("logic", "logic_error"), ("validation", "logic_error"),
        ("error_handling", "logic_error"),
    ),
    otherwise="other",
)  # fmt: skip
GRADES = Synonyms(
    (("severe", "critical"), ("major", "high"), ("moderate", "medium"), ("minor", "low"), ("info", "low"))
)


class Flaw(Value):
    """A finding as Red words it: the reasons first, then the choice."""

    description: Annotated[str, Title(), Aliases("title", "name", "issue", "vulnerability", "problem", "summary")] = (
        Field(min_length=1, description="what is wrong")
    )
    evidence: Annotated[str, Aliases("code", "code_evidence", "line", "snippet", "location")] = Field(
        min_length=1, description="the exact line of code, copied, without its number"
    )
    exploit: Annotated[str, Aliases("attack", "exploitation", "how", "impact")] = Field(
        default="", description="how it is exploited"
    )
    category: Annotated[Category, SAYINGS, Aliases("type", "class", "kind")]
    severity: Annotated[Severity, GRADES, Aliases("level", "risk", "rating")]


class Boundary(Value):
    description: Annotated[str, Title(), Aliases("case", "edge_case", "title", "name")] = Field(
        min_length=1, description="the case"
    )
    input: str = Field(default="", description="a short input, or what it is like")
    expected: Annotated[str, Aliases("expected_behavior", "expected_output", "expected_result")] = Field(
        default="", description="what should happen"
    )


class Load(Value):
    description: Annotated[str, Title(), Aliases("scenario", "title", "name")] = Field(
        min_length=1, description="the scenario"
    )
    load: str = Field(default="", description="how much of what")
    expected_behavior: Annotated[str, Aliases("expected")] = Field(default="", description="what should happen")


class RedReply(Value):
    vulnerabilities: Annotated[tuple[Flaw, ...], Aliases("flaws", "findings", "issues")] = Field(
        json_schema_extra={"maxItems": 8}
    )
    edge_cases: tuple[Boundary, ...] = Field(default=(), json_schema_extra={"maxItems": 4})
    stress_scenarios: Annotated[tuple[Load, ...], Aliases("stress_tests")] = Field(
        default=(), json_schema_extra={"maxItems": 2}
    )
    overall_risk: Unit | None = Field(default=None, description="from 0 to 1, how bad it is")


async def attack(
    version: Version,
    number: int,
    attacks: Sequence[AttackReport],
    defenses: Sequence[DefenseReport],
    room: Room,
    briefing: Briefing,
) -> AttackReport:
    code, scan = version.code, version.scan
    said = await ask_red(code, number, defenses, room, briefing)
    reply = said if isinstance(said, RedReply) else None
    spotted = [] if reply is None else locate_findings(reply, code)
    current = merge_findings(
        [f for f in scan.findings if in_question(f, code)], [f for f in spotted if in_question(f, code)]
    )
    current += carry_over_findings(current, code, attacks, defenses, red_spoke=reply is not None)
    findings = number_findings(by_gravity(current), attacks)
    report = AttackReport(
        vulnerabilities=tuple(findings),
        hints=tuple(f for f in scan.hints if in_question(f, code)),
        edge_cases=edge_cases(reply, scan),
        stress_scenarios=stress_scenarios(reply, scan),
        overall_risk=overall_risk(findings, reply.overall_risk if reply else None),
        max_severity=max_severity(findings),
        round=number,
        not_analysed=scan.not_analysed,
        red="scan" if reply is None else "model",
        gap=gap(said, scan, room),
        rules=scan.rules,
        unknown_callers=scan.unknown_callers,
    )
    found = f"{len(findings)} {'finding' if len(findings) == 1 else 'findings'}"
    room.tell(f"round {number}: {found}, risk {report.overall_risk:.2f}")
    return report


async def ask_red(
    code: Code, number: int, defenses: Sequence[DefenseReport], room: Room, briefing: Briefing
) -> RedReply | Absent | None:
    if not room.has_model("red"):
        return None
    shown = show(material(code, room.allowance()), "red", room).join("\n\n")
    text = prompt(
        "attack",
        round=str(number),
        task=f"It was written for this task:\n\n{fence_text(briefing.task, 'text')}\n\n" if briefing.task else "",
        code=shown,
        history=render_for_red(defenses),
        form=instructions(RedReply),
    )
    tools, context = briefing.tools, briefing.context(code)
    return await room.ask(Ask("red", "attack", number, prompt("red"), text, RedReply, tools=tools, context=context))


def gap(said: RedReply | Absent | None, scan: Scan, room: Room) -> str:
    """Why this attack cannot prove the code clean."""
    if scan.not_analysed:
        first = scan.not_analysed[0]
        room.degrade(f"not analysed: {first.file}:{first.line}: {first.why}" + _more(len(scan.not_analysed) - 1))
    if isinstance(said, Absent):
        return "unreachable" if said.why in ("unreachable", "timeout") else "unreadable"
    return "not_analysed" if scan.not_analysed else ""


def locate_findings(reply: RedReply, code: Code) -> list[Vulnerability]:
    """Red's findings with the place of their evidence; a quote that is not in the code is kept at low confidence."""
    findings = []
    for flaw in reply.vulnerabilities:
        place = locate(code, flaw.evidence)
        only = code.files[0].path if len(code.files) == 1 else ""
        findings.append(
            Vulnerability(
                id="",
                category=flaw.category,
                severity=flaw.severity,
                description=flaw.description,
                evidence=place[0].text.splitlines()[place[1] - 1].strip() if place else flaw.evidence,
                exploit=flaw.exploit,
                file=place[0].path if place else only,
                line=place[1] if place else 0,
                source="model",
                confidence=0.6 if place else 0.3,
            )
        )
    unique = {finding.fingerprint: finding for finding in reversed(add_distinct_fingerprints(findings))}
    return list(reversed(unique.values()))


def add_distinct_fingerprints(findings: list[Vulnerability]) -> list[Vulnerability]:
    """Fingerprints without counting repeats: a flaw that a model names twice is found once."""
    return [add_fingerprints([finding])[0] for finding in findings]


def merge_findings(scanned: list[Vulnerability], spotted: list[Vulnerability]) -> list[Vulnerability]:
    """Merge by fingerprint; the scan's entry wins, because it can be checked again."""
    known = {finding.fingerprint for finding in scanned}
    return drop_duplicates(scanned) + [finding for finding in spotted if finding.fingerprint not in known]


def carry_over_findings(
    current: list[Vulnerability],
    code: Code,
    attacks: Sequence[AttackReport],
    defenses: Sequence[DefenseReport],
    *,
    red_spoke: bool,
) -> list[Vulnerability]:
    """Red's earlier findings that nobody refuted: a model that stops mentioning a flaw has not fixed it."""
    if not attacks:
        return []
    known = {finding.fingerprint for finding in current}
    repaired = {i for d in defenses if d.accepted for i in d.patched_vulnerabilities}
    claimed = {i for d in defenses if d.accepted for i in d.patches}
    kept = []
    for finding in attacks[-1].vulnerabilities:
        if finding.source != "model" or finding.fingerprint in known or finding.id in repaired:
            continue
        there = finding.line > 0 and locate(code, finding.evidence, finding.file) is not None
        refuted = red_spoke and (finding.id in claimed or finding.line == 0)
        if (there or finding.line == 0) and not refuted:
            kept.append(finding)
    return kept


def number_findings(findings: Sequence[Vulnerability], attacks: Sequence[AttackReport]) -> list[Vulnerability]:
    """Ids unique in the session; a flaw keeps its id across rounds, even on another line."""
    known = {f.fingerprint: f.id for report in attacks for f in report.vulnerabilities}
    last = attacks[-1].vulnerabilities if attacks else ()
    standing = {f.fingerprint for f in last}
    older = [f for report in attacks[:-1] for f in report.vulnerabilities if f.fingerprint not in standing]
    same = {f.fingerprint: f.fingerprint for f in findings if f.fingerprint in known}
    ids: dict[str, str] = {}
    # The last attack's findings first: two flaws must not share an id.
    for marks in (
        {mark: mark for mark in same if mark in standing},
        match_moved_findings(last, findings),
        same,
        match_moved_findings(older, findings, alike=HALF),
    ):
        for now, was in marks.items():
            if now not in ids and known[was] not in ids.values():
                ids[now] = known[was]
    count = len(set(known.values()))
    for finding in findings:
        if finding.fingerprint not in ids:
            count += 1
            ids[finding.fingerprint] = f"VULN-{count:03d}"
    return [finding.model_copy(update={"id": ids[finding.fingerprint]}) for finding in findings]


def edge_cases(reply: RedReply | None, scan: Scan) -> tuple[EdgeCase, ...]:
    own = [EdgeCase(id="", **case.model_dump()) for case in reply.edge_cases] if reply else []
    return tuple(c.model_copy(update={"id": f"EDGE-{n:03d}"}) for n, c in enumerate([*own, *scan.edge_cases], 1))


def stress_scenarios(reply: RedReply | None, scan: Scan) -> tuple[StressScenario, ...]:
    own = [StressScenario(id="", **load.model_dump()) for load in reply.stress_scenarios] if reply else []
    both = [*own, *scan.stress_scenarios]
    return tuple(s.model_copy(update={"id": f"STRESS-{n:03d}"}) for n, s in enumerate(both, 1))


def render_for_red(defenses: Sequence[DefenseReport]) -> str:
    lines = []
    for defense in defenses:
        for name, fix in defense.patches.items():
            lines.append(f"- round {defense.round}: {name} was patched: {fix}")
        if defense.rejected_because:
            lines.append(f"- round {defense.round}: a patch was rejected: {defense.rejected_because}")
    head = "The blue team has answered earlier attacks. Try to get round its patches:\n\n"
    return head + fence_text("\n".join(lines), "text") + "\n\n" if lines else ""


def _more(count: int) -> str:
    return f" (and {count} more)" if count else ""
