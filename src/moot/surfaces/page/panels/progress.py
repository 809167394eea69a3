"""Consensus, tokens and cost over time, as charts and a table."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from moot.core.types import ModelCall, Spend
from moot.protocols.debate.types import DebateResult, DebateRules
from moot.record.transcript import as_table
from moot.runtime.model_calls import Exchange
from moot.surfaces.page.panels.recorded import RecordedSession

WIDTH, HEIGHT = 400, 100
"""In chart units; the chart is stretched to the available width."""
MOST_CORNERS = 200


@dataclass(frozen=True)
class SpendPoint:
    """Cumulative spending at one answered question."""

    seconds: float
    spend: Spend
    call: ModelCall


@dataclass(frozen=True)
class PhaseSpend:
    name: str
    rounds: tuple[int, ...]
    spend: Spend


@dataclass(frozen=True)
class Chart:
    title: str
    points: str
    """Points of the SVG polyline."""
    area: str
    top: str
    start: str
    end: str
    mark: float | None
    """The y position of the target line."""
    summary: str


@dataclass(frozen=True)
class Progress:
    charts: tuple[Chart, ...]
    phases: tuple[PhaseSpend, ...]
    total: Spend
    consensus: tuple[tuple[int, float, float, float], ...]
    """(round, level, agreement, confidence)."""
    wanted: float | None


def chart_progress(session: RecordedSession) -> Progress | None:
    points = list(_list_spending(session))
    votes = [vote for vote in session.result.votes if vote.ballots] if isinstance(session.result, DebateResult) else []
    levels = tuple((v.round, v.consensus.level, v.consensus.agreement, v.consensus.confidence) for v in votes)
    if not points and not levels:
        return None
    wanted = _find_wanted_consensus(session) if levels else None
    charts = [] if len(levels) < 2 else [_chart_consensus(levels, wanted)]
    charts += _chart_spending(points) if len(points) > 1 else []
    total = points[-1].spend if points else Spend()
    return Progress(tuple(charts), tuple(_sum_phases(points)), total, levels, wanted)


def _list_spending(session: RecordedSession) -> Iterator[SpendPoint]:
    asked = [step for step in session.snapshot.steps if step.name.startswith("ask ")]
    total = Spend()
    for step in sorted(asked, key=lambda step: step.elapsed):
        value = as_table(step.value)
        try:
            call, exchange = ModelCall.model_validate(value.get("call")), Exchange.model_validate(value.get("exchange"))
        except ValidationError:
            continue  # recorded by an earlier version
        if exchange.reply is not None:
            usage = exchange.reply.usage
            total = add_spend(total, Spend(calls=1, **usage.model_dump()))
            yield SpendPoint(step.elapsed, total, call)


def add_spend(one: Spend, two: Spend) -> Spend:
    """An unknown price makes the sum unknown."""
    return Spend(
        calls=one.calls + two.calls,
        input_tokens=one.input_tokens + two.input_tokens,
        output_tokens=one.output_tokens + two.output_tokens,
        usd=None if one.usd is None or two.usd is None else one.usd + two.usd,
    )


def _sum_phases(points: Sequence[SpendPoint]) -> Iterator[PhaseSpend]:
    phases: dict[str, PhaseSpend] = {}
    before = Spend()
    for point in points:
        name = point.call.phase
        known = phases.setdefault(name, PhaseSpend(name, (), Spend()))
        spent = Spend(
            calls=1,
            input_tokens=point.spend.input_tokens - before.input_tokens,
            output_tokens=point.spend.output_tokens - before.output_tokens,
            usd=None if point.spend.usd is None or before.usd is None else point.spend.usd - before.usd,
        )
        rounds = tuple(dict.fromkeys((*known.rounds, point.call.round)))
        phases[name] = replace(known, rounds=rounds, spend=add_spend(known.spend, spent))
        before = point.spend
    yield from phases.values()


def _find_wanted_consensus(session: RecordedSession) -> float | None:
    try:
        return DebateRules.model_validate(session.snapshot.session.config.get("rules")).consensus
    except ValidationError:
        return None


def _chart_consensus(levels: Sequence[tuple[int, float, float, float]], wanted: float | None) -> Chart:
    line = [(float(number), level) for number, level, *_ in levels]
    chart = draw_line("Consensus", line, 1.0, f"round {levels[0][0]}", f"round {levels[-1][0]}", "{:.0%}".format)
    return replace(chart, mark=None if wanted is None else round(HEIGHT * (1 - wanted), 1))


def _chart_spending(points: Sequence[SpendPoint]) -> Iterator[Chart]:
    end = f"{points[-1].seconds:.1f} s"
    tokens = [(p.seconds, float(p.spend.input_tokens + p.spend.output_tokens)) for p in points]
    yield draw_line("Tokens", [(0.0, 0.0), *tokens], tokens[-1][1], "0 s", end, "{:,.0f}".format)
    if points[-1].spend.usd:
        cost = [(p.seconds, p.spend.usd or 0.0) for p in points]
        yield draw_line("Cost", [(0.0, 0.0), *cost], cost[-1][1], "0 s", end, "${:.4f}".format)
    calls = [(p.seconds, float(p.spend.calls)) for p in points]
    yield draw_line("Calls", [(0.0, 0.0), *calls], calls[-1][1], "0 s", end, "{:.0f}".format)


def draw_line(
    title: str, line: Sequence[tuple[float, float]], top: float, start: str, end: str, show: Callable[[float], str]
) -> Chart:
    """A polyline from left to right, scaled to its maximum."""
    left, right = line[0][0], line[-1][0]
    across, up = WIDTH / (right - left or 1), HEIGHT / (top or 1)
    step = max(len(line) // MOST_CORNERS, 1)
    thin = [*line[:-1:step], line[-1]]  # the lines are monotonic, so sampling hides nothing
    corners = [f"{(x - left) * across:.1f},{HEIGHT - y * up:.1f}" for x, y in thin]
    area = " ".join((f"0,{HEIGHT}", *corners, f"{WIDTH},{HEIGHT}"))
    summary = f"{title}: from {show(line[0][1])} at {start} to {show(line[-1][1])} at {end}"
    return Chart(title, " ".join(corners), area, show(top), start, end, None, summary)
