"""The scanner: findings in code, their way through it, and rewrites that repair them, without a model.

Imports `core` and `text`. `engine` follows data; `python`, `javascript` and `go` hold front end, rules and rewrites.
Read `team.py` first, then `engine/engine.py`.
"""

from moot.scan.team import StaticTeam

__all__ = ["StaticTeam"]
