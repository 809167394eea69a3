"""Values of a team: domains, tools, roles, agents."""

from typing import Annotated, Literal, get_args

from pydantic import Field

from moot.core.types import Unit, Value

Domain = Literal["code", "security", "architecture", "debug", "optimization", "reasoning", "general"]
Tool = Literal[
    "run_code", "run_tests", "check_syntax", "check_types", "format_code", "lint_code", "scan_code", "search_files",
    "read_file", "lessons", "git_history", "git_blame", "diagnostics", "definition", "references",
]  # fmt: skip
ServerTool = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+\.[^\s,]+$")]
"""A tool of an MCP server, `SERVER.TOOL`."""
FREE: tuple[Tool, ...] = ("run_code", "run_tests", "check_syntax", "scan_code", "read_file", "search_files")
"""Tools that cost nothing and change nothing: a role that names one is offered it by default."""
DOMAINS: tuple[Domain, ...] = get_args(Domain)
TOOLS: tuple[Tool, ...] = get_args(Tool)
NAME = r"[a-z][a-z0-9_-]{0,39}"
STRANGE = 0.3
"""Affinity of a role to a domain that its file does not mention."""


class Role(Value):
    name: str
    focus: str = Field(min_length=1)
    tools: tuple[Tool | ServerTool, ...] = ()
    affinities: dict[Domain, Unit] = Field(default_factory=dict)
    prompt: str

    def affinity(self, domain: Domain) -> float:
        return self.affinities.get(domain, STRANGE)


class Agent(Value):
    """A role and the model that plays it."""

    id: Annotated[str, Field(pattern=f"^{NAME}$")]
    role: Annotated[str, Field(pattern=f"^{NAME}$")]
    model: str


class Team(Value):
    agents: tuple[Agent, ...] = Field(min_length=1)

    def of(self, *roles: str) -> tuple[Agent, ...]:
        """The agents with one of these roles, in the order of the roles."""
        return tuple(agent for role in roles for agent in self.agents if agent.role == role)

    @property
    def seats(self) -> dict[str, str]:
        return {agent.id: agent.role for agent in self.agents}
