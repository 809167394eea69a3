"""Two sessions side by side: the verdict and the spending of each, and their last versions of the code."""

from dataclasses import dataclass
from difflib import unified_diff

from markupsafe import Markup

from moot.core.ports import SessionRecord
from moot.core.report import list_spending
from moot.core.types import Result
from moot.record.audit import sum_spending
from moot.record.chain import SessionSnapshot
from moot.surfaces.history.documents import make_report
from moot.surfaces.page.panels.versions import FileDiff, compare_files
from moot.surfaces.page.views import render_blocks


@dataclass(frozen=True)
class ComparedSide:
    record: SessionRecord
    verdict: Markup
    spending: tuple[tuple[str, str], ...]


def summarise_side(snapshot: SessionSnapshot, result: Result | None) -> ComparedSide:
    report = make_report(snapshot.session, result)
    verdict = render_blocks(report.blocks[:1]) if report else Markup()
    return ComparedSide(snapshot.session, verdict, tuple(list_spending(sum_spending(snapshot.entries))))


def compare_last_versions(one: SessionSnapshot, two: SessionSnapshot) -> tuple[FileDiff, ...]:
    if not (one.versions and two.versions):
        return ()
    before, after = one.versions[-1].code, two.versions[-1].code
    lines = unified_diff(before.split("\n"), after.split("\n"), "a/code", "b/code", lineterm="")
    return compare_files("\n".join(lines), after)
