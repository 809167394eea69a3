"""Tests derived from the task by seats that saw no solution; they count only where seats agree."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.evidence.trials.examples import examples_in, find_called_name
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.requirements import MOST as REQUIRED
from moot.evidence.trials.selection import Prediction
from moot.evidence.trials.values import Example, same_value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, system
from moot.protocols.debate.types import ClaimedTest, Member, Phase
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions

MOST = 5
REPLY_TOKENS = 700
CALLED = re.compile(r"\b([A-Za-z_]\w*)\(")
NUMBER = re.compile(r"\d+")
NUMBERED = re.compile(r"#\s*(\d+)\W*$")
UNKNOWN = re.compile(r"\W*(?:unknown|not (?:said|specified|defined)|unclear|n/?a)\b.*", re.IGNORECASE | re.DOTALL)


class SpecReply(Value):
    tests: Annotated[tuple[str, ...], Aliases("asserts", "cases", "calls")] = Field(
        description="call == value, such as f(2) == 4", json_schema_extra={"maxItems": REQUIRED}
    )


class BlindReply(Value):
    answers: Annotated[dict[str, str], ExampleKeys("1", "2"), Aliases("values", "results")] = Field(
        description="the value that the call must return"
    )


def temperatures(speakers: Sequence[Member], warm: float) -> dict[str, float | None]:
    """The first seat of each model uses its default temperature, the others vary: one model's repeated answer to one
    prompt is not two opinions."""
    seen = set[str]()
    found: dict[str, float | None] = {}
    for member in speakers:
        found[member.seat] = warm if member.model in seen else None
        seen.add(member.model)
    return found


async def specify_tests(context: DebateContext, phase: Phase, speakers: Sequence[Member]) -> None:
    """Every speaker writes tests from the task's words; a test that two seats write counts."""
    said, about = dict[str, list[Example]](), dict[str, str]()

    def take(member: Member, reply: SpecReply) -> None:
        said[member.seat] = parse_claims(reply.tests, context.state)
        for line in reply.tests:
            about.update(
                {test.call: requirement_of(line, context.state) for test in parse_claims([line], context.state)}
            )

    warm = temperatures(speakers, context.state.rules.temperature)
    await context.ask_independently(
        phase,
        speakers,
        lambda m: ask_tests(m, phase, context, warm[m.seat]),
        take,
        tools=False,  # only the task's words: what code does is no evidence of what it should do
    )
    claims = merge_claims(context.state, said)
    named = (c if c.requirement else c.model_copy(update={"requirement": about.get(c.call, "")}) for c in claims)
    context.update(claims=tuple(named), specified=True)


def requirement_of(line: str, state: DebateState) -> str:
    """The requirement whose number follows a test."""
    found = NUMBERED.search(line)
    place = int(found[1]) if found else 0
    return state.requirements[place - 1] if 0 < place <= len(state.requirements) else ""


def ask_tests(member: Member, phase: Phase, context: DebateContext, warm: float | None) -> Ask[SpecReply]:
    text = prompt(
        "spec",
        task=brief(context.state),
        examples=render_examples(context),
        requirements=render_requirements(context.state),
        most=str(max(MOST, len(context.state.requirements))),
        form=form_of(SpecReply, context.state),
    )
    who, number = system(member, "tester"), context.state.round
    return Ask(member.seat, phase, number, who, text, SpecReply, REPLY_TOKENS, temperature=warm)


def render_requirements(state: DebateState) -> str:
    lines = "\n".join(f"{number}. {text}" for number, text in enumerate(state.requirements, 1))
    head = "Give at least one call for each of these requirements, and end its line with # and the number:"
    return f"{head}\n\n{fence_text(lines, 'text')}\n\n" if lines else ""


