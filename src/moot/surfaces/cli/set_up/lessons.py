"""`moot lessons`: lessons of earlier sessions, their origin and effect."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue, ValidationError
from rich.table import Table

from moot.core.errors import UsageError
from moot.core.experience import Lesson, Origin
from moot.core.report import count_things
from moot.edge.store.episodes import EpisodeStore
from moot.edge.store.lessons import LessonStore
from moot.evidence.lessons.lesson import new_lesson, rate_lesson
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json, write_json

EXAMPLES = """Examples:

  moot lessons list query                     lessons about queries

  moot lessons add "Check for an empty list before indexing it"

  moot lessons list --for "Return the longest word of a text"

  moot lessons export > lessons.jsonl; moot lessons import lessons.jsonl --store other.db
"""
MAX_BYTES = 200_000_000
LessonArgument = Annotated[str, typer.Argument(help="Lesson id, or a unique prefix.")]
lessons_app = typer.Typer(help="What was learnt in earlier sessions.", no_args_is_help=True, epilog=EXAMPLES)


def register(app: typer.Typer) -> None:
    app.add_typer(lessons_app, name="lessons")


@lessons_app.command("list")
def list_command(
    text: Annotated[str, typer.Argument(help="Only lessons with this in their text.")] = "",
    task: Annotated[str | None, typer.Option("--for", help="Lessons that a task like this would get.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")] = 20,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """List lessons, newest first; with --for, the most relevant first."""
    now = datetime.now(UTC)
    found = with_store(
        store,
        lambda db: LessonStore(db).recall(task, now, limit) if task else LessonStore(db).lessons(text, limit),
    )
    if json_output:
        return print_json([format_lesson(lesson, now) for lesson in found])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "worth", "used", "category", "lesson"):
        table.add_column(column, overflow="fold")
    for lesson in found:
        worth = f"{rate_lesson(lesson, now):.2f}"
        table.add_row(lesson.id, worth, f"{lesson.helped}+ {lesson.harmed}-", lesson.category, plain(lesson.text))
    out().print(table if found else plain("no lessons"))


@lessons_app.command("show")
def show_command(lesson: LessonArgument, store: StoreFlag = None, json_output: JsonFlag = False) -> None:
    """Show a lesson: its wordings, its origin, and how it performed."""
    now = datetime.now(UTC)
    found = with_store(store, lambda db: LessonStore(db).lesson(lesson))
    if json_output:
        return print_json(format_lesson(found, now))
    lines = [found.text, *(f"  also: {wording}" for wording in found.wordings)]
    lines.append(f"{found.category}, worth {rate_lesson(found, now):.2f}: used {count_things(found.uses, 'time')}, "
                 f"helped {found.helped}, harmed {found.harmed}")  # fmt: skip
    lines += [_origin(origin) for origin in found.origins]
    lines.append(f"kept until {found.expires_at:%Y-%m-%d}" if found.expires_at else "kept forever")
    out().print(plain("\n".join(lines)), soft_wrap=True)


@lessons_app.command("add")
def add_command(
    text: Annotated[str, typer.Argument(help="The advice, in one sentence.")],
    keep: Annotated[bool, typer.Option("--keep", help="Never let it expire.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Add a lesson by hand. Duplicates are merged."""
    said = " ".join(text.split())
    if not said:
        raise UsageError("a lesson needs a text")
    now = datetime.now(UTC)
    lesson = new_lesson(said, Origin(agent="person", when=now), now, *([None] if keep else []))
    kept = with_store(store, lambda db: LessonStore(db).learn(lesson), new=True)
    if json_output:
        return print_json(format_lesson(kept, now))
    out().print(plain(f"{kept.id} {'added' if kept.id == lesson.id else f'merged with: {kept.text}'}"))


@lessons_app.command("forget")
def forget_command(lesson: LessonArgument, store: StoreFlag = None) -> None:
    """Forget a lesson."""
    gone = with_store(store, lambda db: LessonStore(db).forget(lesson))
    out().print(plain(f"forgot {gone.id}: {gone.text}"))


@lessons_app.command("episodes")
def episodes_command(
    agent: Annotated[str, typer.Option("--agent", help="Only episodes of this seat, or seat@model.")] = "",
    session: Annotated[str, typer.Option("--session", help="Only episodes of this session.")] = "",
    task: Annotated[str, typer.Option("--for", help="Episodes of the most similar tasks first.")] = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many.")] = 20,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """List failed attempts and what was learnt from them, newest first."""
    found = with_store(store, lambda db: EpisodeStore(db).episodes(agent, session, task, limit))
    if json_output:
        return print_json([episode.model_dump(mode="json") for episode in found])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("session", "attempt", "by", "tests", "what to change", "task"):
        table.add_column(column, overflow="fold")
    for e in found:
        task_line = plain(" ".join(e.task.split())[:80])
        table.add_row(e.session[:8], str(e.attempt), e.agent, plain(e.test_results), plain(e.improvement), task_line)
    out().print(table if found else plain("no episodes"))


@lessons_app.command("export")
def export_command(store: StoreFlag = None) -> None:
    """Print all lessons as JSON lines."""
    for lesson in with_store(store, lambda db: LessonStore(db).lessons()):
        write_json(lesson.model_dump_json())


@lessons_app.command("import")
def import_command(
    file: Annotated[str, typer.Argument(help="JSON lines as `export` prints them; - is standard input.")],
    store: StoreFlag = None,
) -> None:
    """Import lessons from another store. Duplicates are merged."""
    lessons = read_lessons(_text(file), file)
    kept = with_store(store, lambda db: LessonStore(db).learn_all(lessons), new=True)
    out().print(plain(f"{len(lessons)} read, {len({lesson.id for lesson in kept})} kept"))


def read_lessons(text: str, name: str) -> list[Lesson]:
    """Read all lessons or none; the error names the first invalid line."""
    lessons = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                lessons.append(Lesson.model_validate_json(line))
            except ValidationError as error:
                why = error.errors()[0]["msg"]
                problem = f"line {number} of {name} is not a valid lesson ({why}); nothing was imported"
                raise UsageError(problem) from None
    if not lessons:
        raise UsageError(f"no lessons in {name}")
    return lessons


def format_lesson(lesson: Lesson, now: datetime) -> JsonValue:
    return {**lesson.model_dump(mode="json"), "worth": round(rate_lesson(lesson, now), 3)}


def _origin(origin: Origin) -> str:
    when = f"{origin.when:%Y-%m-%d}" if origin.when else "at an unknown time"
    parts = [origin.agent and f"by {origin.agent}", origin.session_id and f"in session {origin.session_id}"]
    learnt = f"{origin.kind} by {origin.source}" if origin.kind else ""
    parts += [origin.phase, learnt, origin.task and f"on: {origin.task}"]
    return "  from: " + ", ".join(part for part in (when, *parts) if part)


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if file == "-" else Path(file).read_bytes()
        if len(data) > MAX_BYTES:
            raise UsageError(f"{file} is larger than {MAX_BYTES // 1_000_000} MB")
        return data.decode("utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {file!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8 text") from None
