"""Solve: attempts at a task, each with what the earlier ones taught."""

from moot.core.protocol import Protocol
from moot.protocols.solve.exit_code import exit_code
from moot.protocols.solve.report import report_solve
from moot.protocols.solve.script import SolveInput, SolveResult, SolveRules, estimate_solve, solve

PROTOCOL = Protocol(
    name="solve",
    summary="Attempt a task until its tests pass.",
    input=SolveInput,
    rules=SolveRules,
    result=SolveResult,
    run=solve,
    report=report_solve,
    exit_code=exit_code,
    estimate=estimate_solve,
    seats=("coder", "reflector"),
    points=("attempt",),
    settled=frozenset({"solved"}),
)
