"""Roles from installed packages (entry points `moot.roles`)."""

import re
from collections.abc import Mapping
from functools import cache

from moot.core.errors import ConfigError
from moot.core.plugins import list_plugins, load_plugin
from moot.teams.roles.templates import MAX_PROMPT, load_shipped_roles
from moot.teams.roles.values import NAME, Role

GROUP = "moot.roles"


@cache
def load_roles() -> Mapping[str, Role]:
    """The shipped roles, then those of installed packages. A duplicate name is refused."""
    roles = dict(load_shipped_roles())
    for point in list_plugins(GROUP):
        role = load_plugin(point, Role, "role")
        where = f"the role {point.name!r} ({point.value})"
        if role.name != point.name or not re.fullmatch(NAME, role.name):
            raise ConfigError(f"{where} calls itself {role.name!r}; both names must be the same, e.g. librarian")
        if role.name in roles:
            raise ConfigError(f"{where}: a role with that name already exists; uninstall its package or rename it")
        if not role.prompt.strip() or len(role.prompt) > MAX_PROMPT:
            raise ConfigError(f"{where}: its prompt must have 1 to {MAX_PROMPT} characters, not {len(role.prompt)}")
        roles[role.name] = role
    return roles
