"""Tools that seats may use through the room, and people by themselves."""

from moot.edge.tools.tool import ToolPorts
from moot.edge.tools.toolbox import BUILT_IN, Tools

__all__ = ["BUILT_IN", "ToolPorts", "Tools"]
