"""Roles and teams as files: the shipped ones and the format of your own."""

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib.resources import files

import yaml
from pydantic import ValidationError

from moot.core.config import OWN_MODEL
from moot.core.errors import ConfigError
from moot.teams.roles.values import DOMAINS, NAME, TOOLS, Agent, Role, Team

FRONT = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)(.*)", re.DOTALL | re.MULTILINE)
KEYS = ("focus", "tools", "affinities")
MAX_PROMPT = 4_000
"""Characters: small models have four thousand tokens for everything."""
MAX_AGENTS = 50


@lru_cache(maxsize=1)
def load_shipped_roles() -> Mapping[str, Role]:
    entries = files("moot.teams.roles").iterdir()
    found = sorted((f.name, f.read_text(encoding="utf-8")) for f in entries if f.name.endswith(".md"))
    return {name.removesuffix(".md"): read_role(name.removesuffix(".md"), text, name) for name, text in found}


def read_role(name: str, text: str, place: str) -> Role:
    """A role file: fields between two lines of dashes, then the system prompt."""
    if not re.fullmatch(NAME, name):
        raise ConfigError(
            f"role file {place!r}: its name must consist of lowercase letters, digits, - and _, e.g. librarian.md"
        )
    parts = FRONT.fullmatch(text.replace("\r\n", "\n").lstrip("\ufeff"))
    if parts is None:
        raise ConfigError(f"role file {place!r} must begin with --- and focus, tools, affinities, ended by another ---")
    table, prompt = _table(parts[1], place), parts[2].strip()
    if not prompt:
        raise ConfigError(f"role file {place!r} has no system prompt below the second ---")
    if len(prompt) > MAX_PROMPT:
        raise ConfigError(f"role file {place!r}: its prompt has {len(prompt)} characters; at most {MAX_PROMPT} fit")
    try:
        return Role.model_validate({**table, "name": name, "prompt": prompt})
    except ValidationError as error:
        raise ConfigError(f"role file {place!r}: {_slip(error)}") from None


def _table(front: str, place: str) -> dict[str, object]:
    try:
        table = yaml.safe_load(front)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"role file {place!r}: the part between --- is not valid YAML: {error}") from None
    if not isinstance(table, dict):
        raise ConfigError(f"role file {place!r}: the part between --- must have focus, tools and affinities")
    if unknown := [key for key in table if key not in KEYS]:
        raise ConfigError(f"role file {place!r} has the unknown key {unknown[0]!r}; known are {', '.join(KEYS)}")
    if not str(table.get("focus") or "").strip():
        raise ConfigError(f"role file {place!r} lacks 'focus'")
    return {key: value for key, value in table.items() if value is not None}


def _slip(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place, said = first["loc"], first["input"]
    if place[0] == "tools" and len(place) > 1:
        return f"unknown tool {said!r}; known are {', '.join(TOOLS)}, and SERVER.TOOL of your MCP servers"
    if place[0] == "affinities" and place[-1] == "[key]":
        return f"unknown domain {said!r}; known are {', '.join(DOMAINS)}"
    return f"{'.'.join(str(part) for part in place)} cannot be used: {first['msg']}"


def read_team(text: str, place: str, roles: Collection[str]) -> Team:
    """A team from TOML: `[[agents]]` with role and model each, and an id if a role occurs twice."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"team file {place!r} is not valid TOML: {error}") from None
    entries = table.get("agents")
    if not isinstance(entries, list) or not entries or set(table) != {"agents"}:
        raise ConfigError(f"team file {place!r} must contain [[agents]] and nothing else, each with role and model")
    if len(entries) > MAX_AGENTS:
        raise ConfigError(f"team file {place!r} has {len(entries)} agents; at most {MAX_AGENTS} can sit in a debate")
    taken = Counter[str]()
    agents = [_agent(entry, f"team file {place!r}, agent {n}", roles, taken) for n, entry in enumerate(entries, 1)]
    if twice := [name for name, count in Counter(agent.id for agent in agents).items() if count > 1]:
        raise ConfigError(f"team file {place!r}: two agents have the id {twice[0]!r}")
    return Team(agents=tuple(agents))


def _agent(entry: object, where: str, roles: Collection[str], taken: Counter[str]) -> Agent:
    known = ("id", "role", "model")
    if not isinstance(entry, dict) or (unknown := [key for key in entry if key not in known]):
        problem = f"unknown key {unknown[0]!r}" if isinstance(entry, dict) else "it is not a table"
        raise ConfigError(f"{where}: {problem}; an agent has {', '.join(known)}")
    role, model = entry.get("role"), entry.get("model")
    if not isinstance(role, str) or role not in roles:
        raise ConfigError(f"{where}: unknown role {role!r}; known are {', '.join(roles)}")
    if not isinstance(model, str) or not (model.partition(":")[2].strip() or re.fullmatch(OWN_MODEL, model.strip())):
        raise ConfigError(
            f"{where}: model must be of the form provider:model, e.g. openai:gpt-5, or a [models.NAME], not {model!r}"
        )
    taken[role] += 1
    name = entry.get("id", number_role(role, taken[role]))
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ConfigError(f"{where}: the id {name!r} must consist of lowercase letters, digits, - and _")
    return Agent(id=name, role=role, model=model.strip())


def number_role(role: str, number: int) -> str:
    """`critic`, `critic-2`, …"""
    return role if number == 1 else f"{role}-{number}"
