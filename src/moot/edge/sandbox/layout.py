"""Where the files of a run are placed, as paths that cannot leave the box."""

import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from moot.core.types import Code, Tests
from moot.evidence.trials.values import TEST_NAME

SYSTEM_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
WORK = "work"
RUN = "run"


@dataclass(frozen=True)
class Layout:
    files: dict[str, str]
    """Path below the work folder -> text."""
    tests: tuple[str, ...]
    one: bool = False
    """The tests are in files of the code itself."""
    clash: str = ""
    """Two files of one kind at the same path."""

    @cached_property
    def front(self) -> tuple[str, ...]:
        """Folders that `import` searches first: the work folder, and all folders of files outside packages."""
        return tuple(folder for folder in self._folders if f"{folder}/__init__.py".removeprefix("./") not in self.files)

    @cached_property
    def back(self) -> tuple[str, ...]:
        """Package folders come last, so that a `types.py` inside a package does not hide Python's own."""
        front = frozenset(self.front)
        return tuple(folder for folder in self._folders if folder not in front)

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        folders = {str(parent) for path in self.files for parent in PurePosixPath(path).parents}
        return tuple(sorted(folders | {"."}, key=lambda folder: (folder != ".", folder.count("/"), folder)))


def lay_out(code: Code, tests: Tests) -> Layout:
    # A patch must not add tests or change how tests are collected: given files win, other conftests stay out.
    sources = [(path, file.text) for file in code.files if not (path := safe_path(file.path)).endswith("conftest.py")]
    # Tests beside the code include its files as they were before any patch: those must not win.
    known = dict(sources)
    every = [(safe_path(path), text) for path, text in tests.files]
    given = [(path, text) for path, text in every if path not in known or TEST_NAME.search(path)]
    one = not given and bool(every)
    if one:
        given = every
    return Layout(
        files=dict(sources) | dict(given),
        tests=tuple(path for path, _ in given),
        one=one,
        clash=_twice(path for path, _ in sources) or _twice(path for path, _ in given),
    )


def safe_path(path: str) -> str:
    """A path below the work folder; parts that would leave it are dropped."""
    parts = [part for part in path.replace("\\", "/").replace("\0", "").split("/") if part not in ("", ".", "..")]
    return "/".join(parts) or "unnamed"


def pack(files: dict[str, str]) -> bytes:
    """A tar archive of the files, passed by standard input, so the host needs no shared folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path, text in files.items():
            data = text.encode("utf-8", "surrogateescape")
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _twice(paths: Iterable[str]) -> str:
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            return path
        seen.add(path)
    return ""
