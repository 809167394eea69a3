"""The environment of the user's project: found once and recorded, so that a resumed session uses the same."""

import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.sandbox.python.project import NO_PROJECT, ProjectEnvironment, find_project
from moot.runtime.runner import SessionPlan

NOTE = "project"


def project_at(paths: Iterable[str | Path | None], python: str | Path | None) -> ProjectEnvironment:
    """The environment of the project that contains these paths; without paths, only `python` counts."""
    places = [str(path) for path in paths if path and path != "-"]
    named = str(python) if python else None
    return find_project(places, named, os.environ) if places or named else NO_PROJECT


def project_note(paths: Iterable[str | Path | None], python: str | Path | None) -> dict[str, JsonValue]:
    return {NOTE: project_at(paths, python).model_dump(mode="json")}


def project_of(plan: SessionPlan) -> ProjectEnvironment:
    """As recorded. A lost environment is an error, because another could give other results."""
    project = ProjectEnvironment.model_validate(plan.notes.get(NOTE) or {})
    if project.python and not all(Path(folder).is_dir() for folder in project.python.folders.values()):
        raise UsageError(f"the environment of this session no longer exists: {project.python.program} ({project.how})")
    return project
