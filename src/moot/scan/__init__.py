"""The scanner: finds flaws in code by dataflow and rewrites those that have a safe fix. Needs no model.

Imports `core` and `text`. `engine` follows data; `python`, `javascript` and `go` hold front end, rules and rewrites.
Read `team.py` first, then `engine/engine.py`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.scan.team import StaticTeam

__all__ = ["StaticTeam"]


def __getattr__(name: str) -> object:
    """Load the engine lazily: a scan whose results are all kept does not need it."""
    if name == "StaticTeam":
        from moot.scan.team import StaticTeam

        return StaticTeam
    raise AttributeError(f"module 'moot.scan' has no attribute {name!r}")
