"""Debate: seats draft, test, attack, review and vote on a task, in eight phases."""

from moot.core.protocol import Protocol
from moot.protocols.debate.estimate import estimate_debate
from moot.protocols.debate.exit_code import exit_code
from moot.protocols.debate.report import report_debate
from moot.protocols.debate.script import debate
from moot.protocols.debate.types import PHASES, DebateInput, DebateResult, DebateRules

PROTOCOL = Protocol(
    name="debate",
    summary="Turn a task into a solution: independent drafts, tests, critique, review, improvement, a vote.",
    exit_codes="0: agreed or chosen; 1: contested, or the winner fails tests or has serious findings; 2: opinion only, "
    "inconclusive or cut short; 4: not tested by you, but agreed by evidence",
    examples=(
        'moot debate "Write slug(title) for URLs" --tests test_slug.py -m openai:gpt-5 -m anthropic:claude-sonnet-5',
        "moot debate - < task.md --out slug.py       examples in the text, such as f(2) -> 4, are its tests",
        'moot debate "Should we split the service?" --topic -m openai:gpt-5',
        'moot debate "Make it faster" --file slug.py --tests test_slug.py --adversarial --ask-me',
    ),
    input=DebateInput,
    rules=DebateRules,
    result=DebateResult,
    run=debate,
    report=report_debate,
    exit_code=exit_code,
    estimate=estimate_debate,
    deals_models=True,
    points=PHASES,
    settled=frozenset({"agreed", "chosen", "contested"}),
)
