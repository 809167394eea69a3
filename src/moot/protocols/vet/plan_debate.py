"""Debate about a plan: the advocate claims, the critic objects, they may argue on, and the rules decide."""

from dataclasses import dataclass, replace

from moot.core.errors import SessionStopped
from moot.core.room import Ask, Room
from moot.protocols.vet.judgement import actionable, echoes, steps
from moot.protocols.vet.positions import Claim, Objection, Rejoinder
from moot.protocols.vet.prompts import prompt
from moot.protocols.vet.synthesis import PlanCase, of_plan
from moot.protocols.vet.verdict import (
    REPLY_TOKENS,
    VetInput,
    VetResult,
    VetRules,
    cut_short,
    is_settled,
    list_texts,
    present,
    render_case,
    render_notices,
    verdict,
)
from moot.text.render import fence_text
from moot.text.replies import instructions


@dataclass(frozen=True)
class PlanDebate:
    claim: Claim | None
    objection: Objection | None
    rounds: int = 1


async def before_action(given: VetInput, rules: VetRules, room: Room) -> VetResult:
    debate = await opening(given, room)
    try:
        for number in range(2, (1 if given.stakes == "low" else rules.rounds) + 1):
            if debate.objection is None or debate.objection.severity == "low":
                break
            debate = await exchange(given, debate, number, room)
        case = plan_case(given, debate)
        if case.turns_on_counter and debate.objection:
            case = replace(case, actionable=await is_actionable(debate.objection.counter, given, room))
    except SessionStopped as cut:  # keep what both said
        return with_positions(cut_short(given, cut, room), debate)
    return build_plan_result(given, debate, case)


async def opening(given: VetInput, room: Room) -> PlanDebate:
    form = instructions(Claim)
    text = prompt("claim", action=render_case(given, room), form=form)
    claim = present(await room.ask(Ask("advocate", "claim", 1, prompt("advocate"), text, Claim, REPLY_TOKENS)))
    if claim is None:
        room.degrade("the advocate is absent: nobody spoke for the action")
    elif claim.confidence is None:
        room.degrade("the advocate gave no usable confidence; it counts as unsure")
    return PlanDebate(claim, await ask_critic(given, claim, room))


async def ask_critic(given: VetInput, claim: Claim | None, room: Room) -> Objection | None:
    text = prompt(
        "object",
        action=render_case(given, room),
        noticed=render_notices(given),
        claim=render_claim(claim),
        form=instructions(Objection),
    )
    answer = await room.ask(Ask("critic", "objection", 1, prompt("critic"), text, Objection, REPLY_TOKENS))
    objection = present(answer)
    if objection is None:
        room.degrade("the critic is absent: nobody spoke against the action")
    elif claim and (echoes(objection.objection, claim.claim) or objection.objection in claim.supports):
        room.degrade("the critic echoes the advocate; that is no second opinion, and counts as absent")
        return None
    return objection


async def exchange(given: VetInput, debate: PlanDebate, number: int, room: Room) -> PlanDebate:
    """The advocate answers the critic; the critic withdraws or holds."""
    objection = debate.objection
    assert objection is not None
    text = prompt(
        "answer", action=render_case(given, room), objection=render_objection(objection), form=instructions(Claim)
    )
    answer = present(await room.ask(Ask("advocate", "answer", number, prompt("advocate"), text, Claim, REPLY_TOKENS)))
    if answer is None or echoes(answer.claim, objection.objection):
        why = "gave no answer to the critic" if answer is None else "only echoes the critic"
        room.degrade(f"the advocate {why} in round {number}; the objection stands")
        unsure = debate.claim and debate.claim.model_copy(update={"confidence": None})
        return PlanDebate(unsure, objection, number)
    text = prompt(
        "hold",
        action=render_case(given, room),
        objection=render_objection(objection),
        answer=render_claim(answer),
        form=instructions(Rejoinder),
    )
    held = present(await room.ask(Ask("critic", "rejoinder", number, prompt("critic"), text, Rejoinder, REPLY_TOKENS)))
    if held and held.decision == "withdraw" and echoes(held.reason, answer.claim):
        room.degrade(f"the critic only echoes the advocate in round {number}; the objection stands")
        return PlanDebate(answer, objection, number)
    return PlanDebate(answer, after_rejoinder(objection, held, number, room), number)


def after_rejoinder(objection: Objection, held: Rejoinder | None, number: int, room: Room) -> Objection:
    """The current objection. It is withdrawn only if the critic says so without contradiction."""
    if held is None:
        room.degrade(f"the critic did not say in round {number} whether it holds; the objection stands")
        return objection
    if held.decision == "hold":
        return objection.model_copy(update={"severity": held.severity})
    if held.severity == "high":
        room.degrade(f"the critic withdraws in round {number} and still calls it grave; the objection stands")
        return objection
    return objection.model_copy(update={"severity": "low"})


def plan_case(given: VetInput, debate: PlanDebate) -> PlanCase:
    confidence = debate.claim.confidence if debate.claim else None
    return PlanCase(given.stakes, debate.objection.severity if debate.objection else None, confidence or 0.0)


def build_plan_result(given: VetInput, debate: PlanDebate, case: PlanCase) -> VetResult:
    rule, objection = of_plan(case), debate.objection
    note = f'the critic: "{objection.objection}"' if objection and rule.resolution != "PROCEED" else ""
    result = with_positions(verdict(given, rule.resolution, rule.why, note, rule.limit), debate)
    if objection is None or rule.resolution != "MODIFY":
        return result
    return result.model_copy(update={"modifications": steps(objection.counter)})


def with_positions(result: VetResult, debate: PlanDebate) -> VetResult:
    risks = debate.objection.risks if debate.objection else ()
    said = {"advocate": debate.claim, "critic": debate.objection, "risks": risks, "rounds": debate.rounds}
    return result.model_copy(update=said)


async def is_actionable(counter: str, given: VetInput, room: Room) -> bool:
    if echoes(counter, given.action):
        room.degrade("the critic's counter is the action itself; nothing would change")
        return False
    question = "Is this advice a specific step that can be taken, not just a vague worry?"
    return await is_settled(actionable(counter), question, counter, given, room)


def render_claim(claim: Claim | None) -> str:
    if claim is None:
        return "nothing: there is no advocate"
    return fence_text("\n".join([claim.claim, *list_texts(claim.supports)]))


def render_objection(objection: Objection) -> str:
    counter = [f"Instead: {objection.counter}"] if objection.counter else []
    return fence_text(
        "\n".join([f"{objection.objection} (severity {objection.severity})", *list_texts(objection.risks), *counter])
    )
