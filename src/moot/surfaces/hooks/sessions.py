"""What is known of one session of a coding tool: whether the person waived debates for the request at hand."""

import hashlib
import json
import os
from pathlib import Path

FOLDER = "coding-sessions"


def _file(memory: Path, session: str) -> Path:
    return memory / FOLDER / f"{hashlib.sha256(session.encode('utf-8', 'replace')).hexdigest()[:16]}.json"


def set_waived(memory: Path, session: str, *, waived: bool) -> None:
    """`Just do it` holds for the request it was said in, not for the rest of the day."""
    path = _file(memory, session)
    if not waived and not path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(f".{os.getpid()}.new")
    beside.write_text(json.dumps({"waived": waived}), encoding="utf-8")
    beside.replace(path)


def is_waived(memory: Path, session: str) -> bool:
    """A state that cannot be read waives nothing."""
    try:
        found = json.loads(_file(memory, session).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("waived") is True and bool(session)
