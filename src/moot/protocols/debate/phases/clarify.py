"""Dehallucination: asks about unclear points before work begins; an answer without a source is an assumption."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Unit, Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, list_seated, render_files, system
from moot.protocols.debate.types import Clarification, Member
from moot.text.render import fence_text
from moot.text.replies import Aliases, Synonyms, Title, instructions

ROUNDS = 3
MOST = 3
SURE = 0.9
REPLY_TOKENS = 600
SHORTEST_QUOTE = 8
CATEGORIES = Synonyms(
    (
        ("requirement", "requirements"), ("constraint", "constraints"), ("edge", "edge_cases"), ("input", "edge_cases"),
        ("perform", "performance"), ("speed", "performance"), ("integrat", "integration"), ("interface", "integration"),
    ),
    otherwise="requirements",
)  # fmt: skip
PRIORITIES = Synonyms((("critical", "high"), ("must", "high"), ("normal", "medium")), otherwise="medium")


class Question(Value):
    question: Annotated[str, Title(), Aliases("text", "ask")] = Field(min_length=3, description="the question")
    category: Annotated[
        Literal["requirements", "constraints", "edge_cases", "performance", "integration"], CATEGORIES
    ] = "requirements"
    priority: Annotated[Literal["high", "medium", "low"], PRIORITIES] = "medium"


class QuestionsReply(Value):
    questions: Annotated[tuple[Question, ...], Aliases("clarifications", "unclear")] = Field(
        json_schema_extra={"maxItems": MOST}
    )


class Given(Value):
    quote: Annotated[str, Aliases("source", "evidence")] = Field(
        default="", description="the words of the task or file that answer it, or NONE"
    )
    answer: Annotated[str, Title(), Aliases("response")] = Field(min_length=1, description="the answer in one sentence")
    confidence: Unit | None = Field(default=None, description="from 0 to 1")


class AnswersReply(Value):
    answers: tuple[Given, ...] = Field(description="one for each question, in their order")


async def dehallucination(context: DebateContext) -> str:
    asking = list_seated(context.state, context.room, "proposer", "generator", "implementer")[:1]
    answering = choose_answering(context)
    for _ in range(ROUNDS):
        replies = await context.ask_independently("dehallucination", asking, lambda m: ask_questions(m, context))
        known = {plain(clarification.question) for clarification in context.state.clarifications}
        asked = [question for reply in replies for question in reply.questions]
        every = [question for question in asked if plain(question.question) not in known]
        new = every[:MOST]
        if not new:
            break
        if len(every) > MOST:
            unasked = tuple(question.question for question in every[MOST:])
            context.update(unasked=(*context.state.unasked, *unasked))
            context.room.degrade(f"at most {MOST} questions are taken up at a time; left out: {'; '.join(unasked)}")
        ask = partial(ask_answers, questions=new, context=context)
        answers = [
            given
            for reply in await context.ask_independently("dehallucination", answering, ask)
            for given in reply.answers
        ]
        cleared = await settle_questions(new, answers, context)
        context.update(clarifications=(*context.state.clarifications, *cleared))
        if all((c.confidence or 0.0) > SURE for c in cleared):
            break
    done = context.state.clarifications
    assumed = sum(1 for c in done if c.source == "assumption")
    return f"{len(done)} questions, {assumed} answered by assumption" if done else "nothing was found unclear"


def choose_answering(context: DebateContext) -> list[Member]:
    """The leader of the phase; before leaders led, by role."""
    leader = context.state.leaders.get("dehallucination", "")
    led = [member for member in context.state.given.team if member.seat == leader and context.room.has_model(leader)]
    return led or list_seated(context.state, context.room, "moderator", "architect", "teacher")[:1]


def list_ambiguities(state: DebateState) -> tuple[str, ...]:
    """Questions left without an answer, with an unsure one, or with an assumption."""
    asked = {plain(c.question) for c in state.clarifications}
    left = [c.question for c in state.clarifications if c.source == "assumption" or (c.confidence or 0.0) <= SURE]
    return (*left, *(question for question in dict.fromkeys(state.unasked) if plain(question) not in asked))


async def settle_questions(
    questions: Sequence[Question], answers: Sequence[Given], context: DebateContext
) -> tuple[Clarification, ...]:
    """Each question with its answer and source: the task, a file, the person; else an assumption."""
    found = [trace_answer(q, answers[n] if n < len(answers) else None, context.state) for n, q in enumerate(questions)]
    open_ones = [n for n, c in enumerate(found) if c.source == "assumption"]
    if open_ones:
        said = await context.room.inquire([found[n].question for n in open_ones])
        for n, words in zip(open_ones, said, strict=True):
            if words:
                change = {"answer": words, "source": "person", "quote": "", "confidence": 1.0}
                found[n] = found[n].model_copy(update=change)
    return tuple(found)


def trace_answer(question: Question, given: Given | None, state: DebateState) -> Clarification:
    asked = Clarification(**question.model_dump())
    if given is None:
        return asked
    asked = asked.model_copy(update={"answer": given.answer, "confidence": given.confidence})
    quote = plain(given.quote)
    if len(quote) < SHORTEST_QUOTE:
        return asked
    if quote in plain(state.task.text):
        return asked.model_copy(update={"source": "task", "quote": given.quote})
    files = state.given.context.files if state.given.context else ()
    if any(quote in plain(file.text) for file in files):
        return asked.model_copy(update={"source": "file", "quote": given.quote})
    return asked


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def ask_questions(member: Member, context: DebateContext) -> Ask[QuestionsReply]:
    state = context.state
    text = prompt(
        "questions",
        task=brief(state),
        context=render_files(state, context.room),
        known=_render_asked(state),
        most=str(MOST),
        form=instructions(QuestionsReply),
    )
    number = len(state.clarifications) // MOST + 1
    return Ask(member.seat, "dehallucination", number, system(member), text, QuestionsReply, REPLY_TOKENS)


def _render_asked(state: DebateState) -> str:
    lines = "\n".join(f"- {c.question}" for c in state.clarifications)
    return f"Asked already:\n\n{fence_text(lines, 'text')}\n\n" if lines else ""


def ask_answers(member: Member, questions: Sequence[Question], context: DebateContext) -> Ask[AnswersReply]:
    lines = "\n".join(f"{n}. {question.question}" for n, question in enumerate(questions, 1))
    text = prompt(
        "clarify",
        task=brief(context.state),
        context=render_files(context.state, context.room),
        questions=f"Questions:\n\n{fence_text(lines, 'text')}",
        form=instructions(AnswersReply),
    )
    number = len(context.state.clarifications) // MOST + 1
    return Ask(member.seat, "dehallucination", number, system(member), text, AnswersReply, REPLY_TOKENS)
