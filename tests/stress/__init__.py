"""Stress: Moot under load and under faults, with real processes, databases and connections.
`make stress` runs it; read `scenarios/__init__.py` first.

The provider of models is a process of its own that logs every request. `history.py` compares its log, the record, and
what clients saw, as Jepsen does.
"""
