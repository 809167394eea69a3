"""Moot for agents that speak MCP: a tool for each protocol, over stdio (`moot mcp`) and at /mcp of `moot serve`.

Stands on the server's site: who may do what, how sessions are begun, followed and decided is there. `front.py` answers
a client before anything slow is imported. Read `calls.py` first.
"""
