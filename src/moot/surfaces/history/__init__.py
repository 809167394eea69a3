"""Stored sessions, shared by all surfaces: documents, reports, gates, choices, forks, imports, result files."""
