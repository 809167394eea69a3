"""The deterministic red and blue team."""

from moot.scan.team import StaticTeam

__all__ = ["StaticTeam"]
