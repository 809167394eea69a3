"""Applies a patch to texts, in a folder of its own: nothing of the user's is touched."""

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from moot.edge.git import GitError, run_bare

NAMES = re.compile(r"^(?:---|\+\+\+) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
NOWHERE = "/dev/null"


def list_patched(patch: str) -> list[str]:
    """The files that a patch changes, makes or deletes, in its order."""
    return list(dict.fromkeys(name for name in NAMES.findall(patch) if name != NOWHERE))


def apply_patch(texts: Mapping[str, str], patch: str) -> dict[str, str]:
    """All texts after the patch. `GitError` if it does not fit."""
    names = list_patched(patch)
    with tempfile.TemporaryDirectory(prefix="moot-patch-") as place:
        folder = Path(place)
        for name in names:
            if name in texts:
                _write(folder, name, texts[name])
        run_bare(folder, ["apply", "--whitespace=nowarn", "-"], patch.encode())
        changed = {name: _read(folder / name) for name in names}
    kept = {name: text for name, text in texts.items() if changed.get(name, text) is not None}
    return kept | {name: text for name, text in changed.items() if text is not None}


def _write(folder: Path, name: str, text: str) -> None:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise GitError(f"the patch names a file outside its folder: {name!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() and not path.is_symlink() else None
