"""The router: text or command in, class and stakes out. Pure, quick, and nothing slow is imported."""

from moot.routing.answer import Route
from moot.routing.request import request_route

__all__ = ["Route", "route"]


def route(text: str) -> Route:
    return request_route(text)
