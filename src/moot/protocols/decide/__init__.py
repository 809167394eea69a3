"""Decide: judges with fixed stances answer an open question, and are counted."""

from moot.core.protocol import Protocol
from moot.protocols.decide.exit_code import exit_code
from moot.protocols.decide.report import report_decide
from moot.protocols.decide.script import DecideInput, DecideResult, DecideRules, decide, estimate_decide

PROTOCOL = Protocol(
    name="decide",
    summary="Put an open question before judges with fixed stances.",
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
