"""The command line: one module a group of commands."""

from moot.surfaces.cli.app import run_app

__all__ = ["run_app"]
