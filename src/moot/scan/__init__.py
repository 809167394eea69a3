"""The scanner: finds flaws in code by dataflow and rewrites those that have a safe fix. Needs no model.

Imports `core` and `text`. `engine` follows data; `python`, `javascript` and `go` hold front end, rules and rewrites.
Read `team.py` first, then `engine/engine.py`.
"""

from moot.scan.team import StaticTeam

__all__ = ["StaticTeam"]
