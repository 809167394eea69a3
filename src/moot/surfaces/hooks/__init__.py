"""Hooks of coding clients: judge a call read from stdin and answer in the client's format."""
