"""Rules for JavaScript and TypeScript."""
