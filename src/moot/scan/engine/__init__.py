"""Taint analysis: follows untrusted values from sources to sinks."""
