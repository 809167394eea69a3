"""What runs a session: the runner, the room that protocols act in, the journal, the budget, the model calls.

Imports all packages but `edge` and `surfaces`; all I/O goes through the ports of `core`.
Read `runner.py` first, then `room.py`.
"""
