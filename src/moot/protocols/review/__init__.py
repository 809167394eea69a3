"""Review: an adversary challenges a planning document, a defender answers and revises it."""

from moot.core.protocol import Protocol
from moot.protocols.review.exit_code import exit_code
from moot.protocols.review.report import report_review
from moot.protocols.review.script import ReviewInput, ReviewResult, ReviewRules, estimate_review, review

PROTOCOL = Protocol(
    name="review",
    summary="Review planning documents or a change of code: an adversary challenges, a defender answers.",
    exit_codes="0: completed, findings are advice; 1: with --fail-on, something that serious is left; 2: inconclusive "
    "or cut short",
    examples=(
        "moot review .planning --no-llm              structural checks of a whole project, no model, no key",
        "moot review .planning/REQUIREMENTS.md -m openai:gpt-5",
        "moot review REQUIREMENTS.md ROADMAP.md -m openai:gpt-5",
        "moot review PLAN.md --defend off --fail-on critical",
        "moot review ROADMAP.md --profile quality --write",
        "moot review --diff main -m openai:gpt-5     opposed reviewers on what this branch changes",
        "moot review src --triage -m openai:gpt-5    a second look at what the scan finds",
    ),
    input=ReviewInput,
    rules=ReviewRules,
    result=ReviewResult,
    run=review,
    report=report_review,
    exit_code=exit_code,
    estimate=estimate_review,
    seats=("adversary", "defender"),
    points=("round",),
)
