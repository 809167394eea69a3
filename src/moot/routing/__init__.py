"""Router: classifies a shell command or a request by kind and stakes.

Imports nothing else of Moot, reads no file, and loads nothing slow: hooks call it before every command.
Read `answer.py` first, then `router.py`.
"""

from typing import TYPE_CHECKING

from moot.routing.answer import Kind, Route, Stakes, guards

if TYPE_CHECKING:
    from moot.routing.router import route

__all__ = ["Kind", "Route", "Stakes", "guards", "route"]


def __getattr__(name: str) -> object:
    """Load the vocabulary of requests lazily: a hook that judges a command does not need it."""
    if name == "route":
        from moot.routing.router import route

        return route
    raise AttributeError(f"module 'moot.routing' has no attribute {name!r}")
