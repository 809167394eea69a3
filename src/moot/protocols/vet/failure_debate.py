"""Debate about a task that keeps failing: why, what next, what was overlooked, must a person take over."""

from dataclasses import replace

from moot.core.room import Ask, Room
from moot.protocols.vet.judgement import drop_empty_words, echoes, repeats, substantial
from moot.protocols.vet.positions import BlindSpot, Diagnosis
from moot.protocols.vet.prompts import prompt
from moot.protocols.vet.synthesis import FailureCase, matches_errors, of_failure
from moot.protocols.vet.verdict import (
    REPLY_TOKENS,
    VetInput,
    VetResult,
    is_settled,
    present,
    render_case,
    render_notices,
    verdict,
)
from moot.text.render import fence_text
from moot.text.replies import instructions


async def after_failure(given: VetInput, room: Room) -> VetResult:
    text = prompt("diagnose", failures=render_case(given, room), form=instructions(Diagnosis))
    asked = Ask("advocate", "diagnosis", 1, prompt("advocate"), text, Diagnosis, REPLY_TOKENS)
    advocate = present(await room.ask(asked))
    if advocate is None:
        room.degrade("the advocate is absent: nobody says how another attempt would differ")
    critic = await ask_failure_critic(given, advocate, room)
    case = FailureCase(critic=critic is not None)
    if critic is not None:
        case = FailureCase(
            critic=True,
            should_escalate=critic.should_escalate,
            blind_spot=bool(drop_empty_words(critic.blind_spot)),
            matches_errors=matches_errors(critic.pattern, given.errors),
            alternatives=any(drop_empty_words(text) for text in critic.alternatives),
        )
        if advocate and not case.should_escalate and not case.blind_spot:
            case = replace(case, substantial=await is_substantial(advocate, given, room))
    return build_failure_result(given, advocate, critic, case)


async def ask_failure_critic(given: VetInput, advocate: Diagnosis | None, room: Room) -> BlindSpot | None:
    position = "nothing: there is no advocate" if advocate is None else render_diagnosis(advocate)
    text = prompt(
        "blindspot",
        failures=render_case(given, room),
        noticed=render_notices(given),
        advocate=position,
        form=instructions(BlindSpot),
    )
    critic = present(await room.ask(Ask("critic", "blind_spot", 1, prompt("critic"), text, BlindSpot, REPLY_TOKENS)))
    if critic is None:
        room.degrade("the critic is absent: nobody looked for what is overlooked")
    elif advocate and is_echo(critic, advocate):
        room.degrade("the critic echoes the advocate; that is no second opinion, and counts as absent")
        return None
    return critic


def is_echo(critic: BlindSpot, advocate: Diagnosis) -> bool:
    own = drop_empty_words(critic.blind_spot) or critic.pattern
    again = echoes(own, advocate.diagnosis) or echoes(own, advocate.fix)
    return again and not [
        text for text in critic.alternatives if drop_empty_words(text) and not echoes(text, advocate.fix)
    ]


def build_failure_result(
    given: VetInput, advocate: Diagnosis | None, critic: BlindSpot | None, case: FailureCase
) -> VetResult:
    rule = of_failure(case)
    other = next((text for text in critic.alternatives if drop_empty_words(text)), "") if critic else ""
    approach = {"RETRY": advocate.fix if advocate else "", "PIVOT": other}.get(rule.resolution, "")
    reason = drop_empty_words(critic.escalate_reason) or critic.pattern if critic else ""
    note = f'the critic: "{reason}"' if reason and rule.resolution == "ESCALATE" else ""
    result = verdict(given, rule.resolution, rule.why, note, rule.limit)
    return result.model_copy(update={"next_approach": approach, "advocate": advocate, "critic": critic, "rounds": 1})


async def is_substantial(advocate: Diagnosis, given: VetInput, room: Room) -> bool:
    if repeats(advocate.fix, given.attempts):
        room.degrade("the advocate proposes what was tried before")
        return False
    question = "Is this a really different approach, not just a small change to what was tried?"
    clear = substantial(advocate.diff_from_previous, given.attempts)
    return await is_settled(clear, question, advocate.diff_from_previous, given, room)


def render_diagnosis(advocate: Diagnosis) -> str:
    lines = (
        f"Diagnosis: {advocate.diagnosis}",
        f"Fix: {advocate.fix}",
        f"Different from before: {advocate.diff_from_previous}",
    )
    return fence_text("\n".join(lines))
