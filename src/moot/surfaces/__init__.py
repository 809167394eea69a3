"""The surfaces: command line, HTTP server, page, MCP, editors, hooks, library, fleet, bench.

May import every room; nothing imports a surface. `session` and `history` hold what all surfaces share.
Read `session/wiring.py` first: it puts a session together.
"""
