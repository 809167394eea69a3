"""Review: an adversary challenges a planning document, a defender answers and revises it."""

from moot.core.protocol import Protocol
from moot.protocols.review.report import report_review
from moot.protocols.review.script import ReviewInput, ReviewResult, ReviewRules, review

PROTOCOL = Protocol(
    name="review",
    summary="Challenge a planning document and revise it.",
    input=ReviewInput,
    rules=ReviewRules,
    result=ReviewResult,
    run=review,
    report=report_review,
    seats=("adversary", "defender"),
    points=("round",),
)
