"""Language servers: the protocol's frames, a client, and the tools that rest on it."""
