"""The page of `moot serve`: sessions started, watched, decided and compared in a browser.

Pages are rendered here; what changes something goes through the API of `surfaces/server`, as from any other client.
Read `routes.py` first, then `fragments.py`: a journal entry as the piece of HTML that every viewer is sent.
"""
