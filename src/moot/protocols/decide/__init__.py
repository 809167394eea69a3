"""Decide: judges with fixed stances answer an open question, and are counted."""

from moot.core.protocol import Protocol
from moot.protocols.decide.exit_code import exit_code
from moot.protocols.decide.report import report_decide
from moot.protocols.decide.script import DecideInput, DecideResult, DecideRules, decide, estimate_decide

PROTOCOL = Protocol(
    name="decide",
    summary="Put a question to judges with fixed stances. They answer independently, then challenge each other.",
    exit_codes="0: recommended, or classed without a panel; 1: contested; 2: too few judges, or cut short",
    examples=(
        "moot decide questions.yaml -m openai:gpt-5",
        'moot decide --ask "Do we need offline mode in v1?" --option "A: full" --option "B: none" -m openai:gpt-5',
        "moot decide q.yaml --against openai:gpt-5 --against anthropic:claude-sonnet-4-6 --feature-dir specs/offline",
        "moot decide q.yaml --judges risk,value,effort,security --yaml",
    ),
    input=DecideInput,
    rules=DecideRules,
    result=DecideResult,
    run=decide,
    report=report_decide,
    exit_code=exit_code,
    estimate=estimate_decide,
    seats=("risk", "value", "effort"),
    points=("verdict",),
    settled=frozenset({"RECOMMENDED", "CONTESTED", "NO_PANEL"}),
)
