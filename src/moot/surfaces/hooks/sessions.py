"""State of a coding client's session: whether the person waived debates for the current request."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from moot.edge.files.memory import data_folder


def _file(env: Mapping[str, str], session: str) -> Path:
    """In the user's folder, never in the project, where the agent could waive for itself."""
    return (
        data_folder(env)
        / "hook"
        / "sessions"
        / f"{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()[:16]}.json"
    )


def set_waived(env: Mapping[str, str], session: str, *, waived: bool) -> None:
    """`Just do it` applies only to the request in which it was said."""
    path = _file(env, session)
    if not waived and not path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}.new")
    beside.write_text(json.dumps({"waived": waived}), encoding="utf-8")
    beside.replace(path)


def is_waived(env: Mapping[str, str], session: str) -> bool:
    """Unreadable state waives nothing."""
    try:
        found = json.loads(_file(env, session).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("waived") is True and bool(session)
