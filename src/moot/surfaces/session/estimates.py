"""Estimates a session's cost before any model is asked: calls by its rules, tokens and dollars by its models."""

import json
import os
from collections.abc import Iterable

from pydantic import Field

from moot.core.report import Figures, Headline, Report, count_things
from moot.core.types import Value
from moot.edge.models import find_cost
from moot.protocols import PROTOCOLS
from moot.runtime.runner import SessionPlan
from moot.surfaces.session.settings import endpoints_in
from moot.text.render import estimate_tokens

FRAME = 1200
"""Tokens of a prompt besides its material: role, instructions, reply format."""
USUAL_REPLY = 800


class CostRange(Value):
    """The usual value, if every question is answered at once, and the maximum. None: unknown."""

    usual: float | None
    most: float | None


class Estimate(Value):
    protocol: str
    models: tuple[str, ...] = Field(description="of its seats, fallbacks too")
    least_calls: int
    calls: CostRange
    tokens: CostRange
    usd: CostRange
    unpriced: tuple[str, ...] = Field(default=(), description="models whose price is not known")


def estimate_plan(plan: SessionPlan) -> Estimate:
    """Runs nothing and asks no model. Applies the limits of the plan."""
    protocol, limits = PROTOCOLS[plan.protocol], plan.limits
    seats = {seat: chain for seat, chain in plan.seats.items() if chain}
    models = tuple(sorted({name for chain in seats.values() for name in chain}))
    rules = protocol.rules.model_validate(plan.rules)
    found = protocol.estimate and protocol.estimate(protocol.input.model_validate(plan.input), rules, set(seats))
    # An unreadable reply is asked for once more, and each tool use is a call.
    times = 2 + (limits.tool_calls if getattr(rules, "tools", ()) else 0)
    most = _least(found.most * times if found else None, limits.max_calls)
    usual = _least(found.most if found else None, most)
    material = estimate_tokens(json.dumps(plan.input, ensure_ascii=False))
    asked = min(material, limits.prompt_tokens) + FRAME, limits.prompt_tokens + FRAME
    said = min(USUAL_REPLY, limits.reply_tokens), limits.reply_tokens
    prices = {name: [_price(plan, name, *each) for each in zip(asked, said, strict=True)] for name in models}
    unpriced = tuple(name for name in models if None in prices[name])
    cost = [_multiply(calls, None if unpriced else _highest(prices, n)) for n, calls in enumerate((usual, most))]
    return Estimate(
        protocol=plan.protocol,
        models=models,
        least_calls=min(found.least if found else 0, limits.max_calls if limits.max_calls is not None else 10**9),
        calls=CostRange(usual=usual, most=most),
        tokens=CostRange(
            usual=_least(_multiply(usual, asked[0] + said[0]), limits.max_tokens),
            most=_least(_multiply(most, asked[1] + said[1]), limits.max_tokens),
        ),
        usd=CostRange(usual=_least(cost[0], limits.max_usd), most=_least(cost[1], limits.max_usd)),
        unpriced=unpriced,
    )


def report_estimate(estimate: Estimate) -> Report:
    if not estimate.models:
        return Report(
            blocks=(Headline(verdict="estimate", text=f"{estimate.protocol} asks no model: it costs nothing"),)
        )
    calls, tokens, usd = estimate.calls, estimate.tokens, estimate.usd
    text = f"{estimate.protocol} would make {_range(estimate.least_calls, calls.usual)}, {_dollars(usd.usual)}"
    entries = (
        ("calls", _bounds(calls, "{:.0f}") + ", if every reply has to be requested twice"),
        ("tokens", _bounds(tokens, "{:,.0f}")),
        ("cost", _bounds(usd, "${:.4f}")),
        ("models", ", ".join(estimate.models)),
    )
    caveats = tuple(f"the price of {name} is not known" for name in estimate.unpriced)
    return Report(blocks=(Headline(verdict="estimate", text=text, caveats=caveats), Figures(entries=entries)))


def _range(least: int, most: float | None) -> str:
    if most is None:
        return "an unknown number of calls"
    return count_things(int(most), "call") if least >= most else f"{least} to {count_things(int(most), 'call')}"


def _dollars(usd: float | None) -> str:
    return "cost unknown" if usd is None else f"about ${usd:.4f}"


def _bounds(found: CostRange, form: str) -> str:
    if found.usual is None or found.most is None:
        return "unknown"
    return f"about {form.format(found.usual)}, at most {form.format(found.most)}"


def _price(plan: SessionPlan, name: str, asked: int, said: int) -> float | None:
    return find_cost(name, os.environ, asked, said, endpoints_in(plan))


def _highest(prices: dict[str, list[float | None]], place: int) -> float:
    return max((price for each in prices.values() if (price := each[place]) is not None), default=0.0)


def _multiply(count: float | None, each: float | None) -> float | None:
    return None if count is None or each is None else count * each


def _least(*values: float | None) -> float | None:
    known: Iterable[float] = [value for value in values if value is not None]
    return min(known, default=None)
