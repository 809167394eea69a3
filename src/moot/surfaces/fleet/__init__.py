"""Many machines: workers that take sessions from a queue, and what can be seen of them."""
