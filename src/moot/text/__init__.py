"""Text in and out: replies parsed, prompts rendered, secrets masked, SARIF and markdown written.

Imports `core`.
Read `replies/__init__.py` first: the one parser of model replies.
"""
