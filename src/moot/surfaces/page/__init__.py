"""The web page of `moot serve`: start, watch, decide and compare sessions.

Pages are rendered here; changes go through the API of `surfaces/server`, as from any other client. Read `routes.py`
first, then `fragments.py`: a journal entry as the HTML that every viewer gets.
"""
