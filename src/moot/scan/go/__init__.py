"""Go: front end, rules and rewrites."""
