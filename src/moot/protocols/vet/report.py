"""Report of a vetted action."""

from collections.abc import Iterator

from moot.core.report import Block, Bullets, Headline, Report, Tone, count_things, list_figures, order_caveats
from moot.protocols.vet.positions import BlindSpot, Claim, Objection
from moot.protocols.vet.verdict import VetResult

TONES: dict[str, Tone] = {"PROCEED": "good", "ESCALATE": "bad"}


def report_vet(result: VetResult) -> Report:
    blocks: list[Block] = [
        Headline(
            verdict=result.resolution,
            text=f"{result.resolution} ({result.stakes} stakes): {result.rationale}",
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.resolution, "warning"),
        ),
        *_next_steps(result),
        *_advocate(result),
        *_critic(result),
    ]
    if result.debated or result.calls:
        blocks.append(list_figures(result, count_things(result.rounds, "round")))
    return Report(blocks=tuple(blocks))


def _next_steps(result: VetResult) -> Iterator[Block]:
    steps = [f"change: {change}" for change in result.modifications]
    steps += [f"next: {result.next_approach}"] if result.next_approach else []
    if result.next_attempt_limit is not None:
        steps.append(f"attempts before it is vetted again: {result.next_attempt_limit}")
    if steps:
        yield Bullets(entries=tuple(steps))


def _advocate(result: VetResult) -> Iterator[Block]:
    match result.advocate:
        case None:
            return
        case Claim(claim=claim, supports=supports, confidence=confidence):
            sure = "confidence unknown" if confidence is None else f"confidence {confidence:g}"
            yield Bullets(title=f"Advocate ({sure}): {claim}", entries=supports)
        case other:
            reasons = (f"fix: {other.fix}", f"different: {other.diff_from_previous}")
            yield Bullets(title=f"Advocate: {other.diagnosis}", entries=reasons)


def _critic(result: VetResult) -> Iterator[Block]:
    match result.critic:
        case None:
            return
        case Objection(objection=objection, risks=risks, counter=counter, severity=severity):
            instead = [f"instead: {counter}"] if counter else []
            entries = (*(f"risk: {text}" for text in risks), *instead)
            yield Bullets(title=f"Critic (severity {severity}): {objection}", entries=entries)
        case BlindSpot(pattern=pattern, blind_spot=blind_spot, alternatives=alternatives):
            overlooked = [f"overlooked: {blind_spot}"] if blind_spot else []
            entries = (*overlooked, *(f"alternative: {text}" for text in alternatives))
            yield Bullets(title=f"Critic: {pattern}", entries=entries)
