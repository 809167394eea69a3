"""Findings with their dataflow path and what became of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from moot.core.findings import by_gravity, where
from moot.core.types import PathStep, Vulnerability
from moot.protocols.debate.types import DebateResult
from moot.protocols.harden.report import track_findings
from moot.protocols.harden.script import HardenInput, HardenResult
from moot.surfaces.page.panels.recorded import RecordedSession, split_files
from moot.text.controls import split_lines

Lines = Mapping[str, Sequence[str]]
"""Lines of the files with findings."""


@dataclass(frozen=True)
class PathStation:
    role: str
    """`source`, `step` or `sink`; a finding without a path has its `place` alone."""
    file: str
    line: int
    what: str
    code: str


@dataclass(frozen=True)
class ShownFinding:
    finding: Vulnerability
    place: str
    state: str
    seen: str
    """Where it was first reported: the round or candidate."""
    became: str
    """What the patch did, or what remains to do."""
    by_model: bool
    """Whether a model wrote that text."""
    stations: tuple[PathStation, ...]


def list_findings(session: RecordedSession) -> tuple[ShownFinding, ...] | None:
    """Gravest first."""
    if isinstance(session.result, HardenResult):
        shown = list(_list_hardened(session, session.result))
    elif isinstance(session.result, DebateResult):
        shown = list(_list_attacked(session.result))
    else:
        return None
    order = {id(finding): place for place, finding in enumerate(by_gravity(each.finding for each in shown))}
    return tuple(sorted(shown, key=lambda each: order[id(each.finding)])) or None


def _list_hardened(session: RecordedSession, result: HardenResult) -> Iterator[ShownFinding]:
    patches = {name: (said, d.blue == "model") for d in result.defense_reports for name, said in d.patches.items()}
    first = {f.id: report.round for report in reversed(result.attack_reports) for f in report.vulnerabilities}
    for tracked in track_findings(result):
        f, seen = tracked.finding, first[tracked.finding.id]
        advice = (f.fix, f.source == "model")
        became = patches.get(f.id, ("", False)) if tracked.state == "patched" else advice
        lines = _lines_in_round(session, result, seen)
        yield ShownFinding(f, where(f), tracked.state, f"round {seen}", *became, trace_path(f, lines))


def _lines_in_round(session: RecordedSession, result: HardenResult, number: int) -> Lines:
    """The code of a round: that after all accepted patches, each of which is a version."""
    accepted = sum(defense.accepted and defense.round < number for defense in result.defense_reports)
    versions = session.snapshot.versions
    if not isinstance(session.given, HardenInput) or accepted >= len(versions):
        return {}
    return split_files(versions[accepted].code, [file.path for file in session.given.code.files])


def _list_attacked(result: DebateResult) -> Iterator[ShownFinding]:
    """Remaining findings of the last attack on each candidate."""
    code = {candidate.id: candidate.code for candidate in result.candidates}
    for attack in {attack.candidate: attack for attack in result.attacks}.values():
        for f in attack.findings:
            lines = {f.file: split_lines(code.get(attack.candidate, ""))}
            advice, path = (f.fix, f.source == "model"), trace_path(f, lines)
            yield ShownFinding(f, where(f), "open", f"candidate {attack.candidate}", *advice, path)


def trace_path(finding: Vulnerability, lines: Lines) -> tuple[PathStation, ...]:
    path = finding.path or (PathStep(file=finding.file, line=finding.line, what=""),) * bool(finding.line)
    last = len(path) - 1
    roles = (
        ["place"] if not last else ["source" if not at else "sink" if at == last else "step" for at in range(last + 1)]
    )
    return tuple(
        PathStation(role, step.file, step.line, step.what, _line_at(lines, step) or finding.evidence * (at == last))
        for at, (role, step) in enumerate(zip(roles, path, strict=True))
    )


def _line_at(lines: Lines, step: PathStep) -> str:
    text = lines.get(step.file, ())
    return text[step.line - 1].strip() if 0 < step.line <= len(text) else ""
