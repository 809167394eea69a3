"""The validator: holds what authors and critics say against the words of the task. Quotations are checked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from moot.core.room import Ask
from moot.core.types import Value
from moot.protocols.debate.context import DebateContext
from moot.protocols.debate.phases.clarify import SHORTEST_QUOTE, plain
from moot.protocols.debate.prompts import prompt
from moot.protocols.debate.state import DebateState, brief, list_acting, render_files, render_task, system
from moot.protocols.debate.types import Member, Point
from moot.text.excerpts import TextPart, fit_parts, show
from moot.text.render import fence_text
from moot.text.replies import Aliases, ExampleKeys, instructions

REPLY_TOKENS = 900


@dataclass(frozen=True)
class Statement:
    """Something said about a candidate, and the point that says it, if one does."""

    number: str
    who: str
    """The report names the statement only by this, so that it reaches no seat from which the topology hides it."""
    text: str
    point: Point | None = None


class QuoteReply(Value):
    quotes: Annotated[dict[str, str], ExampleKeys("1", "2"), Aliases("answers", "words")] = Field(
        description="the words of the task that it rests on, or NONE"
    )


async def check_statements(context: DebateContext) -> None:
    """Mark objections of this round that no words of the task support: the author need not answer them. Reviewers and
    voters read the report."""
    for member in list_acting(context.state, "validator"):
        if context.room.has_model(member.seat) and (statements := list_statements(context, member)):
            await check_by(context, member, statements)


async def check_by(context: DebateContext, member: Member, statements: Sequence[Statement]) -> None:
    heard = await context.ask_independently("critique", [member], lambda m: ask_quotes(m, statements, context))
    for said in heard:  # silence supports nothing and refutes nothing
        quotes = {key: words for key, words in said.quotes.items() if is_quoted(words, context.state)}
        mark_points(context, statements, quotes)
        lines = [describe_statement(each, quotes.get(each.number)) for each in statements]
        supported = sum(each.number in quotes for each in statements)
        found = f"{supported} of {len(statements)} statements rest on words of the task"
        context.note_act(member, "critique", found, "\n".join(lines))


def list_statements(context: DebateContext, reader: Member) -> list[Statement]:
    """What authors say of their candidates, and the objections of this round that this seat may hear."""
    state = context.state
    words = [(c, " ".join(filter(None, (c.text if c.code else "", c.argument)))) for c in state.latest()]
    said: list[tuple[str, str, Point | None]] = [(f"the author of {c.id}", text, None) for c, text in words if text]
    counts = Counter[str]()
    for p in state.points:
        if (
            p.round == state.round
            and p.stance == "disagree"
            and context.arrangement.relay(p.seat, reader.seat) is not None
        ):
            counts[p.seat] += 1
            said.append((f"objection {counts[p.seat]} of {p.seat}, to {p.candidate}", p.point, p))
    return [Statement(str(number), *each) for number, each in enumerate(said, 1)]


def is_quoted(words: str, state: DebateState) -> bool:
    quote = plain(words)
    files = state.given.context.files if state.given.context else ()
    sources = (render_task(state), state.task.text, *(file.text for file in files))
    return len(quote) >= SHORTEST_QUOTE and any(quote in plain(text) for text in sources)


def mark_points(context: DebateContext, statements: Sequence[Statement], quotes: Mapping[str, str]) -> None:
    marks = {
        id(each.point): {"quote": quotes.get(each.number, ""), "unsupported": each.number not in quotes}
        for each in statements
        if each.point is not None
    }
    points = (p.model_copy(update=marks[id(p)]) if id(p) in marks else p for p in context.state.points)
    context.update(points=tuple(points))


def describe_statement(statement: Statement, quote: str | None) -> str:
    rests = f"rests on {quote!r}" if quote else "rests on no words of the task"
    return f"{statement.who}: {rests}"


def ask_quotes(member: Member, statements: Sequence[Statement], context: DebateContext) -> Ask[QuoteReply]:
    parts = [TextPart(f"statement {s.number}", f"{s.number}. {s.who}: {s.text}") for s in statements]
    shown = show(fit_parts(parts, context.room.allowance() // 4), member.seat, context.room).join()
    text = prompt(
        "validate",
        task=brief(context.state),
        context=render_files(context.state, context.room),
        statements=fence_text(shown, "text"),
        form=instructions(QuoteReply),
    )
    return Ask(member.seat, "critique", context.state.round, system(member), text, QuoteReply, REPLY_TOKENS)
