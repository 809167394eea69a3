"""The command line: one module a group of commands."""

from moot.surfaces.cli.app import app_for

__all__ = ["app_for"]
