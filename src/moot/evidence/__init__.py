"""Facts without opinions: tests run on candidates, races, lessons, checks of documents.

Imports `core`, `text` and `scan`.
Read `trials/behaviour.py` first: candidates that behave alike are one candidate.
"""
