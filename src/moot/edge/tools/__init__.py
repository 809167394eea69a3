"""Tools for seats, through the room, and for people directly."""

from moot.edge.tools.tool import ToolPorts
from moot.edge.tools.toolbox import BUILT_IN, Tools

__all__ = ["BUILT_IN", "ToolPorts", "Tools"]
