"""Scan output for a person: progress, then findings."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from moot.core.findings import where
from moot.core.report import count_things
from moot.core.types import NotAnalysed, Vulnerability
from moot.edge.files.sources import Gathered
from moot.surfaces.cli.screen import err, out, plain


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Shows a progress bar to a person; nothing to a program."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    with err().status("scanning") as status:
        yield lambda done, total: status.update(plain(f"scanned {done} of {total} files"))


def show(findings: list[Vulnerability], gaps: tuple[NotAnalysed, ...], gathered: Gathered) -> None:
    from rich.table import Table  # see `screen.py`

    console = out()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("severity", "where", "rule", "finding"):
        table.add_column(column, overflow="fold")
    for f in findings:
        table.add_row(f.severity, plain(where(f)), f.rule, plain(f.description))
    if findings:
        console.print(table)
    for gap in gaps:
        console.print(plain(f"not analysed: {gap.sentence}"))
    skipped = ", ".join(f"{number} {reason}" for reason, number in gathered.skipped.items() if number)
    text = f"{count_things(len(findings), 'finding')} in {count_things(len(gathered.code.files), 'file')}"
    console.print(plain(f"{text}; skipped: {skipped}" if skipped else text))
