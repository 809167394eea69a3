"""Tests as values: examples in a task, inputs made from them, what solutions do on them, where they differ."""