def render_examples(context: DebateContext) -> str:
    parts = [TextPart(f"example {e.call}", f"{e.call} == {e.raises or e.expected}") for e in context.state.examples]
    lines = show(fit_parts(parts, context.room.allowance() // 4), "the seats", context.room).join()
    return f"Examples that are known:\n\n{fence_text(lines, 'text')}\n\n" if lines else ""


def parse_claims(lines: Sequence[str], state: DebateState) -> list[Example]:
    """Lines that call the task's own function with a literal result."""
    entry = entry_of(state)
    language = state.given.language
    found = [e for line in lines for e in examples_in(line.strip().removeprefix("assert "), entry, language=language)]
    return [e for e in found if e.expected and notation_of(language).unify_call(e.call) is not None]


def entry_of(state: DebateState) -> str:
    """The task's function: from its examples, its code, or the first that its words name."""
    called = [find_called_name(example.call) for example in state.examples]
    return next(iter((*called, *state.task.names, *CALLED.findall(state.task.text))), "")


def form_of(shape: type[Value], state: DebateState) -> str:
    """The form with the task's own function in it: a small model tests the one it is shown."""
    return _with_notation(instructions(shape), state)


def pattern_of(state: DebateState) -> str:
    """How a test is written."""
    return notation_of(state.given.language if state.comparable else "python").pattern


def _with_notation(form: str, state: DebateState) -> str:
    """In the words of the task's language."""
    name = entry_of(state) or "f"
    if not state.comparable:
        return form.replace("f(2) == 4", f"{name}(2) == 4")
    notation = notation_of(state.given.language)
    sample = notation.sample.replace("f(", f"{name}(")
    form = form.replace("f(2) == 4", sample).replace("call == value", pattern_of(state))
    return f"{form}\n\n{notation.advice}" if notation.advice else form


def merge_claims(state: DebateState, said: Mapping[str, Sequence[Example]]) -> tuple[ClaimedTest, ...]:
    """Merge old and new claims; each call once, with who says what about it."""
    voices: dict[str, dict[str, tuple[str, Example]]] = {}
    for seat, examples in said.items():
        for example in examples:
            voices.setdefault(example.call, {}).setdefault(seat, (example.expected, example))
    known = {claim.call for claim in state.claims}
    given = {example.call: example for example in state.examples}
    claims = list(state.claims)
    for call, votes in voices.items():
        if call in known:
            continue
        claim = _claim(f"T{len(claims) + 1}", call, votes)
        known_one = given.get(call)
        if known_one is None:
            claims.append(judge_claim(claim))
        elif not same_value(known_one.expected, claim.expected):
            why = "contradicts an example of the task"
            claims.append(claim.model_copy(update={"status": "invalid", "why": why}))
        # else it repeats that example
    return tuple(claims)


def merge_voices(state: DebateState, predictions: Sequence[Prediction]) -> tuple[ClaimedTest, ...]:
    """All predictions so far as claims, with who says what."""
    said: dict[str, list[Example]] = {}
    for made in predictions:
        said.setdefault(made.voice, []).append(Example(call=made.call, expected=made.expected, origin="agent"))
    return merge_claims(replace(state, claims=()), said)


def _claim(name: str, call: str, votes: Mapping[str, tuple[str, Example]]) -> ClaimedTest:
    values = [value for value, _ in votes.values()]
    top = max(values, key=lambda value: sum(same_value(value, other) for other in values))
    by = tuple(seat for seat, (value, _) in votes.items() if same_value(value, top))
    against = tuple(seat for seat in votes if seat not in by)
    return ClaimedTest(id=name, call=call, expected=top, by=by, against=against)


def judge_claim(claim: ClaimedTest) -> ClaimedTest:
    """It counts if two seats say the same independently, and more than say otherwise."""
    if len(claim.by) >= 2 and len(claim.by) > len(claim.against):
        return claim.model_copy(update={"status": "agreed", "why": f"{len(claim.by)} seats say so independently"})
    if claim.against:
        return claim.model_copy(update={"status": "disputed", "why": "seats say different things of it"})
    return claim.model_copy(update={"status": "alone", "why": "only one seat says so"})


async def ask_blind(
    context: DebateContext, phase: Phase, claims: Sequence[ClaimedTest], speakers: Sequence[Member]
) -> None:
    """Put the calls without their values to seats that did not write them; their answers count for or against."""
    if not claims or not speakers:
        return
    answers: dict[str, dict[str, str]] = {}
    warm = temperatures(speakers, context.state.rules.temperature)
    await context.ask_independently(
        phase,
        speakers,
        lambda m: ask_values(m, phase, claims, context, warm[m.seat]),
        lambda m, said: answers.update({m.seat: match_answers(said.answers, claims)}),
        tools=False,
    )
    changed = {claim.id: _weigh_claim(claim, answers) for claim in claims}
    context.update(claims=tuple(changed.get(claim.id, claim) for claim in context.state.claims))


def _weigh_claim(claim: ClaimedTest, answers: Mapping[str, Mapping[str, str]]) -> ClaimedTest:
    by, against = list(claim.by), list(claim.against)
    for seat, values in answers.items():
        value = values.get(claim.call)
        if value is None or seat in by or seat in against:
            continue
        (by if same_value(claim.expected, value) else against).append(seat)
    return judge_claim(claim.model_copy(update={"by": tuple(by), "against": tuple(against)}))


def ask_values(
    member: Member, phase: Phase, claims: Sequence[ClaimedTest], context: DebateContext, warm: float | None
) -> Ask[BlindReply]:
    calls = "\n".join(f"{n}. {claim.call}" for n, claim in enumerate(claims, 1))
    text = prompt(
        "blind",
        task=brief(context.state),
        examples=render_examples(context),
        calls=f"Calls:\n\n{fence_text(calls, 'text')}",
        form=_with_notation(instructions(BlindReply), context.state),
    )
    who, number = system(member, "tester"), context.state.round
    return Ask(member.seat, phase, number, who, text, BlindReply, REPLY_TOKENS, temperature=warm)


def match_answers(answers: Mapping[str, str], claims: Sequence[ClaimedTest]) -> dict[str, str]:
    """Answers by call; "unknown" is not an answer."""
    found: dict[str, str] = {}
    for key, value in answers.items():
        place = NUMBER.search(key)
        if place and 0 < int(place[0]) <= len(claims) and not UNKNOWN.fullmatch(value.strip()):
            found[claims[int(place[0]) - 1].call] = value.strip().strip("`")
    return found
