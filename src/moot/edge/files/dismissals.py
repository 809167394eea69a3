"""Points of code reviews that people dismissed: one line each in `.moot/dismissed.jsonl`, to be committed with the
project, so that nobody is told the same thing twice.

A change could bring lines that dismiss what is wrong with it. So a line counts if it was there before the change, or
if this user wrote it: the user's own data folder lists the hashes of those lines.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from moot.core.errors import UsageError
from moot.edge.files.lines import lock_file, read_lines
from moot.edge.files.links import refuse_links_out
from moot.edge.files.memory import data_folder
from moot.edge.git import GitError, git, is_repository, top_of

PLACE = ".moot/dismissed.jsonl"
HEADER = "# moot: hashes of dismissals that this user wrote, one JSON object a line; only ever appended to\n"
D = TypeVar("D", bound=BaseModel)


@dataclass(frozen=True)
class CountedDismissals(Generic[D]):
    counted: tuple[D, ...] = ()
    brought: int = 0
    """Those that come with the change, and do not count."""


class DismissalFile(Generic[D]):
    def __init__(self, folder: Path, kind: type[D], env: Mapping[str, str]) -> None:
        self._repository = is_repository(folder)
        self._top = top_of(folder) if self._repository else folder
        self.path = self._top / PLACE
        self._kind = kind
        self._own = data_folder(env) / "dismissals.jsonl"

    def read(self) -> tuple[D, ...]:
        return tuple(self._parse(line) for line in self._read_lines())

    def read_counted(self, base: str) -> CountedDismissals[D]:
        """`base`: the commit before the change. Outside of a repository every line counts."""
        found = {line: self._parse(line) for line in self._read_lines()}
        if not found or not self._repository:
            return CountedDismissals(tuple(found.values()))
        known, own = frozenset(self._read_base(base)), self._own_hashes()
        kept = [found[line] for line in found if line in known or _hash(line) in own]
        return CountedDismissals(tuple(kept), len(found) - len(kept))

    def add(self, dismissal: D) -> None:
        line = dismissal.model_dump_json()
        refuse_links_out((self.path,), self._top)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from None
        with lock_file(self._own, HEADER) as own:
            own.append([{"sha256": _hash(line)}])

    def _read_lines(self) -> list[str]:
        refuse_links_out((self.path,), self._top)
        try:
            return _split(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.path} cannot be read: {error}") from None

    def _read_base(self, base: str) -> list[str]:
        try:
            return _split(git(self._top, "cat-file", "blob", f"{base}:{PLACE}").decode("utf-8", "replace"))
        except GitError:  # there was none
            return []

    def _own_hashes(self) -> frozenset[object]:
        return frozenset(line.get("sha256") for line in read_lines(self._own).lines)

    def _parse(self, line: str) -> D:
        try:
            return self._kind.model_validate_json(line)
        except ValidationError:
            raise UsageError(f"{self.path} has a line that is not a dismissal; fix it or delete it") from None


def _split(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
