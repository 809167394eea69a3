"""`moot vet stats`: counts earlier debates."""

from dataclasses import asdict

import typer
from rich.table import Table

from moot.core.report import count_things
from moot.edge.files.memory import MemoryFolder
from moot.evidence.statistics import Worked, tally
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import err, out, plain, print_json
from moot.surfaces.extensions.vet import memory_of
from moot.surfaces.session.settings import Settings


def register(app: typer.Typer) -> None:
    app.command("stats")(stats_command)


def stats_command(json_output: JsonFlag = False) -> None:
    """Count the debates there were: about what, what worked, what was needless, what was escalated."""
    show_stats(memory_of(Settings.load({})), json=json_output)


def show_stats(memory: MemoryFolder, *, json: bool) -> None:
    read = memory.debates()
    found = tally(read.debates)
    if json:
        debates = [debate.line() for debate in read.debates]
        return print_json({**asdict(found), "unreadable": read.unreadable, "records": debates})  # type: ignore[dict-item]
    if read.unreadable:
        err().print(
            plain(f"{count_things(read.unreadable, 'line')} of {memory.folder / 'debate-metrics.jsonl'} cannot be read")
        )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("question", "answer"):
        table.add_column(column)
    rows = {
        "debates": str(found.debates),
        "by kind": _pairs(found.by_type),
        "by category": _pairs(found.by_category),
        **{f"{line.resolution} worked": _format_worked(line) for line in found.worked if line.debates},
        "helped": str(found.helped),
        "needless": f"{found.needless} ({_share(found.needless_rate)})",
        "escalations": f"{found.escalations}, {found.automatic} of them without a debate",
    }
    for question, answer in rows.items():
        table.add_row(plain(question), plain(answer))
    out().print(table)


def _format_worked(line: Worked) -> str:
    return f"{line.success} of {line.debates} (failed {line.failure}, unknown {line.unknown})"


def _pairs(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items()) or "none"


def _share(rate: float | None) -> str:
    return "no outcome is known" if rate is None else f"{rate:.0%} of those with a known outcome"
