"""What is imported is declared: every third-party module of `src` comes with a dependency or an extra."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import moot

ROOT = Path(moot.__file__).parent
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
BROUGHT = {
    "anthropic": "pydantic-ai-slim", "openai": "pydantic-ai-slim", "pydantic_ai": "pydantic-ai-slim",
    "httpx": "pydantic-ai-slim", "opentelemetry": "opentelemetry-sdk",
    "xllamacpp": "xllamacpp", "pytest": "", "coverage": "", "moot": "",
}  # fmt: skip
"""Modules whose package is not simply installed here, or that an SDK brings along; empty: part of what is run."""


def find_imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def find_declared() -> set[str]:
    project = tomllib.loads(PROJECT.read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    return {re.split(r"[\[<>=;, ]", line, maxsplit=1)[0].lower().replace("_", "-") for line in lines}


def test_everything_that_is_imported_is_declared() -> None:
    # What the sandbox copies in runs beside the code under test, with that code's own packages.
    files = [path for path in ROOT.rglob("*.py") if not path.name.startswith("in_")]
    used = set().union(*(find_imports(path) for path in files))
    homes, declared = packages_distributions(), find_declared()
    missing = {
        name
        for name in used
        if (home := BROUGHT.get(name, next(iter(homes.get(name, [name]))).lower().replace("_", "-")))
        and home not in declared
    }
    assert {"httpx2", "pydantic", "sqlalchemy"} <= used and missing == set()


def test_every_extra_is_in_all_and_every_provider_has_one() -> None:
    from moot.edge.models.library import MODULES

    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    named = {name for line in extras["all"] for name in re.findall(r"[a-z-]+", line.partition("[")[2])}
    heavy = {"inspect"}  # forty packages for one bridge
    assert named == set(extras) - {"all"} - heavy and set(MODULES) <= set(extras)
