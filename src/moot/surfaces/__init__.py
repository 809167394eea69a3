"""The surfaces: command line, HTTP server, hooks, library, fleet. Each starts sessions and shows them.

May import every room; nothing imports a surface.
Read `hosting.py` first: how a session is put together.
"""
