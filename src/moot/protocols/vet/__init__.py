"""Vet: an advocate and a critic on a risky action or a failing task; rules decide."""

from moot.core.protocol import Protocol
from moot.protocols.vet.exit_code import exit_code
from moot.protocols.vet.report import report_vet
from moot.protocols.vet.script import VetInput, VetResult, VetRules, estimate_vet, vet

PROTOCOL = Protocol(
    name="vet",
    summary="Debate a risky action before it runs, or a task that keeps failing.",
    input=VetInput,
    rules=VetRules,
    result=VetResult,
    run=vet,
    report=report_vet,
    exit_code=exit_code,
    estimate=estimate_vet,
    seats=("advocate", "critic", "judge"),
    points=("verdict",),
    settled=frozenset({"proceed", "modify", "retry", "pivot"}),
)
