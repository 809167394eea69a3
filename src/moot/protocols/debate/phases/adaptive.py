"""Adaptive spending: drafts, blind tests and argument only while evidence is missing. A budget is a cap, not a plan.

Figures of the defaults: docs/debate.md, "What each call buys".
"""

from collections.abc import Sequence

from moot.evidence.trials.selection import (
    DraftRun,
    Prediction,
    Rating,
    estimate_confidence,
    find_smallest_difference,
    near_tie,
    prefer_first,
    rate_drafts,
)
from moot.evidence.trials.signatures import calls_of_drafts
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.claims import (
    BlindReply,
    SpecReply,
    ask_tests,
    ask_values,
    entry_of,
    match_answers,
    merge_voices,
    parse_claims,
)
from moot.protocols.debate.phases.drafts import ask_draft, enter_draft, list_able
from moot.protocols.debate.phases.redraft import mend_slips, nothing_passes
from moot.protocols.debate.phases.repair import drop
from moot.protocols.debate.phases.run_candidates import baseline, list_run_candidates, run_candidates
from moot.protocols.debate.phases.shape import give_shape
from moot.protocols.debate.phases.tool_acts import compile_candidates, execute_candidates
from moot.protocols.debate.state import DebateState, list_acting
from moot.protocols.debate.types import ARGUE_BELOW, Candidate, ClaimedTest, Member, Phase

PHASE: Phase = "self_evolvement"
FIRST = 2
"""Drafts at the start: 75.8 % right at 4.9 calls with examples; three cost 0.6 calls more and gain nothing."""
ALIKE = 3
"""Drafts without tests end when so many, and all, behave alike: 63.8 % right at 12.5 calls, as at 20."""
STEP = 3
"""Drafts between two replies with blind tests: 15 + 5 of 20 calls."""
SLOW = 20.0
"""Seconds an answer takes from which on drafts are asked for in pairs."""
PAIR = 2
"""Drafts at once from slow models: 5.0 calls a task with examples instead of 4.9, and as many right."""
SETTLE = 2
"""Replies with blind tests where drafts that pass your tests differ: +0.4 points for 0.1 calls."""
TIE_VOICES = 3
"""Seats asked for the value of the smallest call that separates the two best."""
CONTENDERS = 3
"""Behaviours that seats of different models argue about."""


async def spend_adaptively(context: DebateContext) -> str:
    await give_shape(context, PHASE)
    await draft_more(context, FIRST)
    if context.state.candidates:
        if context.state.task.tested:
            await draft_until_one_passes(context)
        else:
            await draft_until_alike(context)
    await hear_testers(context)
    await compile_candidates(context, PHASE)
    settle(context)
    await execute_candidates(context, PHASE)
    return describe_spending(context.state)


async def draft_until_one_passes(context: DebateContext) -> None:
    """One at a time, each run before the next is asked for, or in pairs where models are slow; tests only if those that
    pass differ."""
    most = max(context.state.rules.effort - SETTLE, FIRST)
    while nothing_passes(context.state) and context.state.drafted < most and list_able(context):
        await draft_more(context, min(count_at_once(context), most - context.state.drafted))
    if nothing_passes(context.state):
        await mend_slips(context, PHASE)  # last: a fix may pass an example by chance
    passing = [candidate for candidate in list_run_candidates(context.state) if candidate.checked.green]
    if context.state.comparable and len({candidate.checked.marks for candidate in passing}) > 1:
        await predict_values(context, min(SETTLE, context.state.rules.effort - count_spent(context.state)))


def count_at_once(context: DebateContext) -> int:
    """A pair takes half the time of two in turn, and a second draft is wasted if the first passes."""
    able = list_able(context)
    slowest = max((context.room.latency(member.seat) for member in able), default=0.0)
    return PAIR if slowest >= SLOW and context.state.rules.edition > 2 else 1


async def draft_until_alike(context: DebateContext) -> None:
    """Three drafts and a reply with blind tests at a time, until all drafts behave alike or the effort is spent."""
    if not context.state.comparable:
        return  # nothing could be compared: more drafts would be more opinions
    most = context.state.rules.effort
    await add_inputs(context)
    await draft_more(context, min(ALIKE, most - 1) - context.state.drafted)
    await predict_values(context, min(1, most - count_spent(context.state)))
    while not are_all_alike(context.state) and count_spent(context.state) < most and list_able(context):
        if count_spent(context.state) + STEP + 1 >= most and await settle_tie(context):
            return
        await draft_more(context, min(STEP, most - count_spent(context.state) - 1))
        await predict_values(context, 1)


