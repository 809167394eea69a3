"""The session page: verdict, gate and caveats first, then seats by phase, turns and evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from moot.core.gates import GateRequest
from moot.core.ports import SessionRecord
from moot.core.report import Block, Report, list_spending
from moot.core.types import Result
from moot.protocols.debate.types import DebateResult
from moot.record.audit import sum_spending
from moot.record.chain import SessionSnapshot
from moot.record.transcript import as_table
from moot.runtime.runner import SessionPlan, find_result
from moot.surfaces.extensions import find_extension
from moot.surfaces.history.documents import make_report
from moot.surfaces.page.fragments import Fragment
from moot.surfaces.page.lanes import MOST_DOTS, build_lanes, lane_macros
from moot.surfaces.page.panels import render_panels
from moot.surfaces.page.panels.matrix import build_matrix
from moot.surfaces.page.panels.recorded import read_session
from moot.surfaces.page.panels.versions import compare_files
from moot.surfaces.page.rendering import render_template
from moot.surfaces.server.client_rights import Identity
from moot.surfaces.server.site import OVER
from moot.text.report_html import render_html


@dataclass(frozen=True)
class PageLook:
    """What differs between a served page and an exported one."""

    asset: Callable[[str], str]
    live: bool = False
    who: Identity | None = None
    csrf: str = ""


def render_session(
    snapshot: SessionSnapshot, result: Result | None, fragments: Sequence[Fragment], look: PageLook
) -> Markup:
    """`fragments`: the turns to show; a live page gets the rest as a stream."""
    record = snapshot.session
    return render_template(
        "session.html",
        look=look,
        here="",
        record=record,
        plan=SessionPlan.model_validate(record.config),
        head=render_head(snapshot, result, look.who),
        panels=render_evidence(snapshot),
        fragments=fragments,
        lanes=render_lanes(snapshot),
        after=fragments[-1].entry if fragments else 0,
    )


def render_lanes(snapshot: SessionSnapshot) -> Markup:
    standing = [entry for entry in snapshot.entries if entry.entry not in (snapshot.dropped or {})]
    lanes = build_lanes(as_table(snapshot.session.config.get("seats")), standing)
    return Markup(lane_macros().draw(lanes, MOST_DOTS))


def render_head(snapshot: SessionSnapshot, result: Result | None, who: Identity | None) -> Markup:
    """The part that changes while it runs: verdict, open gate, choices, spending, and actions. Without a viewer there
    are no actions."""
    record = snapshot.session
    report = make_report(record, result)
    choices = find_extension(record.protocol).open_choices(result) if result is not None else ()
    gate = open_gate(snapshot)
    return render_template(
        "head.html",
        record=record,
        verdict=render_blocks(report.blocks[:1]) if report else "",
        report=render_blocks(report.blocks[1:]) if report else "",
        answer=result.text if isinstance(result, DebateResult) and not result.code else "",
        over=record.status in OVER,
        now=_last_turn(snapshot),
        gate=gate,
        scores=list_scores(snapshot) if gate else (),
        changes=compare_files(str(gate.artefacts.get("diff", "")), "") if gate else (),
        choices=choices,
        spending=list_spending(sum_spending(snapshot.entries)),
        problem=_problem(snapshot),
        who=who,
        can_resume=_can_resume(record),
    )


def list_scores(snapshot: SessionSnapshot) -> list[tuple[str, str]]:
    """What the newest version scores, and the one before it: whoever approves it wants to know."""
    matrix = build_matrix(read_session(snapshot))
    columns = matrix.columns[-2:] if matrix else ()
    versions = [each.quality for each in snapshot.versions[-2:] if each.quality is not None]
    shown = {
        "Tests that pass": [f"{each.passed} of {len(matrix.lines)}" for each in columns] if matrix else [],
        "Quality": [f"{each:.2f}" for each in versions],
    }
    return [(name, " → ".join(values)) for name, values in shown.items() if values]


def render_blocks(blocks: tuple[Block, ...]) -> Markup:
    """Long lines and wide tables scroll, so they can be reached by the keyboard; words in a block are escaped."""
    html = render_html(Report(blocks=blocks))
    return Markup(html.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<table tabindex="0">'))


def render_evidence(snapshot: SessionSnapshot) -> Markup:
    return render_template("panels.html", panels=render_panels(snapshot))


def open_gate(snapshot: SessionSnapshot) -> GateRequest | None:
    waiting = snapshot.session.waiting_on
    return next((gate for gate in snapshot.gates if gate.id == waiting and gate.decision is None), None)


def _can_resume(record: SessionRecord) -> bool:
    stopped = record.status in ("paused", "failed", "completed") and not record.waiting_on
    return stopped and find_result(record) is None


def _problem(snapshot: SessionSnapshot) -> str:
    """Why it stopped unexpectedly."""
    if snapshot.session.status not in ("paused", "failed") or snapshot.session.waiting_on:
        return ""
    notes = [entry.value for entry in snapshot.entries[-3:] if entry.kind == "noted" and entry.name == "problem"]
    return str(as_table(notes[-1]).get("problem", "")) if notes else ""


def _last_turn(snapshot: SessionSnapshot) -> str:
    asked = (entry for entry in reversed(snapshot.entries) if entry.kind == "step" and entry.name.startswith("ask "))
    call = as_table(as_table(entry.value).get("call")) if (entry := next(asked, None)) else {}
    return f"{call.get('phase')}, round {call.get('round')}" if call else ""
