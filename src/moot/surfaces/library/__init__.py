"""Moot from Python: one coroutine a protocol."""
