"""What was run beside what was said: the evidence of one session as panels."""

from dataclasses import dataclass

from markupsafe import Markup

from moot.record.chain import SessionSnapshot


@dataclass(frozen=True)
class RenderedPanel:
    id: str
    title: str
    html: Markup


def render_panels(snapshot: SessionSnapshot) -> list[RenderedPanel]:
    return []
