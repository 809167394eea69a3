"""A recorded session with its input and result as types of its protocol."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from moot.core.ports import TurnRow
from moot.core.types import Result
from moot.protocols import PROTOCOLS
from moot.record.chain import SessionSnapshot
from moot.record.transcript import as_table
from moot.text.controls import split_lines

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True)
class RecordedSession:
    snapshot: SessionSnapshot
    given: BaseModel | None
    """None if this version cannot read it."""
    result: Result | None

    def find_turn(self, seat: str, round_: int, phase: str = "") -> TurnRow | None:
        """The only turn of a seat in a round; None if there are several."""
        found = [t for t in self.snapshot.turns if (t.seat, t.round) == (seat, round_) and phase in ("", t.phase)]
        return found[0] if len(found) == 1 else None


def read_session(snapshot: SessionSnapshot) -> RecordedSession:
    record = snapshot.session
    protocol = PROTOCOLS.get(record.protocol)
    if protocol is None:
        return RecordedSession(snapshot, None, None)
    kept = as_table(record.outcome).get("result")
    return RecordedSession(snapshot, _read(protocol.input, record.config.get("input")), _read(protocol.result, kept))


def _read(shape: type[M], value: JsonValue) -> M | None:
    try:
        return shape.model_validate(value)
    except ValidationError:
        return None


def split_files(joined: str, paths: Sequence[str]) -> dict[str, list[str]]:
    """Splits a version into the lines of each file (the inverse of `join_files`)."""
    if len(paths) == 1:
        return {paths[0]: split_lines(joined)}
    headings = {f"=== {path} ===": path for path in paths}
    files: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in split_lines(joined):
        path = headings.get(line)
        if path and path not in files:
            lines = files.setdefault(path, [])
        else:
            lines.append(line)
    return files
