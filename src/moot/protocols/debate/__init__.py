"""Debate: seats draft, test, attack, review and vote on a task, in eight phases."""
