"""Planning: how hard a task is, who plans it, plans as objects, and what is made of a phase that went otherwise."""

from moot.teams.planning.cognition import (  # fmt: skip
    EXPECTED,
    Comparison,
    Emphasis,
    Expectation,
    Happened,
    adapted,
    compare,
    emphases,
)
from moot.teams.planning.complexity import Choice, Complexity, measure, style_for
from moot.teams.planning.negotiation import Negotiated, Overlap, Stance, negotiate, overlaps
from moot.teams.planning.plans import (
    STYLES,
    Joined,
    Plan,
    Style,
    Subtask,
    in_order,
    joined,
    problems,
    shown,
    waves,
    whole,
)

__all__ = [
    "EXPECTED", "STYLES", "Choice", "Comparison", "Complexity", "Emphasis", "Expectation", "Happened", "Joined",
    "Negotiated", "Overlap", "Plan", "Stance", "Style", "Subtask", "adapted", "compare", "emphases", "in_order",
    "joined", "measure", "negotiate", "overlaps", "problems", "shown", "style_for", "waves", "whole",
]  # fmt: skip
