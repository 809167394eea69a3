"""Planning: task complexity, who plans, plans as objects, and how plans adapt after a phase."""

from moot.teams.planning.cognition import (  # fmt: skip
    EXPECTED,
    Comparison,
    Emphasis,
    Expectation,
    Observation,
    adapt_expectation,
    compare,
    emphases,
)
from moot.teams.planning.complexity import Complexity, PlanChoice, measure, style_for
from moot.teams.planning.negotiation import NegotiatedPlan, Stance, SubtaskOverlap, negotiate, overlaps
from moot.teams.planning.plans import (
    STYLES,
    JoinedResults,
    Style,
    Subtask,
    TaskPlan,
    in_order,
    join_results,
    problems,
    render_plan,
    waves,
)

__all__ = [
    "EXPECTED",
    "STYLES",
    "Comparison",
    "Complexity",
    "Emphasis",
    "Expectation",
    "JoinedResults",
    "NegotiatedPlan",
    "Observation",
    "PlanChoice",
    "Stance",
    "Style",
    "Subtask",
    "SubtaskOverlap",
    "TaskPlan",
    "adapt_expectation",
    "compare",
    "emphases",
    "in_order",
    "join_results",
    "measure",
    "negotiate",
    "overlaps",
    "problems",
    "render_plan",
    "style_for",
    "waves",
]  # fmt: skip
