"""Moot over MCP: a tool per protocol, on stdio (`moot mcp`) and at /mcp of `moot serve`.

Uses the server's rights, sessions and gates. `handshake.py` answers a client before anything slow is imported. Read
`calls.py` first.
"""
