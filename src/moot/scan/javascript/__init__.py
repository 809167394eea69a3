"""JavaScript and TypeScript: front end, rules and rewrites."""
