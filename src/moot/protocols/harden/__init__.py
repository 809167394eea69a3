"""Harden: a red team attacks code, a blue team patches it, executed checks decide."""

from moot.core.protocol import Protocol
from moot.protocols.harden.exit_code import exit_code
from moot.protocols.harden.report import report_harden
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, estimate_harden, harden

PROTOCOL = Protocol(
    name="harden",
    summary="Attack code, patch it, and check every patch, until no attack succeeds.",
    exit_codes="0: hardened, no findings or risk accepted; 1: findings are left; 2: inconclusive or cut short",
    examples=(
        "moot harden app.py                          no model, no key: the deterministic teams",
        "moot harden src --tests tests --write       patches that keep the tests green, written back",
        "moot harden app.py -m openai:gpt-5 --max-usd 0.50",
        "moot harden --diff main                     only what this branch changes",
        "cat app.py | moot harden - --language python --json",
    ),
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
