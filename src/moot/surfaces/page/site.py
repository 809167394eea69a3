"""A session as static files: its page and styles, without server or script."""

from importlib.resources import files

from moot.core.types import Result
from moot.record.chain import SessionSnapshot
from moot.surfaces.page.fragments import make_fragment
from moot.surfaces.page.views import PageLook, render_session

STATIC = files("moot.surfaces.page") / "static"
ASSETS = ("page.css", "panels.css", "icon.svg")


def build_site(snapshot: SessionSnapshot, result: Result | None) -> dict[str, bytes]:
    """File name -> content. Retried entries are left out."""
    forgotten = snapshot.dropped or {}
    standing = [entry for entry in snapshot.entries if entry.entry not in forgotten]
    fragments = [make_fragment(snapshot.session.id, entry, live=False) for entry in standing]
    html = render_session(snapshot, result, fragments, PageLook(asset=lambda name: name))
    return {"index.html": html.encode(errors="replace"), **{name: (STATIC / name).read_bytes() for name in ASSETS}}