async def draft_more(context: DebateContext, count: int) -> None:
    """Ask the next seats in turn, all at once. Of each model the first draft is cold, all others warm."""
    able = list_able(context)
    start = context.state.drafted
    speakers = [able[(start + number) % len(able)] for number in range(count)] if able else []
    if not speakers:
        return
    cold = _first_of_models(able)
    warm = context.state.rules.temperature
    heat = [None if start + place in cold else warm for place in range(len(speakers))]
    heats = iter(heat)
    context.update(drafted=start + len(speakers))
    await context.ask_independently(
        PHASE,
        speakers,
        lambda m: ask_draft(m, PHASE, context, next(heats)),
        lambda m, said: enter_draft(m, said, PHASE, context),
    )
    await run_candidates(context)


def _first_of_models(able: Sequence[Member]) -> set[int]:
    seen = dict[str, int]()
    for place, member in enumerate(able):
        seen.setdefault(member.model, place)
    return set(seen.values())


async def add_inputs(context: DebateContext) -> None:
    state = context.state
    language = state.given.language
    calls = calls_of_drafts([c.code for c in state.latest() if c.code], entry_of(state), language=language)
    if not calls and language != "python":
        context.room.degrade("no inputs could be made from the drafts' signatures: only predicted calls are compared")
    context.update(inputs=tuple(dict.fromkeys((*state.inputs, *calls))))
    await run_candidates(context)


async def predict_values(context: DebateContext, replies: int) -> None:
    """Seats that see no code write calls with the values they must return."""
    await predict_by(context, next_voices(context, replies))


async def predict_by(context: DebateContext, voices: Sequence[tuple[str, Member]]) -> None:
    if not voices:
        return
    said = dict[str, list[Prediction]]()
    names = {id(member): name for name, member in voices}

    def take(member: Member, reply: SpecReply) -> None:
        name = names[id(member)]
        said[name] = [
            Prediction(call=e.call, expected=e.expected, voice=name) for e in parse_claims(reply.tests, context.state)
        ]

    warm = context.state.rules.temperature
    first = not context.state.voices
    heats = iter([None if first and not place else warm for place in range(len(voices))])
    await context.ask_independently(
        PHASE,
        [member for _, member in voices],
        lambda m: ask_tests(m, PHASE, context, next(heats)),
        take,
        tools=False,  # only the task's words: what code does is no evidence of what it should do
    )
    await enter_predictions(context, [name for name, _ in voices], [p for made in said.values() for p in made])


def next_voices(context: DebateContext, count: int) -> list[tuple[str, Member]]:
    """Seats in turn, test agents first; a seat asked again is another voice, and named so."""
    able, start = order_testers(context), len(context.state.voices)
    found = []
    for number in range(start, start + count if able else start):
        member, again = able[number % len(able)], number // len(able)
        # A copy with its own name, because the same seat may be asked twice at once.
        found.append((f"{member.seat} ({again + 1})" if again else member.seat, member.model_copy()))
    return found


def order_testers(context: DebateContext) -> list[Member]:
    able = list_able(context)
    return sorted(able, key=lambda m: m.role != "test_agent") if context.state.rules.edition > 1 else able


async def enter_predictions(context: DebateContext, voices: Sequence[str], made: Sequence[Prediction]) -> None:
    state = context.state
    every = (*state.predictions, *made)
    context.update(
        predictions=every, voices=(*state.voices, *voices), claims=merge_voices(state, every), specified=True
    )
    await run_candidates(context)


async def hear_testers(context: DebateContext) -> None:
    """A test agent that was not among the voices so far writes its tests all the same; what candidates fail is said."""
    state = context.state
    own = [m for m in list_acting(state, "test_agent") if m in list_able(context) and m.seat not in state.voices]
    if state.comparable and state.candidates and count_spent(state) < state.rules.effort:
        await predict_by(context, [(member.seat, member.model_copy()) for member in own])


async def settle_tie(context: DebateContext) -> bool:
    """Ask for the value of the smallest call that separates the two best, without showing any value."""
    runs = list_runs(context.state)
    pair = near_tie(rate_candidates(context.state), runs)
    by_name = {run.name: run for run in runs}
    call = find_smallest_difference(by_name[pair[0]], by_name[pair[1]]) if pair else ""
    voices = next_voices(context, min(TIE_VOICES, context.state.rules.effort - count_spent(context.state)))
    if not call or len(voices) < 2:
        return False
    asked = ClaimedTest(id="T0", call=call, expected="", by=())
    names = {id(member): name for name, member in voices}
    made = list[Prediction]()

    def take(member: Member, reply: BlindReply) -> None:
        name = names[id(member)]
        for value in match_answers(reply.answers, [asked]).values():
            made.append(Prediction(call=call, expected=value, voice=name))

    warm = context.state.rules.temperature
    await context.ask_independently(
        PHASE, [member for _, member in voices], lambda m: ask_values(m, PHASE, [asked], context, warm), take,
        tools=False,
    )  # fmt: skip
    await enter_predictions(context, [name for name, _ in voices], made)
    return True


