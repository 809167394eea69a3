"""Debates from Python: `await debate("Write add(a, b)", model=["openai:gpt-5"], tests=Path("tests"))`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.events import Event
from moot.core.types import Limits
from moot.edge.files.sources import read_code
from moot.protocols.debate.types import DebateResult, DebateRules
from moot.runtime.ports import Person
from moot.surfaces.history.result_files import output_given, write_out
from moot.surfaces.library.protocols import run_protocol
from moot.surfaces.session.input_fields import gather_tests


async def debate(  # noqa: PLR0913 - a public door: everything but the first two is by name
    task: str,
    rules: DebateRules | None = None,
    *,
    tests: str | Path | None = None,
    hidden_tests: str | Path | None = None,
    python: str | Path | None = None,
    files: Sequence[str | Path] = (),
    language: str | None = None,
    topic: bool = False,
    team: str | Path | None = None,
    out: str | Path | None = None,
    write_anyway: bool = False,
    force: bool = False,
    repo: str | Path | None = None,
    branch: bool = False,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    person: Person | None = None,
    listen: Callable[[Event], None] | None = None,
) -> DebateResult:
    """Turn a task into a solution by a team that drafts independently, tests, argues and votes.

    Several models are dealt to the seats. `hidden_tests` are run at the end and decide nothing. `person` answers
    questions about the task. The winner is written to `out`: with failing tests or serious findings only with
    `write_anyway`, over an existing file only with `force`. `keep=False` leaves no record, and neither uses nor adds
    lessons.
    """
    read = read_code([str(file) for file in files], language, None, bytes) if files else None
    given = {
        "task": task,
        "tests": gather_tests(tests) if tests else None,
        "hidden": gather_tests(hidden_tests) if hidden_tests else None,
        "context": read.code if read else None,
        "language": language,
        "topic": topic,
        "team": str(team) if team else None,
        **output_given(out, write_anyway=write_anyway, force=force),
    }
    done = await run_protocol(
        "debate", given, origins=read.origins if read else {}, project=(tests, hidden_tests, *files, repo), rules=rules,
        model=model, seats=seats, limits=limits, store=store, keep=keep, repo=repo, branch=branch, python=python,
        person=person, listen=listen,
    )  # fmt: skip
    result: DebateResult = done.result
    write_out(result.code or result.text, result, done.plan, done.vault)
    return result
