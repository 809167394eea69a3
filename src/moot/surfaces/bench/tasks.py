"""One task of a benchmark: what the models are given, and what only the judge knows."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from moot.core.types import Code, Language, Tests, Value

TaskKind = Literal["code", "choice", "text", "label", "repository"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class RubricRule(Value):
    """A pattern that the answer must match, or must not."""

    says: str
    """What it checks, in words."""
    matches: str
    """A regular expression, searched in the whole answer."""
    absent: bool = False


class ChangeTask(Value):
    """An issue of a repository, with the tests that tell whether it is solved."""

    repository: str
    """The folder of its clone."""
    commit: str
    path: str
    """The file to change."""
    test_patch: str
    patch: str = ""
    """The published solution; no model sees it."""
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...] = ()


class BenchTask(Value):
    id: str
    kind: TaskKind
    prompt: str
    """All that the models read."""
    language: Language = "python"
    path: str = ""
    """Of the solution; default: by its tests."""
    context: Code | None = None
    hidden: Tests | None = None
    """The judge's tests. They are never part of a session."""
    options: tuple[str, ...] = ()
    key: str = ""
    """The right option's letter, or `vulnerable` or `safe`."""
    rubric: tuple[RubricRule, ...] = ()
    cwes: tuple[int, ...] = ()
    """Of labelled code: a finding counts if its CWE is one of these; none: any serious finding counts."""
    change: ChangeTask | None = None
    skip: str = ""
    """Why it cannot be tried here."""
    notes: tuple[str, ...] = Field(default=())
    """What a reader of the report must know of all tasks like this."""


def order_by_hash(tasks: Iterable[BenchTask]) -> list[BenchTask]:
    """By the SHA-256 of their ids: a part of a suite is one that nobody picked."""
    return sorted(tasks, key=lambda task: hashlib.sha256(task.id.encode()).hexdigest())


def digest_tasks(tasks: Sequence[BenchTask]) -> str:
    """Of everything in them, tests and keys too."""
    whole = hashlib.sha256()
    for task in sorted(tasks, key=lambda task: task.id):
        whole.update(task.model_dump_json(exclude={"skip": True, "change": {"repository"}}).encode() + b"\n")
    return whole.hexdigest()


def render_options(options: Sequence[str]) -> str:
    return "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, options, strict=False))
