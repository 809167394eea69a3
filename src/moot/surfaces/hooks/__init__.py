"""Hooks of coding tools: what they send on stdin is judged, and answered in their own format."""
