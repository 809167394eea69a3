"""Plots of a run as SVG, drawn here: accuracy against cost, what each part moved, calibration."""

import math
from collections.abc import Sequence
from html import escape

from moot.surfaces.bench.metrics import ArmComparison, ArmFigures, BenchFigures

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 52, 196, 20, 46
COLOURS = 8
"""Classes `c0` to `c7` of the style sheet."""
LINE = 17
ASIDE = 8
STYLE = """
body { max-width: 66rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption { font-weight: bold; margin-bottom: 0.3rem; }
svg { width: 100%; min-width: 34rem; max-width: 44rem; height: auto; font: 12px system-ui, sans-serif; }
svg text { fill: currentColor; } svg .axis { stroke: currentColor; stroke-width: 1; opacity: 0.6; }
svg .grid { stroke: currentColor; stroke-width: 1; opacity: 0.15; } svg .lead { stroke: currentColor; opacity: 0.3; }
svg .bar { stroke-width: 2; } svg .faint { opacity: 0.7; }
.c0 { fill: #1f5fbf; stroke: #1f5fbf; } .c1 { fill: #b2500c; stroke: #b2500c; } .c2 { fill: #2b7a3d; stroke: #2b7a3d; }
.c3 { fill: #8a2f8f; stroke: #8a2f8f; } .c4 { fill: #a3120f; stroke: #a3120f; } .c5 { fill: #0f7f86; stroke: #0f7f86; }
.c6 { fill: #6b5b00; stroke: #6b5b00; } .c7 { fill: #555; stroke: #555; }
table { display: block; overflow-x: auto; max-width: 100%; } td, th { white-space: nowrap; overflow-wrap: normal; }
@media (max-width: 40rem) { svg { min-width: 0; font-size: 14px; } }
@media (prefers-color-scheme: dark) {
.c0 { fill: #7fb0ff; stroke: #7fb0ff; } .c1 { fill: #ffae70; stroke: #ffae70; } .c2 { fill: #7ad18b; stroke: #7ad18b; }
.c3 { fill: #dd9be2; stroke: #dd9be2; } .c4 { fill: #ff8a80; stroke: #ff8a80; } .c5 { fill: #6fd3da; stroke: #6fd3da; }
.c6 { fill: #d9c750; stroke: #d9c750; } .c7 { fill: #bbb; stroke: #bbb; } }
"""


def draw_plots(figures: BenchFigures) -> str:
    """The plots that the figures allow, each with its caption."""
    shown = [arm for arm in figures.arms if arm.right.of]
    drawn = [_figure("Accuracy against mean cost, with 95 % intervals", draw_accuracy(shown))] if shown else []
    if figures.parts:
        drawn.append(_figure("What each part changed, in points", draw_differences(figures.parts)))
    if others := [each for each in figures.comparisons if each.tasks]:
        drawn.append(_figure(f"{figures.reference} against each other arm, in points", draw_differences(others)))
    if stated := [arm for arm in figures.arms if arm.calibration]:
        drawn.append(_figure("Stated confidence against the share that is right", draw_calibration(stated)))
    return "\n".join(drawn)


def _figure(title: str, svg: str) -> str:
    return f"<figure>\n<figcaption>{escape(title)}</figcaption>\n{svg}\n</figure>"


def _svg(parts: Sequence[str], title: str, height: int = HEIGHT) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">'
    return "\n".join((head, f"<title>{escape(title)}</title>", *parts, "</svg>"))


def _text(x: float, y: float, words: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _dot(x: float, y: float, kind: str, radius: float = 5) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" class="{kind}"/>'


def pick_ticks(most: float, steps: int = 8) -> list[float]:
    """Round numbers from 0 to the first beyond `most`, in at most so many steps."""
    if most <= 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(most / steps))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * steps >= most)
    return [step * place for place in range(math.ceil(most / step - 1e-9) + 1)]


def _signed(value: float) -> str:
    return f"{value:+g}" if value else "0"


def spread_labels(wanted: Sequence[float], low: float, high: float) -> list[float]:
    """Heights for labels that do not cover each other, near the wanted ones; in the order given."""
    order = sorted(range(len(wanted)), key=lambda n: wanted[n])
    placed: list[float] = []
    for place, index in enumerate(order):
        least = placed[-1] + LINE if placed else low
        most = high - LINE * (len(order) - 1 - place)
        placed.append(max(least, min(wanted[index], most)))
    found = [0.0] * len(wanted)
    for index, height in zip(order, placed, strict=True):
        found[index] = height
    return found


