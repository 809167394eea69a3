"""Review: an adversary challenges a planning document, a defender answers and revises it."""

from moot.core.protocol import Protocol
from moot.protocols.review.exit_code import exit_code
from moot.protocols.review.report import report_review
from moot.protocols.review.script import ReviewInput, ReviewResult, ReviewRules, estimate_review, review

PROTOCOL = Protocol(
    name="review",
    summary="Challenge a planning document and revise it.",
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
