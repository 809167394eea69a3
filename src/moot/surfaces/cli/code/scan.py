"""`moot scan`: the deterministic red team alone, for editors, CI and scripts."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.findings import SEVERITIES, by_gravity, in_question
from moot.core.types import Code, NotAnalysed, Severity, Vulnerability
from moot.edge.files.outputs import check_output, write_output
from moot.edge.files.skips import REASONS
from moot.edge.files.sources import Gathered, NothingChanged, read_code
from moot.edge.parallel_scan import scan_files
from moot.edge.parallel_scan.cache import Cache, default_folder
from moot.surfaces.cli.code.scan_output import show, show_progress
from moot.surfaces.cli.options import ForceFlag, JsonFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.text.sarif import sarif

NOTHING, FOUND, NOT_ANALYSED = 0, 1, 2
EXAMPLES = """Examples:

  moot scan src                               every finding, most serious first

  moot scan --diff main --min-severity high   what this branch adds

  moot scan . --sarif out.sarif --json > findings.json
"""


def register(app: typer.Typer) -> None:
    app.command("scan", epilog=EXAMPLES)(scan_command)


def scan_command(
    paths: Annotated[list[str] | None, typer.Argument(help="Files or folders; - is standard input.")] = None,
    diff: Annotated[str | None, typer.Option("--diff", help="Only what changed since this commit.")] = None,
    language: Annotated[str | None, typer.Option("--language", "-l", help="Language of the code.")] = None,
    min_severity: Annotated[str, typer.Option("--min-severity", help="critical, high, medium or low.")] = "low",
    min_confidence: Annotated[float, typer.Option("--min-confidence", min=0, max=1, help="From 0 to 1.")] = 0.0,
    sarif_file: Annotated[str | None, typer.Option("--sarif", help="Write the findings as SARIF 2.1.0.")] = None,
    baseline: Annotated[str | None, typer.Option("--baseline", help="Hide findings listed in this file.")] = None,
    write_baseline: Annotated[
        str | None, typer.Option("--write-baseline", help="Write all findings to this file.")
    ] = None,
    force: ForceFlag = False,
    rules: Annotated[bool, typer.Option("--rules", help="List every rule with its examples.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, help="Number of processes; default: one per core.")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Scan unchanged files again.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Find flaws in code, without a model and without a session.

    Exit code 0: nothing at or above the thresholds, or no code changed; 1: findings; 2: code that could not be
    analysed.
    """
    if rules:
        from moot.surfaces.cli.code.scan_rules import show_rules  # with every rule of every language

        return show_rules(json_output=json_output)
    check_output(sarif_file or write_baseline, force=force, flag="--sarif or --write-baseline")
    check_output(write_baseline, force=force and write_baseline is not None, flag="--write-baseline")
    wanted, known = severities_from(min_severity), read_baseline(baseline)
    try:
        gathered = read_code(paths or (["."] if diff else []), language, diff, sys.stdin.buffer.read, whole=True)
    except NothingChanged as nothing:  # a change of documents alone is no reason for a build to fail
        keep([], write_baseline, sarif_file, force=force)
        empty = Gathered(Code(files=()))
        return print_json(as_json([], (), empty)) if json_output else out().print(plain(str(nothing)))
    with show_progress(quiet=json_output) as tick:
        scan = scan_files(gathered.code.files, jobs, None if no_cache else Cache(default_folder()), tick)
    findings = [
        f
        for f in by_gravity(scan.findings)
        if f.severity in wanted
        and (f.confidence or 0.0) >= min_confidence
        and (diff is None or in_question(f, gathered.code))
        and f.fingerprint not in known
    ]
    gaps = (*gathered.left_out, *scan.not_analysed)
    keep(findings, write_baseline, sarif_file, force=force)
    if json_output:
        print_json(as_json(findings, gaps, gathered))
    else:
        show(findings, gaps, gathered)
    raise typer.Exit(NOT_ANALYSED if gaps else FOUND if findings else NOTHING)


def keep(findings: list[Vulnerability], baseline: str | None, sarif_file: str | None, *, force: bool) -> None:
    if baseline:
        listed: list[JsonValue] = [{"fingerprint": f.fingerprint, "rule": f.rule, "file": f.file} for f in findings]
        write_output(baseline, f"{json.dumps(listed, indent=2)}\n".encode(), force=force)
    if sarif_file:
        write_output(sarif_file, f"{json.dumps(sarif(findings), indent=2)}\n".encode(), force=force)


def severities_from(lowest: str) -> tuple[Severity, ...]:
    for place, severity in enumerate(SEVERITIES):
        if severity == lowest.lower():
            return SEVERITIES[: place + 1]
    raise UsageError(f"unknown severity {lowest!r}; known are {', '.join(SEVERITIES)}")


def read_baseline(baseline: str | None) -> frozenset[str]:
    """Fingerprints of known findings, which do not fail a run."""
    if baseline is None:
        return frozenset()
    try:
        entries = json.loads(Path(baseline).read_text(encoding="utf-8"))
        return frozenset(str(entry["fingerprint"]) for entry in entries)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {baseline!r}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"{baseline!r} is not a baseline; write one with --write-baseline") from None


def as_json(findings: list[Vulnerability], gaps: tuple[NotAnalysed, ...], gathered: Gathered) -> dict[str, JsonValue]:
    entries: list[JsonValue] = [
        {
            "rule": f.rule,
            "cwe": f.cwe,
            "category": f.category,
            "severity": f.severity,
            "confidence": f.confidence,
            "certainty": f.certainty,
            "file": f.file,
            "line": f.line,
            "column": f.column,
            "message": f.description,
            "fingerprint": f.fingerprint,
            "path": [step.model_dump() for step in f.path],
        }
        for f in findings
    ]
    return {
        "findings": entries,
        "not_analysed": [gap.model_dump() for gap in gaps],
        "files": len(gathered.code.files),
        "skipped": {str(reason): gathered.skipped.get(reason, 0) for reason in REASONS},
    }
