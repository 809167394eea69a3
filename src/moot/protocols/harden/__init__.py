"""Harden: a red team attacks code, a blue team patches it, executed checks decide."""

from moot.core.protocol import Protocol
from moot.protocols.harden.exit_code import exit_code
from moot.protocols.harden.report import report_harden
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, estimate_harden, harden

PROTOCOL = Protocol(
    name="harden",
    summary="Attack code, patch it, and check every patch.",
    input=HardenInput,
    rules=HardenRules,
    result=HardenResult,
    run=harden,
    report=report_harden,
    exit_code=exit_code,
    estimate=estimate_harden,
    seats=("red", "blue"),
    points=("defense",),
)
