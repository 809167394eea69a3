"""One way each to hold the same exchange."""
