"""Finds poetry's environment of a project without starting poetry, which runs what a project names."""

import base64
import hashlib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import platformdirs

LONGEST = 42


def poetry_folders(project: Path, env: Mapping[str, str]) -> list[Path]:
    """The environments of a project, newest Python first."""
    name = _name(project)
    if not name:
        return []
    key = base64.urlsafe_b64encode(hashlib.sha256(os.path.realpath(project).encode()).digest()).decode()[:8]
    word = re.sub(r'[ $`!*@"\\\r\n\t]', "_", name.lower())[:LONGEST]
    found = [f for f in _folder(env).glob("*") if re.fullmatch(re.escape(f"{word}-{key}") + r"-py\d+\.\d+", f.name)]
    return sorted(found, key=lambda f: [int(part) for part in f.name.rpartition("-py")[2].split(".")], reverse=True)


def _folder(env: Mapping[str, str]) -> Path:
    if said := env.get("POETRY_VIRTUALENVS_PATH"):
        return Path(said)
    kept = env.get("POETRY_CACHE_DIR") or platformdirs.user_cache_path("pypoetry")
    return Path(kept) / "virtualenvs"


def _name(project: Path) -> str:
    try:
        settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return ""
    poetry = settings.get("tool", {}).get("poetry") if isinstance(settings.get("tool"), dict) else None
    own = [table.get("name") for table in (poetry, settings.get("project")) if isinstance(table, dict)]
    return next((name for name in own if isinstance(name, str)), "")
