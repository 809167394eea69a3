"""Python: front end, rules and rewrites."""
