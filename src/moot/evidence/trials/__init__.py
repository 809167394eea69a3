"""Trials: examples in a task, inputs derived from them, how solutions behave on them, where they differ."""
