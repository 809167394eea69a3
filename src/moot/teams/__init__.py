"""Who takes part in a session: roles, who hears whom, who does what, how ballots are counted.

Imports `core`, `text` and `evidence`.
Read `roles/__init__.py` first, then `voting.py`.
"""
