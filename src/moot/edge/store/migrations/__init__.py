"""How the tables came to be, one file a change; `tables.py` says what they are now."""
