"""Who takes part in a session: roles, topology, planning, voting.

Imports `core`, `text` and `evidence`.
Read `roles/__init__.py` first, then `voting.py`.
"""
