"""The git branch of a session, and its notes in the plan."""

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.git import top_of
from moot.edge.git.branches import GitBranches
from moot.edge.git.worktree import safe_parts
from moot.edge.settings import default_worktrees
from moot.runtime.runner import SessionPlan


def branch_notes(repo: str | None, files: Mapping[str, str | None], *, branch: bool) -> dict[str, JsonValue]:
    """The plan's notes about its branch. `files`: path in the session -> the file it was read from."""
    if not branch:
        if repo is not None:
            raise UsageError("--repo and --branch go together: give both")
        return {}
    folder = Path(os.path.abspath(repo or "."))
    if not folder.is_dir():
        raise UsageError(f"no such folder: {repo!r}")
    top = top_of(folder)
    places: dict[str, JsonValue] = {name: _place(name, origin, folder, top) for name, origin in files.items()}
    return {"repository": str(folder), "places": places}


def branches_of(plan: SessionPlan) -> GitBranches | None:
    """The repository of a plan; None if the session has no branch."""
    repository, places = plan.notes.get("repository"), plan.notes.get("places")
    if not isinstance(repository, str):
        return None
    known = {name: str(place) for name, place in places.items()} if isinstance(places, dict) else {}
    return GitBranches(Path(repository), default_worktrees(), known)


def branches_in(repo: str | None) -> GitBranches:
    return GitBranches(Path(os.path.abspath(repo or ".")), default_worktrees())


def _place(name: str, origin: str | None, folder: Path, top: Path) -> str:
    """The path of a file in the repository: where it was read from, else below the named folder."""
    real = Path(os.path.realpath(origin)) if origin else Path(os.path.realpath(folder)) / name
    root = Path(os.path.realpath(top))
    if not real.is_relative_to(root):
        real = Path(os.path.realpath(folder)) / name
    place = real.relative_to(root).as_posix() if real.is_relative_to(root) else name
    safe_parts(place)
    return place
