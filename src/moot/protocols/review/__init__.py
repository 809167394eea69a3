"""Review: an adversary challenges a planning document, a defender answers and revises it."""