def count_spent(state: DebateState) -> int:
    return state.drafted + len(state.voices)


def list_runs(state: DebateState) -> list[DraftRun]:
    run = list_run_candidates(state)
    passing = [candidate for candidate in run if candidate.checked.green]
    return [DraftRun(candidate.id, candidate.checked.answers) for candidate in passing or run]


def rate_candidates(state: DebateState) -> tuple[Rating, ...]:
    """Your tests first: if some pass them, only those are compared."""
    return rate_drafts(list_runs(state), state.predictions)


def are_all_alike(state: DebateState) -> bool:
    """All drafts return something, and the same for every call."""
    ratings = rate_candidates(state)
    top = ratings[0] if ratings else None
    return top is not None and top.drafts >= ALIKE and top.alike == top.drafts and top.answered > 0


def settle(context: DebateContext) -> None:
    """Rate the drafts and keep the best; where seats of different models may argue, the best of each behaviour."""
    state = context.state
    if not state.latest():
        return
    if state.baseline.candidate is None:
        context.update(baseline=baseline(state, state.given.team).model_copy(update={"calls": state.drafted}))
    ratings = rate_candidates(state)
    if not state.task.tested and state.rules.edition > 2:
        ratings = prefer_first(ratings, state.candidates[0].id)
    context.update(ratings=ratings)
    kept = choose_kept(context.state, ratings)
    for candidate in context.state.latest():
        if candidate.id not in kept:
            drop(context, candidate.id, why_dropped(candidate, kept, context.state))
    top = next((rating for rating in ratings if rating.name == kept[0]), None)
    if top and has_evidence(top) and not state.task.tested:
        context.update(sure=estimate_confidence(top))


def choose_kept(state: DebateState, ratings: Sequence[Rating]) -> list[str]:
    """The best by your tests, then by rating; if it may be argued about, also the best of other behaviours."""
    place = {rating.name: at for at, rating in enumerate(ratings)}
    order = sorted(state.latest(), key=lambda c: place.get(c.id, len(place)))
    order.sort(key=lambda c: c.checked.rank[:4], reverse=True)
    marks = list[tuple[str, ...]]()
    kept = list[str]()
    for candidate in order:
        if candidate.checked.marks not in marks or not candidate.checked.was_run:
            marks.append(candidate.checked.marks)
            kept.append(candidate.id)
    best = next((rating for rating in ratings if rating.name == kept[0]), None)
    return kept[:CONTENDERS] if may_argue(state, best) else kept[:1]


def may_argue(state: DebateState, best: Rating | None) -> bool:
    """Opinions of one model moved nothing in 560 tasks. Those of two made 2 choices right and 5 wrong in 59 tasks, for
    11 calls more: they are heard where there is no evidence, or where drafts fail your tests."""
    if len({member.model for member in state.given.team}) < 2 or (state.task.tested and not nothing_passes(state)):
        return False
    below = ARGUE_BELOW if state.task.tested else state.rules.argue_below
    return best is None or not has_evidence(best) or estimate_confidence(best) < below


def has_evidence(rating: Rating) -> bool:
    """Something was compared: a prediction, or another draft that behaves like it."""
    return rating.answered > 0 and (rating.of > 0 or rating.alike > 1)


def why_dropped(candidate: Candidate, kept: Sequence[str], state: DebateState) -> str:
    best = state.candidate(kept[0])
    if candidate.checked.was_run and candidate.checked.marks == best.checked.marks:
        return f"behaves like {best.id}"
    if candidate.checked.rank[:4] < best.checked.rank[:4]:
        return f"passes fewer of {state.tests_in_words} than {best.id}"
    scores = {rating.name: rating.score for rating in state.ratings}
    if scores.get(candidate.id, 0.0) > scores.get(best.id, 0.0):
        return f"nearly tied with {best.id}, the first draft, which is right more often"
    return f"fewer drafts and blind tests speak for it than for {best.id}"


def describe_spending(state: DebateState) -> str:
    drafts = len([c for c in state.candidates if c.phase == PHASE])
    tests = f", {len(state.predictions)} blind tests by {len(state.voices)} replies" if state.voices else ""
    return f"{drafts} drafts{tests}"
