"""Findings as SARIF 2.1.0, for code-scanning pages."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import JsonValue

from moot import __version__
from moot.core.errors import UsageError
from moot.core.types import Severity, Value, Vulnerability

LEVELS: dict[Severity, str] = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
SCORES: dict[Severity, str] = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}
PRECISIONS = ((0.9, "very-high"), (0.7, "high"), (0.4, "medium"), (0.0, "low"))
"""Least confidence -> what code-scanning pages call it."""


def sarif(
    findings: Sequence[Vulnerability], fixed: frozenset[str] = frozenset(), outcome: str = ""
) -> dict[str, JsonValue]:
    """`fixed` holds the ids that the proposed patch repairs; `outcome` is the session's word for its end."""
    rules = {rule_id(finding): finding for finding in sorted(findings, key=lambda f: f.confidence or 0.0)}
    driver: JsonValue = {
        "name": "Moot",
        "version": __version__,
        "rules": [_rule(name, finding) for name, finding in sorted(rules.items())],
    }
    run: dict[str, JsonValue] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, sorted(rules), finding.id in fixed) for finding in findings],
    }
    if outcome:
        run["properties"] = {"outcome": outcome}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def rule_id(finding: Vulnerability) -> str:
    return finding.rule or f"red-{finding.category.replace('_', '-')}"


def _rule(name: str, finding: Vulnerability) -> JsonValue:
    tags: list[JsonValue] = ["security", finding.category]
    if finding.cwe:
        tags.append(f"external/cwe/cwe-{finding.cwe:03d}")
    return {
        "id": name,
        "shortDescription": {"text": name.replace("-", " ")},
        "help": {"text": finding.fix or finding.description},
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
        "properties": {
            "tags": tags,
            "security-severity": SCORES[finding.severity],
            "precision": next(word for least, word in PRECISIONS if (finding.confidence or 0.0) >= least),
        },
    }


def _result(finding: Vulnerability, rules: list[str], fixed: bool) -> JsonValue:
    name = rule_id(finding)
    region: dict[str, JsonValue] = {"startLine": max(finding.line, 1)}
    if finding.column:
        region["startColumn"] = finding.column
    if finding.evidence:
        region["snippet"] = {"text": finding.evidence}
    place: JsonValue = {"artifactLocation": {"uri": finding.file or "unknown"}, "region": region}
    flow: dict[str, JsonValue] = {"codeFlows": [_flow(finding)]} if finding.path else {}
    return {
        **flow,
        "ruleId": name,
        "ruleIndex": rules.index(name),
        "level": LEVELS[finding.severity],
        "message": {"text": finding.description + (f" Exploit: {finding.exploit}" if finding.exploit else "")},
        "locations": [{"physicalLocation": place}],
        # Code-scanning pages match alerts across commits by the second one alone.
        "partialFingerprints": {"moot/v1": finding.fingerprint, "primaryLocationLineHash": f"{finding.fingerprint}:1"},
        "properties": {
            "id": finding.id,
            "source": finding.source,
            "severity": finding.severity,
            "fix": finding.fix,
            "status": "patch proposed" if fixed else "open",
        },
    }


def _flow(finding: Vulnerability) -> JsonValue:
    stations: list[JsonValue] = [
        {
            "location": {
                "physicalLocation": {
                    "artifactLocation": {"uri": step.file},
                    "region": {"startLine": max(step.line, 1)},
                },
                "message": {"text": step.what},
            }
        }
        for step in finding.path
    ]
    return {"threadFlows": [{"locations": stations}]}


class LineRemark(Value):
    """A finding as a comment on a line needs it."""

    file: str
    line: int
    severity: Severity
    rule: str
    text: str
    fix: str = ""
    fingerprint: str


def read_remarks(text: str, shown: str) -> list[LineRemark]:
    """The findings of a SARIF file that Moot wrote, most serious first."""
    try:
        results = [result for run in json.loads(text)["runs"] for result in run["results"]]
        found = [_read_remark(result) for result in results]
    except (ValueError, KeyError, TypeError, IndexError):
        raise UsageError(f"{shown} is not a SARIF file of Moot's; write one with --sarif") from None
    return sorted(found, key=lambda remark: list(LEVELS).index(remark.severity))


def _read_remark(result: dict[str, Any]) -> LineRemark:
    place = result["locations"][0]["physicalLocation"]
    return LineRemark(
        file=place["artifactLocation"]["uri"],
        line=place["region"]["startLine"],
        severity=result["properties"]["severity"],
        rule=result["ruleId"],
        text=result["message"]["text"],
        fix=result["properties"]["fix"],
        fingerprint=result["partialFingerprints"]["moot/v1"],
    )
