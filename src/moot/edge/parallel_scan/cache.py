"""Caches scan results of file groups by content."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import platformdirs
from pydantic import ValidationError

import moot.scan
from moot import __version__
from moot.core import findings, types
from moot.core.types import Scan, SourceFile, Value
from moot.scan.groups import Group
from moot.scan.installed import load_rule_packs
from moot.scan.traced import FileTrace, TracedScan

if TYPE_CHECKING:
    from moot.scan.traces import ChangedFiles

MOST_ENTRIES, MOST_BYTES = 20_000, 200_000_000
MOST_RESULTS = 4
"""Per group: as many states of the context are remembered, so that going back to a branch costs nothing."""
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


class Kept(Value):
    """What a result depends on in the files of the context, by their place in the group."""

    texts: dict[int, str]
    traces: dict[int, FileTrace]


class KeptResult(NamedTuple):
    kept: Kept
    scan: bytes


class Cache:
    """One file per group of the same own files. It holds the last few results: they differ in what they depend on in
    the context. A file that is not exactly as written is ignored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digests: dict[str, tuple[str, str]] = {}
        """Path -> text and its digest."""

    def load(self, group: Group) -> Scan | None:
        key = self._key(group)
        results = self._read(key)
        place = next((n for n, result in enumerate(results) if self._holds(result.kept, group)), None)
        if place is None:
            return None
        result = results.pop(place)
        texts = self._digest_context(group)
        try:
            scan = Scan.model_validate_json(result.scan)
        except ValidationError:
            return None
        if result.kept.texts == texts:
            self._touch(key)
        else:  # the next scan need not read the changed files again
            self._write(key, [KeptResult(result.kept.model_copy(update={"texts": texts}), result.scan), *results])
        return scan

    def save(self, group: Group, found: TracedScan) -> None:
        key = self._key(group)
        kept = Kept(texts=self._digest_context(group), traces=found.traces)
        others = [result for result in self._read(key) if result.kept != kept]
        self._write(key, [KeptResult(kept, found.scan.model_dump_json().encode()), *others])

    def _holds(self, kept: Kept, group: Group) -> bool:
        texts = self._digest_context(group)
        changed = [place for place in texts if texts[place] != kept.texts.get(place)]
        if any(place not in kept.traces for place in changed):
            return False
        return all(self._is_unaffected(group, group.files[place], kept.traces[place]) for place in changed)

    def _is_unaffected(self, group: Group, file: SourceFile, trace: FileTrace) -> bool:
        return self._changes.still_holds(trace, file, (other for other in group.files if other is not file))

    @cached_property
    def _changes(self) -> "ChangedFiles":
        from moot.scan.traces import ChangedFiles  # with the engine: unchanged files need none

        return ChangedFiles()

    def _key(self, group: Group) -> str:
        """The files with their parts in the group, and the texts of its own."""
        digest = hashlib.sha256(analyser().encode())
        for file in group.files:
            role = "own" if file.path in group.own else "passive" if file.path in group.passive else "context"
            text = self._digest(file) if role == "own" else ""
            for part in (role, file.path, file.language, text):
                data = part.encode("utf-8", "surrogatepass")
                digest.update(f"{len(data)} ".encode() + data)
        return digest.hexdigest()

    def _digest_context(self, group: Group) -> dict[int, str]:
        return {n: self._digest(file) for n, file in enumerate(group.files) if file.path not in group.own}

    def _digest(self, file: SourceFile) -> str:
        known = self._digests.get(file.path)
        if known is None or known[0] is not file.text:
            digest = hashlib.sha256(file.text.encode("utf-8", "surrogatepass")).hexdigest()
            known = self._digests[file.path] = (file.text, digest)
        return known[1]

    def _read(self, key: str) -> list[KeptResult]:
        try:
            mark, _, body = self._path(key).read_bytes().partition(b"\n")
            if mark != _mark(key, body):
                return []
            lines = body.split(b"\n")
            return [
                KeptResult(Kept.model_validate_json(kept), scan)
                for kept, scan in zip(lines[::2], lines[1::2], strict=True)
            ]
        except (OSError, ValueError):
            return []

    def _touch(self, key: str) -> None:
        with suppress(OSError):
            os.utime(self._path(key))

    def _write(self, key: str, results: Sequence[KeptResult]) -> None:
        """Atomic; without write access nothing is kept."""
        path = self._path(key)
        lines = [line for kept, scan in results[:MOST_RESULTS] for line in (kept.model_dump_json().encode(), scan)]
        body = b"\n".join(lines)
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
