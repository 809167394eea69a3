"""Solve: attempts at a task, each with what the earlier ones taught."""
