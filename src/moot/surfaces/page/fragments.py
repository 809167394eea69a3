"""Journal entries as HTML fragments, each rendered once for all viewers."""

import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from moot.core.ports import JournalEntry
from moot.record.audit import describe_entry, list_failures
from moot.record.transcript import TITLES, as_table
from moot.surfaces.page.lanes import LaneTurn, anchor_of, lane_macros, read_turn
from moot.surfaces.page.rendering import render_template

MOST_KEPT = 5000
REFRESHING = frozenset({"snapshot", "execute", "attack", "scan", "race", "probe"})
"""Steps that change the panels."""


@dataclass(frozen=True)
class Fragment:
    """`html` is empty for entries that are not shown."""

    entry: int
    html: Markup
    refresh: bool
    """Head and panels of the session have changed."""
    forgotten: int = 0
    """Steps from this one on were tried again."""
    turn: LaneTurn | None = None

    @property
    def event(self) -> str:
        """As a server-sent event. Without data, only its id counts."""
        if not (self.html or self.refresh or self.forgotten):
            return f"id: {self.entry}\n\n"
        data: dict[str, object] = {"html": self.html, "refresh": self.refresh, "forgotten": self.forgotten}
        if self.turn is not None:
            macros = lane_macros()
            data |= {
                "key": self.turn.key, "cell": self.turn.cell, "entry": self.entry,
                "heading": macros.heading(self.turn), "dot": macros.dot(self.turn),
            }  # fmt: skip
        return f"id: {self.entry}\nevent: entry\ndata: {json.dumps(data)}\n\n"


class FragmentCache:
    def __init__(self) -> None:
        self._kept: OrderedDict[str, Fragment] = OrderedDict()

    def render(self, session_id: str, entries: Iterable[JournalEntry]) -> list[Fragment]:
        return [self._render_one(session_id, entry) for entry in entries]

    def _render_one(self, session_id: str, entry: JournalEntry) -> Fragment:
        key = f"{session_id} {entry.chain}"
        if key not in self._kept:
            self._kept[key] = make_fragment(session_id, entry)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


def make_fragment(session_id: str, entry: JournalEntry, *, live: bool = True) -> Fragment:
    """`live`: the prompt and the raw reply are fetched when somebody opens them; else they are in the HTML."""
    turn = read_turn(entry)
    return _render_event(entry) if turn is None else _render_turn(session_id, entry, turn, live)


def _render_turn(session_id: str, entry: JournalEntry, turn: LaneTurn, live: bool) -> Fragment:
    value = as_table(entry.value)
    exchange = as_table(value.get("exchange"))
    reply = as_table(exchange.get("reply"))
    # Each tool use is a part between two replies, so a reply is an even part only when asked again.
    again = "" if entry.part <= 1 else "after a tool" if entry.part % 2 else "asked again"
    html = render_template(
        "turn.html", entry=entry, turn=turn, call=as_table(value.get("call")), exchange=exchange, reply=reply,
        usage=as_table(reply.get("usage")), again=again, session_id=session_id, live=live,
        failures=list(list_failures(exchange)),
    )  # fmt: skip
    return Fragment(entry.entry, html, False, 0, turn)


def _render_event(entry: JournalEntry) -> Fragment:
    refresh = entry.kind != "step" or entry.name in REFRESHING or entry.name.startswith("choose ")
    automatic = entry.name == "gate" and as_table(entry.value).get("how") == "automatic"
    if entry.kind in ("claimed", "begun") or automatic:
        return Fragment(entry.entry, Markup(), entry.kind == "claimed")
    title, lines = describe_entry(entry)
    title = TITLES.get(entry.name, title) if entry.kind == "step" else title
    html = render_template("event.html", entry=entry, title=title, lines=lines, anchor=anchor_of(entry))
    return Fragment(entry.entry, html, refresh, entry.seq if entry.kind == "dropped" else 0)
