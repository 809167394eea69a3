"""Debate: seats draft, test, attack, review and vote on a task, in eight phases."""

from moot.core.protocol import Protocol
from moot.protocols.debate.estimate import estimate_debate
from moot.protocols.debate.exit_code import exit_code
from moot.protocols.debate.report import report_debate
from moot.protocols.debate.script import debate
from moot.protocols.debate.types import PHASES, DebateInput, DebateResult, DebateRules

PROTOCOL = Protocol(
    name="debate",
    summary="Turn a task into a solution by a team that drafts, tests, argues and votes.",
    input=DebateInput,
    rules=DebateRules,
    result=DebateResult,
    run=debate,
    report=report_debate,
    exit_code=exit_code,
    estimate=estimate_debate,
    seats=(),
    points=PHASES,
    settled=frozenset({"agreed", "chosen", "contested"}),
)
