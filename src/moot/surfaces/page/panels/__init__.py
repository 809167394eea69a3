"""Evidence panels of a session, each a pure function over the record.

A panel reads what it shows from `RecordedSession`, or returns None if the session has nothing of the kind; a template
of the same name renders it. Read `recorded.py` first.
"""

from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup

from moot.record.chain import SessionSnapshot
from moot.surfaces.page.panels.arguments import list_challenges, list_positions, weigh_arguments
from moot.surfaces.page.panels.ballots import count_ballots, list_dissent, list_flips
from moot.surfaces.page.panels.behaviour import group_behaviours, list_breaking_tests
from moot.surfaces.page.panels.findings import list_findings
from moot.surfaces.page.panels.matrix import build_matrix
from moot.surfaces.page.panels.progress import chart_progress
from moot.surfaces.page.panels.recorded import RecordedSession, read_session
from moot.surfaces.page.panels.seats import draw_seats
from moot.surfaces.page.panels.versions import compare_versions
from moot.surfaces.page.rendering import render_template


@dataclass(frozen=True)
class RenderedPanel:
    id: str
    title: str
    html: Markup


@dataclass(frozen=True)
class Panel:
    id: str
    title: str
    read: Callable[[RecordedSession], object | None]
    """The template's data; None if there is nothing to show."""


PANELS = (
    Panel("tests", "Tests", build_matrix),
    Panel("behaviour", "Behaviour", group_behaviours),
    Panel("breaking", "Breaking tests", list_breaking_tests),
    Panel("findings", "Findings", list_findings),
    Panel("challenges", "Challenges", list_challenges),
    Panel("positions", "Positions", list_positions),
    Panel("arguments", "For and against", weigh_arguments),
    Panel("versions", "Versions", compare_versions),
    Panel("ballots", "Ballots", count_ballots),
    Panel("flips", "Changed minds", list_flips),
    Panel("dissent", "Dissent", list_dissent),
    Panel("progress", "Consensus and spend", chart_progress),
    Panel("seats", "Who hears whom", draw_seats),
)


def render_panels(snapshot: SessionSnapshot) -> list[RenderedPanel]:
    session = read_session(snapshot)
    shown = [(panel, content) for panel in PANELS if (content := panel.read(session)) is not None]
    return [
        RenderedPanel(panel.id, panel.title, render_template(f"panels/{panel.id}.html", panel=content))
        for panel, content in shown
    ]
