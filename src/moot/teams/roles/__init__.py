"""Roles and teams: who takes part in a debate, and how teams are built."""

from moot.teams.roles.domains import domain_of, find_domain
from moot.teams.roles.duties import DUTIES, Duty, TaskTraits, reason_not_to_seat
from moot.teams.roles.plugin_roles import load_roles
from moot.teams.roles.records import domain_score, record_of, share_right
from moot.teams.roles.team_builder import Scored, as_team, best_team, positions
from moot.teams.roles.templates import load_shipped_roles, read_role, read_team
from moot.teams.roles.values import DOMAINS, TOOLS, Agent, Domain, Role, Team, Tool

__all__ = [
    "DOMAINS",
    "DUTIES",
    "TOOLS",
    "Agent",
    "Domain",
    "Duty",
    "Role",
    "Scored",
    "TaskTraits",
    "Team",
    "Tool",
    "as_team",
    "best_team",
    "domain_of",
    "domain_score",
    "find_domain",
    "load_roles",
    "load_shipped_roles",
    "positions",
    "read_role",
    "read_team",
    "reason_not_to_seat",
    "record_of",
    "share_right",
]  # fmt: skip
