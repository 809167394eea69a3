"""Workers that take sessions from a queue, and their status."""
