"""Checks of code without a session: CI hooks, test runs, coverage, mutants, quality."""
