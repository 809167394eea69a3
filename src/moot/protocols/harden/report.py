"""Report of a hardening."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from moot.core.findings import by_gravity, where
from moot.core.report import (
    Block,
    Bullets,
    Cell,
    Grid,
    Headline,
    Listing,
    Paragraph,
    Report,
    Tone,
    count_things,
    list_figures,
    list_items,
    make_row,
    order_caveats,
)
from moot.core.types import SuiteRun, Vulnerability
from moot.protocols.harden.race_baseline import why_not_run
from moot.protocols.harden.script import HardenResult

MOST_SHOWN = 3
MEANINGS = {
    "hardened": "the last attack found nothing new and no earlier finding is left",
    "no_findings": "the scan found nothing",
    "risk_accepted": "what is left is below the thresholds",
    "unresolved": "findings are left after the last round",
    "inconclusive": "it could not be shown that nothing is left or broken",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}
TONES: dict[str, Tone] = {"hardened": "good", "no_findings": "", "risk_accepted": "good", "unresolved": "bad"}
CUT_SHORT = ("timed_out", "budget_exhausted", "cancelled", "rejected")


@dataclass(frozen=True)
class TrackedFinding:
    finding: Vulnerability
    """As first seen."""
    state: str
    """`open`, `patched`, or `gone`: no longer found, but not patched."""
    latest: Vulnerability
    """As last seen: a patch may have moved its line."""


def track_findings(result: HardenResult) -> list[TrackedFinding]:
    """Every finding of the session once."""
    last = {f.id for f in result.attack_reports[-1].vulnerabilities} if result.attack_reports else set()
    patched = {i for d in result.defense_reports for i in d.patched_vulnerabilities}
    seen: dict[str, Vulnerability] = {}
    latest = {f.id: f for report in result.attack_reports for f in report.vulnerabilities}
    for report in result.attack_reports:
        for finding in report.vulnerabilities:
            seen.setdefault(finding.id, finding)
    cut = result.outcome in CUT_SHORT

    def state_of(name: str) -> str:
        if name in patched and (name not in last or cut):
            return "patched"
        return "open" if name in last else "gone"

    return [TrackedFinding(finding, state_of(name), latest[name]) for name, finding in seen.items()]


def report_harden(result: HardenResult) -> Report:
    tracked = track_findings(result)
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=_verdict(result),
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.outcome, "warning"),
        ),
        Paragraph(text=_summary(result, tracked)),
        *_findings(result, tracked),
        *_worst(tracked),
    ]
    if result.diff:
        blocks.append(Listing(language="diff", text=result.diff))
    title = "Remaining risks, at their lines after the patch" if result.diff else "Remaining risks"
    blocks += list_items(title, result.remaining_risks)
    blocks += list_items("Not analysed", [spot.sentence for spot in result.not_analysed])
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "round"))))


def _verdict(result: HardenResult) -> str:
    why = why_not_run(result.tests) if result.tests else ""
    untested = f"not tested: the given tests cannot run ({why}); " if why else ""
    full = count_things(result.calls_full_run, "question")
    calls = f"{count_things(result.calls, 'call')}; a full run asks {full}"
    teams = calls if result.calls_full_run else "deterministic teams"
    if result.outcome == "no_findings":
        return f"{untested}{result.outcome}: {MEANINGS[result.outcome]} ({_describe_reach(result)})"
    return f"{untested}{result.outcome}: {MEANINGS[result.outcome]} ({teams})"


def _describe_reach(result: HardenResult) -> str:
    """What "nothing found" rests on: the rules that were run, the functions judged without their callers."""
    last = result.attack_reports[-1]
    rules = f"{count_things(last.rules, 'rule')}, " if last.rules else ""
    unknown = f"{count_things(last.unknown_callers, 'function')} with unknown callers; " if last.rules else ""
    return f"{rules}{unknown}no model was asked"


def _summary(result: HardenResult, tracked: list[TrackedFinding]) -> str:
    """Findings patched and open, and test results before and after."""
    states = Counter(entry.state for entry in tracked)
    gone = f"{states['gone']} gone with other changes, " if states["gone"] else ""
    if not result.attack_reports:
        return f"no attack ended, so nothing is known of what is left; {_describe_tests(result)}"
    return f"{states['patched']} patched, {gone}{states['open']} left; {_describe_tests(result)}"


def _describe_tests(result: HardenResult) -> str:
    before, after = result.tests, result.tests_after
    if before is None:
        return "not tested: no tests were given"
    if why_not_run(before):
        return "not tested: the given tests cannot run"
    counted = f"tests {_count_passed(before)} before"
    if not any(defense.accepted for defense in result.defense_reports):
        return f"{counted}; nothing was patched"
    if after is None:
        return f"{counted}; the patches are not tested: no test passed before them"
    return f"{counted}, {_count_passed(after)} after"


def _count_passed(run: SuiteRun) -> str:
    return f"{len(run.passed_names)} of {len(run.outcomes)}"


def _findings(result: HardenResult, tracked: list[TrackedFinding]) -> Iterator[Block]:
    told = {(entry.latest.file, entry.latest.line) for entry in tracked}
    hints = result.attack_reports[-1].hints if result.attack_reports else ()
    hints = tuple(hint for hint in hints if (hint.file, hint.line) not in told)
    rows = [
        make_row(f.id, Cell(text=f.severity, tone=f.severity), where(f), f.description, entry.state)
        for entry in tracked
        for f in (entry.finding,)
    ]
    rows += [make_row("hint", hint.severity, where(hint), hint.description, "hint") for hint in hints]
    if rows:
        yield Grid(columns=("id", "severity", "where", "finding", "state"), rows=tuple(rows))


def _worst(tracked: list[TrackedFinding]) -> Iterator[Block]:
    """The exploits of the worst findings, and the path of the value; open ones first."""
    explained = [entry for entry in tracked if entry.finding.path or entry.finding.exploit]
    order = {f.id: place for place, f in enumerate(by_gravity(entry.finding for entry in explained))}
    gravest = sorted(explained, key=lambda entry: (entry.state != "open", order[entry.finding.id]))[:MOST_SHOWN]
    if gravest:
        yield Bullets(title="The worst findings", entries=tuple(map(_explain, gravest)))


def _explain(entry: TrackedFinding) -> str:
    f = entry.finding
    lines = [f"{f.id} ({f.severity}, {entry.state}) {where(f)}: {f.description}"]
    lines += [f"{step.file}:{step.line}: {step.what}" for step in f.path]
    return "\n".join((*lines, *([f"exploit: {f.exploit}"] if f.exploit else [])))
