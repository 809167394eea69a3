"""Reads an election from a file; every error names its place."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Never

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from moot.core.errors import UsageError
from moot.core.types import Value
from moot.edge.files.names import format_path
from moot.edge.files.sources import MAX_FILE_BYTES, decode_source
from moot.teams.voting import MAX_COUNT, Election, RankedBallot, VoteRules, elect, problem

MAX_CANDIDATES = 300
Name = Annotated[str, Field(min_length=1, max_length=200)]


def _group(value: object) -> object:
    """`"A"` for `["A"]`."""
    return [value] if isinstance(value, str) else value


class _Given(Value):
    model_config = ConfigDict(strict=True)


class GivenBallot(_Given):
    ranking: list[Annotated[list[Name], BeforeValidator(_group), Field(min_length=1)]] = Field(min_length=1)
    count: int = Field(default=1, ge=1, le=MAX_COUNT)
    confidence: float | None = Field(default=None, ge=0, le=1)
    voter: str = ""
    score: float = Field(default=0.0, ge=0, le=10)
    diversity: float = Field(default=0.0, ge=0, le=1)
    history: float = Field(default=0.0, ge=0, le=1)


class GivenVotes(_Given):
    candidates: list[Name] = Field(min_length=1, max_length=MAX_CANDIDATES)
    ballots: list[GivenBallot]


def count_file(path: str, rules: VoteRules, stdin: Callable[[], bytes]) -> Election:
    shown, data = ("standard input", stdin()) if path == "-" else _bytes(path)
    given = read_election(decode_source(data, shown, "an election", "count"), shown)
    ballots = [ballot_of(ballot) for ballot in given.ballots]
    known = frozenset(given.candidates)
    for number, ballot in enumerate(ballots, start=1):
        if why := problem(ballot, known):
            raise UsageError(f"{shown}: ballot {number}: {why}")
    voters = {ballot.voter.strip() for ballot in ballots if ballot.voter.strip()}
    if rules.leader and rules.leader not in voters:
        raise UsageError(f"{shown}: the leader {rules.leader!r} has no ballot; voters are {_list_voters(voters)}")
    return elect(given.candidates, ballots, rules)


def read_election(text: str, shown: str) -> GivenVotes:
    try:
        given = GivenVotes.model_validate(json.loads(text.removeprefix("\ufeff"), parse_constant=_no_number))
    except ValidationError as wrong:
        first = wrong.errors()[0]
        if not first["loc"]:
            raise UsageError(f"{shown}: an election is an object with candidates and ballots") from None
        raise UsageError(f"{shown}: {_place(first['loc'])}: {first['msg']}{_what(first['input'])}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown} is not JSON: {error}") from None
    if twice := [name for name in given.candidates if given.candidates.count(name) > 1]:
        raise UsageError(f"{shown}: the candidate {twice[0]!r} is listed twice")
    return given


def ballot_of(given: GivenBallot) -> RankedBallot:
    ranking = tuple(tuple(group) for group in given.ranking)
    return RankedBallot(
        ranking=ranking, count=given.count, confidence=given.confidence, voter=given.voter.strip(), score=given.score,
        diversity=given.diversity, history=given.history,
    )  # fmt: skip


def _bytes(path: str) -> tuple[str, bytes]:
    shown = format_path(Path(path))
    try:
        with Path(path).open("rb") as file:
            return shown, file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from None


def _no_number(name: str) -> Never:
    raise ValueError(f"{name} is not a number")


def _place(location: tuple[int | str, ...]) -> str:
    """`ballot 2, count`; numbered from one."""
    parts: list[str] = []
    for part in location:
        if isinstance(part, int) and parts:
            parts[-1] = f"{parts[-1].removesuffix('s')} {part + 1}"
        else:
            parts.append(str(part))
    return ", ".join(parts)


def _what(value: object) -> str:
    return f", not {value!r}" if isinstance(value, str | int | float | None) and len(repr(value)) < 60 else ""


def _list_voters(voters: set[str]) -> str:
    return ", ".join(sorted(voters)[:20]) or "not named"
