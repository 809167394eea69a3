"""Trusted project files, each by path and content hash.

One append-only file in the user's own data folder: never in the project, where others write.
"""

import hashlib
import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from moot.core.errors import ConfigError, StoreError, UsageError
from moot.edge.files.lines import lock_file as lock_lines
from moot.edge.files.lines import read_lines
from moot.edge.files.memory import data_folder
from moot.evidence.failures import stamp

HEADER = "# moot: settings of projects that a person trusted, one JSON object a line; only ever appended to\n"
VARIABLE = "MOOT_TRUST"
"""Comma-separated hashes of files that are trusted anywhere: for unattended machines."""
LARGEST = 1_000_000
LARGE = 20_000_000
"""A larger file that a project names, such as weights, is identified by size and time."""
MOST_FILES = 1000
PREFIXES = ("cmd:", "script:", "local:")


class ProjectFile(NamedTuple):
    """A `moot.toml` read once, so that what is judged is what is used."""

    path: Path
    table: dict[str, object]
    digest: str
    """Of its content, and of the project files that it names."""
    named: tuple[str, ...]


class TrustedFile(NamedTuple):
    path: str
    digest: str
    at: str
    by: str


def read_project_file(path: Path, here: Path) -> ProjectFile:
    """`here`: the working folder, where named files are looked for too."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        table = tomllib.loads(data[:LARGEST].decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path} is not valid TOML: it is nested too deeply") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise ConfigError(f"{path} is larger than {LARGEST // 1000} kB")
    # The folder's real path, but not the target of a link with this name: its neighbours are those of the link.
    place = Path(os.path.realpath(path.parent)) / path.name
    named = dict(sorted(_find_named_files(table, place.parent, here)))
    return ProjectFile(place, table, _digest(data, named), tuple(named))


def is_trusted(found: ProjectFile, env: Mapping[str, str]) -> bool:
    if found.digest in [each.strip() for each in env.get(VARIABLE, "").split(",")]:
        return True
    try:
        return any((each.path, each.digest) == (str(found.path), found.digest) for each in list_trusted_files(env))
    except StoreError:
        return False


def trust_file(env: Mapping[str, str]) -> Path:
    return data_folder(env) / "trust.jsonl"


def list_trusted_files(env: Mapping[str, str]) -> list[TrustedFile]:
    """Oldest first; a file may be trusted in more than one state."""
    found: dict[tuple[str, str], TrustedFile] = {}
    for line in read_lines(trust_file(env)).lines:
        path, digest = str(line.get("path", "")), str(line.get("sha256", ""))
        if line.get("event") == "trusted" and path and digest:
            found[path, digest] = TrustedFile(path, digest, str(line.get("at", "")), str(line.get("by", "")))
        elif line.get("event") == "revoked":
            found = {key: each for key, each in found.items() if key[0] != path}
    return list(found.values())


def trust(found: ProjectFile, by: str, env: Mapping[str, str]) -> None:
    _append(env, {"event": "trusted", "path": str(found.path), "sha256": found.digest, "by": by})


def revoke(path: Path, by: str, env: Mapping[str, str]) -> int:
    """Returns how many states of the file lost their trust."""
    place = str(Path(os.path.realpath(path.parent)) / path.name)
    count = sum(each.path == place for each in list_trusted_files(env))
    if count:
        _append(env, {"event": "revoked", "path": place, "by": by})
    return count


def _append(env: Mapping[str, str], line: dict[str, object]) -> None:
    if not str(line["path"]).isprintable():
        raise UsageError("the path of this file holds characters that cannot be shown; move it")
    with lock_lines(trust_file(env), HEADER) as file:
        file.append([{**line, "at": stamp(datetime.now(UTC))}])


def _digest(data: bytes, named: Mapping[str, str]) -> str:
    """For the file alone the same as `sha256sum`; with named files, of a list of such lines."""
    own = hashlib.sha256(data).hexdigest()
    if not named:
        return own
    lines = [f"{own}  moot.toml", *(f"{digest}  {name}" for name, digest in named.items())]
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _find_named_files(table: Mapping[str, object], root: Path, here: Path) -> Iterator[tuple[str, str]]:
    """Project files that its settings name, with their hashes: a trusted command changes when its script does."""
    count = 0
    for word in dict.fromkeys(_words(table)):
        for base in dict.fromkeys((root, Path(os.path.realpath(here)))):
            for path in _files_at(Path(os.path.normpath(base / word))):
                if path.is_relative_to(root):
                    count += 1
                    if count > MOST_FILES:
                        raise ConfigError(f"{root / 'moot.toml'} names folders of more than {MOST_FILES} files")
                    yield str(path.relative_to(root)), _hash(path)


def _words(value: object) -> Iterator[str]:
    """Every word of every text that may be a path."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _words(each)
    if isinstance(value, str):
        text = next((value.removeprefix(each) for each in PREFIXES if value.startswith(each)), value)
        try:
            words = [text, *shlex.split(text)]
        except ValueError:
            words = [text, *text.split()]
        for word in words:
            for part in (word, word.rpartition("=")[2]):
                if part and "\0" not in part and len(part) < 4096:
                    yield os.path.expanduser(part)


def _files_at(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            return [each for each in sorted(path.iterdir()) if each.is_file() and each.suffix in (".md", ".toml")]
        return [path] if path.is_file() else []
    except OSError:
        return []


def _hash(path: Path) -> str:
    try:
        seen = path.stat()
        if seen.st_size > LARGE:
            return f"{seen.st_size}@{seen.st_mtime_ns}"
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
