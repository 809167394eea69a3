"""Benchmarks on the user's own models: suites of tasks, arms at equal cost, a report.

Each task is a session, opened like any other by `surfaces/session/wiring.py`. Read `runner.py` first, then `rows.py`.
"""
