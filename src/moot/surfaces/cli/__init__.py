"""The command line: one module a group of commands."""

from moot.surfaces.cli.app import app

__all__ = ["app"]
