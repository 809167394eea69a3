"""Caches scan results of file groups by content."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import platformdirs
from pydantic import ValidationError

import moot.scan
from moot import __version__
from moot.core import findings, types
from moot.core.types import Scan
from moot.scan.groups import Group
from moot.scan.plugin_rules import load_rule_packs

MOST_ENTRIES, MOST_BYTES = 20_000, 200_000_000
PARSERS = ("tree-sitter", "tree-sitter-python", "tree-sitter-javascript", "tree-sitter-typescript", "tree-sitter-go")


def default_folder() -> Path:
    return Path(platformdirs.user_cache_dir("moot", appauthor=False)) / "scan"


@cache
def analyser() -> str:
    """Changes with anything that may change a result: rules, engine, parsers, interpreter."""
    digest = hashlib.sha256(f"{__version__} {sys.version}".encode())
    for name in PARSERS:
        try:
            digest.update(f"{name} {version(name)}\n".encode())
        except PackageNotFoundError:
            digest.update(f"{name}?\n".encode())
    root = Path(moot.scan.__file__).parent
    for path in sorted([*root.rglob("*.py"), Path(types.__file__), Path(findings.__file__)]):
        digest.update(path.read_bytes())
    for point, _ in load_rule_packs():
        digest.update(f"{point.name} {point.value}\n".encode())
        for path in _list_package(point.module):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _list_package(module: str) -> list[Path]:
    top = sys.modules[module.partition(".")[0]]
    if folders := getattr(top, "__path__", None):
        found = [path for folder in folders for path in Path(folder).rglob("*") if path.suffix != ".pyc"]
        return sorted(path for path in found if path.is_file())
    return [Path(top.__file__)] if top.__file__ else []


class Cache:
    """One file per group. A file that is not exactly as written is ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, group: Group) -> str:
        digest = hashlib.sha256(analyser().encode())
        for file in group.files:
            role = "own" if file.path in group.own else "passive" if file.path in group.passive else "context"
            for part in (role, file.path, file.language, file.text):
                data = part.encode("utf-8", "surrogatepass")
                digest.update(f"{len(data)} ".encode() + data)
        return digest.hexdigest()

    def load(self, key: str) -> Scan | None:
        path = self._path(key)
        try:
            mark, _, body = path.read_bytes().partition(b"\n")
            if mark != _mark(key, body):
                return None
            scan = Scan.model_validate_json(body)
            os.utime(path)
        except (OSError, ValidationError):
            return None
        return scan

    def save(self, key: str, scan: Scan) -> None:
        """Atomic; without write access nothing is kept."""
        path = self._path(key)
        body = scan.model_dump_json().encode()
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        except OSError:
            return
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_mark(key, body) + b"\n" + body)
            os.replace(temporary, path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def prune(self, most_entries: int = MOST_ENTRIES, most_bytes: int = MOST_BYTES) -> None:
        """Remove the least recently used entries."""
        entries = sorted(((e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in self._entries()), reverse=True)
        size = 0
        for count, (_, length, path) in enumerate(entries, start=1):
            size += length
            if count > most_entries or size > most_bytes:
                Path(path).unlink(missing_ok=True)

    def _entries(self) -> Iterable["os.DirEntry[str]"]:
        try:
            folders = [entry.path for entry in os.scandir(self._folder) if entry.is_dir()]
            return [entry for folder in folders for entry in os.scandir(folder) if entry.is_file()]
        except OSError:
            return []

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.json"


def _mark(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + body).hexdigest().encode()
