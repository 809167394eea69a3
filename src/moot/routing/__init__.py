"""The router: text or command in, class and stakes out. Pure, quick, and nothing slow is imported."""

from moot.routing.answer import Kind, Route, Stakes
from moot.routing.request import starts_afresh, waives
from moot.routing.sorting import command_route, route

__all__ = ["Kind", "Route", "Stakes", "command_route", "route", "starts_afresh", "waives"]