def draw_accuracy(arms: Sequence[ArmFigures]) -> str:
    ticks = pick_ticks(max(arm.calls for arm in arms))
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def across(calls: float) -> float:
        return LEFT + wide * calls / ticks[-1]

    def up(share: float) -> float:
        return TOP + high * (1 - share)

    parts = [_line(LEFT, up(n / 4), LEFT + wide, up(n / 4), "grid") for n in range(5)]
    parts += [_text(LEFT - 6, up(n / 4) + 4, f"{25 * n} %", "end") for n in range(5)]
    parts += [_text(across(each), TOP + high + 16, f"{each:g}", "middle") for each in ticks]
    parts += [_line(LEFT, TOP + high, LEFT + wide, TOP + high, "axis"), _line(LEFT, TOP, LEFT, TOP + high, "axis")]
    parts.append(_text(LEFT + wide / 2, HEIGHT - 8, "mean calls a task", "middle"))
    heights = spread_labels([up(arm.right.value or 0.0) for arm in arms], TOP + 6, TOP + high)
    for place, (arm, label) in enumerate(zip(arms, heights, strict=True)):
        # Arms at equal cost would cover each other: each is drawn a little to the left of the one before.
        covered = sum(abs(across(other.calls) - across(arm.calls)) < ASIDE for other in arms[:place])
        x, y, kind = across(arm.calls) - ASIDE * covered, up(arm.right.value or 0.0), f"c{place % COLOURS}"
        parts.append(_line(x, up(arm.right.low), x, up(arm.right.high), f"bar {kind}"))
        parts.append(_dot(x, y, kind))
        parts.append(_line(x + 6, y, LEFT + wide + 10, label, "lead"))
        parts.append(_dot(LEFT + wide + 16, label, kind, 4))
        parts.append(_text(LEFT + wide + 24, label + 4, f"{cut_name(arm.arm)} {100 * (arm.right.value or 0):.0f} %"))
    return _svg(parts, "Accuracy of each arm against its mean calls")


def cut_name(name: str, most: int = 18) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def draw_differences(found: Sequence[ArmComparison]) -> str:
    """A line for each comparison: the difference and its interval, with zero marked."""
    left, right, row = 206, 70, 30
    most = max(5.0, *(abs(value) for each in found for value in (each.low, each.high, each.points)))
    edge = pick_ticks(most, 4)[-1]
    wide, height = WIDTH - left - right, TOP + row * len(found) + 40

    def across(points: float) -> float:
        return left + wide * (points + edge) / (2 * edge)

    bottom = TOP + row * len(found)
    parts = [_line(across(n * edge / 2), TOP, across(n * edge / 2), bottom, "grid") for n in range(-2, 3)]
    parts += [_text(across(n * edge / 2), bottom + 16, _signed(n * edge / 2), "middle") for n in range(-2, 3)]
    parts.append(_line(across(0), TOP, across(0), bottom, "axis"))
    for place, each in enumerate(found):
        y = TOP + row * (place + 0.5)
        kind = "c7" if each.adjusted >= 0.05 else "c2" if each.points > 0 else "c4"
        name = f"{cut_name(each.arm)} − {cut_name(each.against)}" if each.arm.startswith("adaptive") else each.arm
        parts.append(_text(left - 8, y + 4, cut_name(name, 28), "end"))
        parts.append(_line(across(each.low), y, across(each.high), y, f"bar {kind}"))
        parts.append(_dot(across(each.points), y, kind))
        parts.append(_text(left + wide + 8, y + 4, f"{each.points:+.1f}"))
    parts.append(_text(left + wide / 2, height - 6, "points; grey: not significant", "middle", ' class="faint"'))
    return _svg(parts, "Differences between arms in points", height)


def draw_calibration(arms: Sequence[ArmFigures]) -> str:
    size = HEIGHT - TOP - BOTTOM

    def across(share: float) -> float:
        return LEFT + size * share

    def up(share: float) -> float:
        return TOP + size * (1 - share)

    parts = [_line(LEFT, up(n / 4), LEFT + size, up(n / 4), "grid") for n in range(5)]
    parts += [_text(LEFT - 6, up(n / 4) + 4, f"{25 * n} %", "end") for n in range(5)]
    parts += [_text(across(n / 4), TOP + size + 16, f"{25 * n} %", "middle") for n in range(5)]
    parts += [_line(across(0), up(0), across(1), up(1), "axis")]
    parts.append(_text(LEFT + size / 2, HEIGHT - 8, "stated confidence", "middle"))
    for place, arm in enumerate(arms):
        kind, calibration = f"c{place % COLOURS}", arm.calibration
        assert calibration is not None
        for each in calibration.bins:
            x = across(each["stated"])
            parts.append(_line(x, up(each["right_low"]), x, up(each["right_high"]), f"bar {kind}"))
            parts.append(_dot(x, up(each["right"]), kind, min(4 + each["count"] ** 0.5, 12)))
        y = TOP + 12 + LINE * place
        parts.append(_dot(LEFT + size + 24, y, kind, 4))
        said = f"{cut_name(arm.arm)}: Brier {calibration.brier:.3f} ({calibration.rows} answers)"
        parts.append(_text(LEFT + size + 34, y + 4, said))
    parts.append(_text(LEFT + size + 18, TOP + size - 4, "on the line: as right as stated", "start", ' class="faint"'))
    return _svg(parts, "Stated confidence against the share that is right")
