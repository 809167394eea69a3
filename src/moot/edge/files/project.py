"""Finds a project's folder without heavy imports."""

from pathlib import Path


def project_root(start: Path) -> Path:
    """The nearest folder upwards with a `moot.toml` or a repository; else `start` itself."""
    for folder in (start, *start.parents):
        if (folder / "moot.toml").is_file() or (folder / ".git").exists():
            return folder
    return start
