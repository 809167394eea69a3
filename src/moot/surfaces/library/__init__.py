"""Moot from Python: one coroutine per protocol."""
