"""The words everyone speaks: values, events, errors, settings, and the contracts of room and ports.

Imports nothing else of Moot, and touches nothing outside.
Read `types.py` first, then `room.py`: everything a protocol may do.
"""
