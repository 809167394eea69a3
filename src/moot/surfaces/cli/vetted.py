"""How a vetted action is shown: to a person, as JSON, or as CSP/1 lines."""

from moot.core.types import Result
from moot.protocols.vet.positions import BlindSpot, Claim, Objection
from moot.protocols.vet.script import VetResult
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import out, plain, print_json, spent_lines, write_text
from moot.surfaces.vetting import exit_code, remembered
from moot.text.controls import clean
from moot.text.csp import Synthesis, write_synthesis
from moot.text.secrets import Vault


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Remember the debate, show it, and give the exit code."""
    assert isinstance(result, VetResult)
    return show(remembered(plan, result), ending)


def show(result: VetResult, ending: Ending) -> int:
    if ending.csp:
        write_text(f"{clean(write_synthesis(synthesis(result)))}\n")
    elif ending.json:
        print_json(result)
    else:
        _show(result)
    return exit_code(result)


def synthesis(result: VetResult) -> Synthesis:
    return Synthesis(
        result.resolution,
        result.rationale,
        result.modifications,
        result.next_approach,
        result.escalate_to,
        result.next_attempt_limit,
    )


def _show(result: VetResult) -> None:
    console = out()
    console.print(plain(headline(result)))
    for change in result.modifications:
        console.print(plain(f"  change: {change}"))
    if result.next_approach:
        console.print(plain(f"  next: {result.next_approach}"))
    if result.next_attempt_limit is not None:
        console.print(plain(f"  attempts before it is vetted again: {result.next_attempt_limit}"))
    for line in positions(result):
        console.print(plain(line))
    if result.degraded:
        console.print(plain("\nWeaker than asked for"))
        for note in result.degraded:
            console.print(plain(f"- {note}"))
    if result.debated or result.calls:
        console.print()
        for line in spent_lines(result):
            console.print(plain(line))
        console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def headline(result: VetResult) -> str:
    """The first line: the resolution, why, and on what it rests."""
    fallbacks = [note for note in result.degraded if "absent" in note or "echoes" in note]
    weak = f"; rests on a fallback: {fallbacks[0]}" if fallbacks else ""
    if result.degraded and not fallbacks:
        weak = f"; weaker than asked for: {result.degraded[0]}"
    return f"{result.resolution} ({result.stakes} stakes): {result.rationale}{weak}"


def positions(result: VetResult) -> list[str]:
    lines = []
    match result.advocate:
        case Claim(claim=claim, supports=supports, confidence=confidence):
            sure = "confidence unknown" if confidence is None else f"confidence {confidence:g}"
            lines += [f"\nAdvocate ({sure}): {claim}", *(f"- {text}" for text in supports)]
        case None:
            pass
        case other:
            lines += [f"\nAdvocate: {other.diagnosis}", f"- fix: {other.fix}"]
            lines += [f"- different: {other.diff_from_previous}"]
    match result.critic:
        case Objection(objection=objection, risks=risks, counter=counter, severity=severity):
            lines += [f"\nCritic (severity {severity}): {objection}", *(f"- risk: {text}" for text in risks)]
            lines += [f"- instead: {counter}"] if counter else []
        case BlindSpot(pattern=pattern, blind_spot=blind_spot, alternatives=alternatives):
            lines += [f"\nCritic: {pattern}", *([f"- overlooked: {blind_spot}"] if blind_spot else [])]
            lines += [f"- alternative: {text}" for text in alternatives]
        case None:
            pass
    return lines
