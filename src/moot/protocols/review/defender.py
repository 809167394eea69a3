"""The defender's turn: an answer to every challenge, then a complete revised artefact."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask, Room
from moot.core.types import Absent, Value
from moot.evidence.artefacts.documents import find_challenges, one_line
from moot.evidence.artefacts.revision import flaw_in_revision, keep_line_ends
from moot.evidence.artefacts.values import Challenge
from moot.protocols.review.prompt_material import as_context, as_document, list_challenges
from moot.protocols.review.prompts import prompt
from moot.protocols.review.review_state import ChallengeAnswer, ReviewState, Said, Stance
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import estimate_tokens, fence_text
from moot.text.replies import Aliases, CodeBlock, FencedBlocks, Synonyms, Title, instructions

REPLY_TOKENS = 1500
FENCED = re.compile(r"(?P<fence>`{3,}|~{3,})(?:markdown|md)[ \t]*\n(?P<text>.*?)(?:\n(?P=fence))?", re.DOTALL)
STANCES = Synonyms(
    (
        ("accept", "addressed"), ("agree", "addressed"), ("fix", "addressed"), ("revise", "addressed"),
        ("reject", "rejected"), ("refuse", "rejected"), ("decline", "rejected"), ("disagree", "rejected"),
    )
)  # fmt: skip


class Answered(Said):
    """The reason first, then the choice."""

    challenge: Annotated[str, Title(), Aliases("id", "challenge_id")] = Field(
        min_length=1, description="the id, such as C1"
    )
    reason: Annotated[str, Aliases("why", "rationale", "explanation")] = Field(min_length=1, description="your reason")
    change: Annotated[str, Aliases("revision", "edit")] = Field(
        default="", description="the change to the document, or nothing"
    )
    answer: Annotated[Stance, STANCES, Aliases("status", "stance", "decision", "response")]


class Defence(Value):
    answers: Annotated[tuple[Answered, ...], Aliases("defense", "defence", "responses")] = Field(min_length=1)


class Revision(Value):
    revised: Annotated[FencedBlocks, Aliases("document", "revised_document", "artefact", "artifact", "revision")] = (
        Field(min_length=1, description="the complete revised document")
    )


async def defend_artefact(state: ReviewState, number: int, room: Room) -> bool:
    """Let the defender answer open challenges and revise the artefact. False if it gave no usable answer."""
    text = prompt(
        "answer",
        type=state.artefact.type,
        path=one_line(state.artefact.path),
        round=str(number),
        most=str(state.most),
        context=as_context(state.artefact, room),
        artefact=as_document(state, room),
        challenges=list_challenges(state.standing),
        form=instructions(Defence),
    )
    said = await room.ask(Ask("defender", "answer", number, prompt("defender"), text, Defence, REPLY_TOKENS))
    if isinstance(said, Absent):
        return False
    answers = read_answers(said.answers, state.standing, number)
    silent = [c.id for c in state.standing if c.id not in {a.challenge for a in answers}]
    if silent:
        room.degrade(f"round {number}: the defender did not answer {', '.join(silent)}")
    state.answers |= {a.challenge: a for a in answers}
    turn = state.rounds[-1].model_copy(update={"answers": tuple(answers)})
    changes = [a for a in answers if a.answer == "addressed"]
    if changes:
        refused = await revise_artefact(state, changes, number, room)
        turn = turn.model_copy(update={"revised": not refused, "revision_refused": refused})
        if refused:
            room.degrade(f"round {number}: the revision was not accepted: {refused}")
    state.rounds[-1] = turn
    return True


def read_answers(said: Sequence[Answered], standing: Sequence[Challenge], number: int) -> list[ChallengeAnswer]:
    """One answer for each challenge that was answered unambiguously."""
    found: dict[str, list[ChallengeAnswer]] = {}
    for entry in said:
        for c in find_challenges(entry.challenge, standing):
            one = ChallengeAnswer(
                challenge=c.id, round=number, reason=entry.reason, change=entry.change, answer=entry.answer
            )
            found.setdefault(c.id, []).append(one)
    return [own[0] for own in found.values() if len({a.answer for a in own}) == 1]


async def revise_artefact(state: ReviewState, changes: Sequence[ChallengeAnswer], number: int, room: Room) -> str:
    """Request the revised artefact and accept it if complete; else return why not."""
    shown = as_document(state, room)
    if state.partly_seen:
        return "the defender saw only a part of the document, so it cannot give it back whole"
    before = state.rounds[-2].revision_refused if len(state.rounds) > 1 else ""
    text = prompt(
        "revise",
        type=state.artefact.type,
        path=one_line(state.artefact.path),
        artefact=shown,
        changes=_list_requests(state, changes, room),
        refused=f" Your last revision was not accepted: {before}." if before else "",
        form=instructions(Revision),
    )
    most = 2 * estimate_tokens(state.text) + 500  # a small model that finds no end would fill its whole context
    said = await room.ask(Ask("defender", "revise", number, prompt("defender"), text, Revision, most))
    if isinstance(said, Absent):
        return f"there was none ({said.why})"
    new = keep_line_ends(longest_block(said.revised), state.text)
    if new.strip() == state.text.strip():
        return "it changes nothing"
    if flaw := flaw_in_revision(state.current, new, state.around):
        return flaw
    state.text = new
    return ""


def longest_block(blocks: Sequence[CodeBlock]) -> str:
    """The longest block, without a fence around a fence, which small models copy from the form."""
    text = max((block.text for block in blocks), key=len)
    inside = FENCED.fullmatch(text.strip())
    return f"{inside['text']}\n" if inside else text


def _list_requests(state: ReviewState, changes: Sequence[ChallengeAnswer], room: Room) -> str:
    advice = {c.id: c.recommendation or c.concern for c in state.challenges}
    lines = [f"- {a.challenge}: {one_line(a.change or advice.get(a.challenge, '') or a.reason)}" for a in changes]
    lines += [f"- line {f.line}: {f.what}. {f.recommendation}" for f in state.faults]
    parts = [TextPart(f"change {number}", line) for number, line in enumerate(lines, 1)]
    return fence_text(show(fit_parts(parts, room.allowance() // 4), "the defender", room).join(), "text")
