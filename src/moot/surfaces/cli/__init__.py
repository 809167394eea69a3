"""The command line, one module per group of commands."""

from moot.surfaces.cli.app import run_app

__all__ = ["run_app"]
