"""Detects the domain of a task from its words."""

import re
import tomllib
from collections import Counter
from functools import lru_cache
from importlib.resources import files

from moot.teams.roles.values import DOMAINS, Domain


@lru_cache(maxsize=1)
def patterns() -> dict[Domain, re.Pattern[str]]:
    table = tomllib.loads(files("moot.teams.roles").joinpath("domains.toml").read_text(encoding="utf-8"))
    return {
        domain: re.compile(rf"\b(?:{'|'.join(word.replace('*', '[a-z]*') for word in words)})\b")
        for name, words in table.items()
        if (domain := find_domain(name)) is not None
    }


def domain_of(task: str) -> Domain:
    """The domain with most keywords in the task. Ties go to the more specific one."""
    found = Counter({domain: len(words.findall(task.lower())) for domain, words in patterns().items()})
    domain, count = max(found.items(), key=lambda pair: pair[1])
    return domain if count else "general"


def find_domain(name: str) -> Domain | None:
    return next((domain for domain in DOMAINS if domain == name), None)
