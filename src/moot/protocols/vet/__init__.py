"""Vet: an advocate and a critic on a risky action or a failing task; rules decide."""

from moot.core.protocol import Protocol
from moot.protocols.vet.exit_code import exit_code
from moot.protocols.vet.report import report_vet
from moot.protocols.vet.script import VetInput, VetResult, VetRules, estimate_vet, vet

PROTOCOL = Protocol(
    name="vet",
    summary="Challenge an action before it runs, or a task that keeps failing.",
    exit_codes="0: PROCEED; 1: MODIFY, RETRY or PIVOT; 2: ESCALATE, or inconclusive",
    examples=(
        'moot vet "drop the table sessions in production" -m openai:gpt-5',
        'moot vet "git push --force origin main" --rounds 3 --context notes.md',
        'moot vet --failure "fix the login test" --attempt "updated the import" --error "Cannot find module"',
        "echo 'DEBATE REQ:delete the cache ROUNDS:1 STAKES:medium' | moot vet --csp -",
        "moot vet stats                               what debates there were, and whether they helped",
    ),
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
