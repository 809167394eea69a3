"""Language servers: protocol frames, a client, and tools."""
