"""What runs a session: the runner, the room that protocols act in, the journal, the budget, the calls to models.

Imports all rooms but `edge` and `surfaces`; reaches the world only through the ports of `core`.
Read `runner.py` first, then `room.py`.
"""
