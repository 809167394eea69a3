"""`moot scan --rules`: every rule, with code that it reports and code that it does not."""

from pydantic import JsonValue

from moot.scan.catalogue import Listed, catalogue
from moot.scan.rule import RuleExample
from moot.surfaces.cli.screen import out, plain, print_json


def show_rules(*, json_output: bool) -> None:
    entries = [(listed, example) for listed in catalogue() for example in listed.examples]
    if json_output:
        return print_json([_as_json(listed, example) for listed, example in entries])
    for listed, example in entries:
        out().print(plain(_as_text(listed, example)))


def _as_json(listed: Listed, example: RuleExample) -> JsonValue:
    rule = listed.rule
    return {
        "rule": rule.id,
        "language": listed.language,
        "category": rule.category,
        "cwe": rule.cwe,
        "severity": rule.severity,
        "confidence": rule.confidence,
        "description": rule.description,
        "exploit": rule.exploit,
        "fix": rule.fix,
        "reference": rule.reference,
        "fires": example.fires,
        "silent": example.silent,
    }


def _as_text(listed: Listed, example: RuleExample) -> str:
    rule = listed.rule
    return "\n".join(
        [
            f"{rule.id} ({listed.language}, {rule.category}, {rule.severity}, CWE-{rule.cwe})",
            f"  {rule.description}",
            f"  fix: {rule.fix}",
            f"  see: {rule.reference}",
            f"  fires on:\n{_indent(example.fires)}",
            f"  silent on:\n{_indent(example.silent)}\n",
        ]
    )


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.strip("\n").splitlines())
