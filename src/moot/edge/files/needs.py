"""Packages that a project requires, from requirement files beside the code or above it."""

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from moot.edge.files.links import lies_in

MOST_BYTES = 500_000
MARKS = (".git", "pyproject.toml", "setup.cfg", "package.json", "go.mod")
"""Files in a project's root folder."""
NAME = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
GO_REQUIRE = re.compile(r"^\s*(?:require\s+)?([\w.\-~]+\.[\w.\-]+/[\w.\-/~]+)\s+v\d", re.MULTILINE)


def read_needs(files: Iterable[str]) -> tuple[str, ...]:
    """Names only, without duplicates, for files by their real paths. Unreadable files are ignored."""
    is_root = cache(_has_mark)
    beside = dict.fromkeys(os.path.dirname(file) for file in files)  # thousands of files lie in the same folders
    folders = dict.fromkeys(folder for name in beside for folder in _list_folders(Path(name), is_root))
    return tuple(dict.fromkeys(name for folder in folders for name in _read_requirements(folder)))


def _list_folders(own: Path, is_root: Callable[[Path], bool]) -> list[Path]:
    """The folders from a file's own up to its project's root; only its own without a root."""
    folders = [own, *own.parents]
    root = next((place for place, folder in enumerate(folders) if is_root(folder)), 0)
    return folders[: root + 1]


def _has_mark(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)


def _read_requirements(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("requirements*.txt")):
        yield from _read_names(_text(path).splitlines())
    yield from _python(_text(folder / "pyproject.toml"))
    yield from _script(_text(folder / "package.json"))
    yield from GO_REQUIRE.findall(_text(folder / "go.mod"))


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES or not lies_in(path, path.parent):
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _read_names(lines: Iterable[object]) -> Iterator[str]:
    for line in lines:
        found = NAME.match(line) if isinstance(line, str) else None
        if found is not None:
            yield found[1]


def _python(text: str) -> Iterator[str]:
    try:
        project = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    yield from _read_names(_list(_table(project, "project").get("dependencies")))
    for more in _table(project, "project", "optional-dependencies").values():
        yield from _read_names(_list(more))
    yield from _read_names(_table(project, "tool", "poetry", "dependencies"))


def _script(text: str) -> Iterator[str]:
    try:
        package = json.loads(text) if text else {}
    except ValueError:
        return
    yield from _table(package, "dependencies")


def _table(value: Any, *keys: str) -> dict[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
