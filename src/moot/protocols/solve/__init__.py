"""Solve: attempts at a task, each with what the earlier ones taught."""

from moot.core.protocol import Protocol
from moot.protocols.solve.exit_code import exit_code
from moot.protocols.solve.report import report_solve
from moot.protocols.solve.script import SolveInput, SolveResult, SolveRules, estimate_solve, solve

PROTOCOL = Protocol(
    name="solve",
    summary="Write code for a task, run its tests, reflect on failures, and try again.",
    exit_codes="0: solved; 1: some tests or project checks fail; 2: not tested, inconclusive or cut short",
    examples=(
        'moot solve "Write slug(title) for URLs" --tests test_slug.py -m openai:gpt-5',
        "moot solve - < task.md                      examples in the text, such as f(2) -> 4, are its tests",
        'moot solve "Fix it" --file slug.py --tests test_slug.py --out slug.py',
        'moot solve "Fix it" --file slug.py --tests tests/ --repo . --branch',
        'moot solve "Why does it fail?" --file slug.py --tests test_slug.py --no-llm',
    ),
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
