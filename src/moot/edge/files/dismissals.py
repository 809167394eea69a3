"""Points of code reviews that people dismissed: one line each in `.moot/dismissed.jsonl`, to be committed with the
project, so that nobody is told the same thing twice."""

from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from moot.core.errors import UsageError
from moot.edge.git import is_repository, top_of

PLACE = ".moot/dismissed.jsonl"
D = TypeVar("D", bound=BaseModel)


class DismissalFile(Generic[D]):
    def __init__(self, folder: Path, kind: type[D]) -> None:
        self.path = (top_of(folder) if is_repository(folder) else folder) / PLACE
        self._kind = kind

    def read(self) -> tuple[D, ...]:
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{self.path} cannot be read: {error}") from None
        try:
            return tuple(self._kind.model_validate_json(line) for line in lines if line.strip())
        except ValidationError:
            raise UsageError(f"{self.path} has a line that is not a dismissal; fix it or delete it") from None

    def add(self, dismissal: D) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{dismissal.model_dump_json()}\n")
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written: {error.strerror}") from None
