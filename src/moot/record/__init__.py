"""What is kept of a session and can be checked later: hash chain, audit, diff, archive, transcript, replay.

Imports `core`, `text` and `protocols`; only `replay.py` imports `runtime`, because it runs a session again.
Read `chain.py` first.
"""
