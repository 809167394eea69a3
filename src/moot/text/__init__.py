"""Text in and out: replies read, prompts filled in, secrets masked, SARIF and markdown written.

Imports `core`.
Read `replies/__init__.py` first: the one reader of what models answer.
"""
