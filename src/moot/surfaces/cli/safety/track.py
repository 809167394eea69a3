"""`moot track`: records results of tasks, and lists those that keep failing."""

import shlex
from datetime import UTC, datetime
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.core.errors import UsageError
from moot.core.report import count_things
from moot.edge.files.memory import MemoryFolder, PastDebate
from moot.evidence.failures import Event, Next, TaskStanding, next_step, task_id
from moot.evidence.statistics import has_helped
from moot.routing import route
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import err, out, plain, print_json
from moot.surfaces.extensions.vet import memory_of
from moot.surfaces.session.settings import Settings

TaskArgument = Annotated[str, typer.Argument(help="The task in a few words; use the same ones each time.")]
ErrorFlag = Annotated[str, typer.Option("--error", help="The error message.")]
ApproachFlag = Annotated[str, typer.Option("--approach", help="What was tried.")]
SessionFlag = Annotated[str, typer.Option("--session", help="Session id of the coding tool.")]
DebateFlag = Annotated[str, typer.Option("--debate", help="The debate that led to it; default: the task's last one.")]
HelpedFlag = Annotated[
    bool | None, typer.Option("--helped/--not-helped", help="Whether the debate helped; default: guessed.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Record how tasks went; list those that keep failing.", no_args_is_help=True)
    group.command("fail")(fail_command)
    group.command("success")(success_command)
    group.command("reject")(reject_command)
    group.command("reset")(reset_command)
    group.command("show")(show_command)
    app.add_typer(group, name="track")


def fail_command(
    task: TaskArgument,
    error: ErrorFlag = "",
    approach: ApproachFlag = "",
    session: SessionFlag = "",
    debate: DebateFlag = "",
    helped_flag: HelpedFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Record a failed attempt at a task."""
    memory = _memory()
    memory.track("fail", _require_name(task), _now(), error=error, approach=approach, session=session)
    _settle(memory, "failure", task, debate, helped_flag)
    _show_one(memory, task, json=json_output)


def success_command(
    task: TaskArgument,
    session: SessionFlag = "",
    debate: DebateFlag = "",
    helped_flag: HelpedFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Record that a task succeeded. Its failures no longer count."""
    _event("success", task, session, debate, helped_flag, json=json_output)


def reject_command(
    task: TaskArgument,
    approach: ApproachFlag = "",
    session: SessionFlag = "",
    json_output: JsonFlag = False,
) -> None:
    """Record that a person rejected the work on a task, or wants it revised."""
    memory = _memory()
    memory.track("reject", _require_name(task), _now(), approach=approach, session=session)
    _show_one(memory, task, json=json_output)


def reset_command(task: TaskArgument, session: SessionFlag = "", json_output: JsonFlag = False) -> None:
    """Reset a task: its failures no longer count. `*` resets every task."""
    memory = _memory()
    if task == "*":
        memory.reset_all(_now(), session)
    else:
        memory.track("reset", _require_name(task), _now(), session=session)
    _show_one(memory, task, json=json_output)


def show_command(json_output: JsonFlag = False) -> None:
    """List the tasks with failures or rejections, and what each needs next."""
    memory = _memory()
    failures = memory.failures()
    tasks = memory.standings(_now())
    lines = [_summary(tasks, task) for task in tasks.values()]
    if json_output:
        return print_json({"tasks": [*lines], "unreadable": failures.unreadable})
    if failures.unreadable:
        err().print(
            plain(f"{count_things(failures.unreadable, 'line')} of {memory.folder / 'failures.jsonl'} cannot be read")
        )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("task", "failed", "rejected", "last error", "due", "what"):
        table.add_column(column, overflow="fold", no_wrap=column in ("task", "due"))
    for line in lines:
        due = f"{line['due']}{' (stale)' if line['stale'] else ''}"
        cells = (line["task_id"], line["failures"], line["rejections"], str(line["last_error"])[:60], due, line["task"])
        table.add_row(*(plain(str(cell)) for cell in cells))
    out().print(table if lines else plain("no task has failures"))


def _event(event: Event, task: str, session: str, debate: str, told: bool | None, *, json: bool) -> None:
    memory = _memory()
    memory.track(event, _require_name(task), _now(), session=session)
    _settle(memory, event, task, debate, told)
    _show_one(memory, task, json=json)


def _settle(memory: MemoryFolder, outcome: str, task: str, debate: str, told: bool | None) -> None:
    def judge_debate(known: PastDebate) -> bool | None:
        return told if told is not None else has_helped(known.resolution, outcome)

    settled = memory.settle(outcome, _now(), task=task_id(task), debate_id=debate, helped=judge_debate)
    if debate and settled is None:
        raise UsageError(f"no debate {debate!r} is remembered; `moot vet stats --json` lists them")


def _show_one(memory: MemoryFolder, task: str, *, json: bool) -> None:
    tasks, name = memory.standings(_now()), task_id(task)
    line = _summary(tasks, tasks.get(name, TaskStanding(name, task)))
    if json:
        return print_json(line)
    counted = f"{_count(line['failures'], 'failure')}, {_count(line['rejections'], 'rejection')}"
    todo = {"debate": f"; now: moot vet --failure {shlex.quote(task)}", "escalate": "; now: ask a person"}.get(
        str(line["due"]), ""
    )
    why = f" ({line['why']})" if line["why"] else ""
    out().print(plain(f"{name}: {counted}{why}{todo}"))


def _summary(tasks: dict[str, TaskStanding], task: TaskStanding) -> dict[str, JsonValue]:
    way = route(task.task)
    step: Next = next_step(tasks, task.task_id, stakes=way.stakes, security=way.security)
    return {
        "task_id": task.task_id,
        "task": task.task,
        "failures": len(task.failures),
        "rejections": len(task.rejections),
        "last_error": task.errors[-1] if task.errors else "",
        "stale": task.stale,
        "due": step.due,
        "why": step.why,
    }


def _count(number: JsonValue, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _memory() -> MemoryFolder:
    return memory_of(Settings.load({}))


def _require_name(task: str) -> str:
    if not task.strip():
        raise UsageError("the task is empty: describe it in a few words")
    return task


def _now() -> datetime:
    return datetime.now(UTC)
