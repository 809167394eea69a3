"""Vocabulary shared by every package: values, events, errors, settings, and the contracts of room and ports.

Imports nothing else of Moot and does no I/O.
Read `types.py` first, then `room.py`: everything a protocol may do.
"""
