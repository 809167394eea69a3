"""Rules for Go."""
