"""What each seat saw: the turns of others in its prompts, direct or by relay, and how many tokens they took."""

from collections import defaultdict
from collections.abc import Sequence

from pydantic import ValidationError

from moot.core.ports import StepRow
from moot.core.report import Block, Grid, Paragraph, ReportDocument, ReportSection, make_row
from moot.core.types import HeardTurn, Value
from moot.record.transcript import Story

NOTHING = "No prompt of this session holds a turn of another seat."


class SeenPrompt(Value):
    """One question to a seat, and what it held of others' turns."""

    step: int
    round: int
    phase: str
    seat: str
    input_tokens: int
    """Of the whole prompt, as counted when it was asked; repeated questions included."""
    heard: tuple[HeardTurn, ...] = ()


def list_seen(story: Story) -> tuple[SeenPrompt, ...]:
    tokens = defaultdict[int, int](int)
    for step in story.steps:
        tokens[step.seq] += count_input(step)
    return tuple(
        SeenPrompt(
            step=turn.seq,
            round=turn.round,
            phase=turn.phase,
            seat=turn.seat,
            input_tokens=tokens[turn.seq],
            heard=read_heard(turn.metadata),
        )
        for turn in sorted(story.turns, key=lambda turn: turn.seq)
    )


def count_input(step: StepRow) -> int:
    value: object = step.value
    for key in ("exchange", "reply", "usage", "input_tokens"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, int) else 0


def read_heard(metadata: object) -> tuple[HeardTurn, ...]:
    turns = metadata.get("heard") if isinstance(metadata, dict) else None
    try:
        return tuple(HeardTurn.model_validate(each) for each in turns) if isinstance(turns, list) else ()
    except ValidationError:  # written by a later version
        return ()


def build_seen(story: Story) -> ReportDocument:
    seen = list_seen(story)
    blocks: tuple[Block, ...] = (sum_by_seat(seen), list_prompts(seen))
    if not any(each.heard for each in seen):
        blocks = (sum_by_seat(seen), Paragraph(text=NOTHING))
    session = story.session
    return ReportDocument(
        title=f"{session.protocol}: {session.topic}",
        lead=f"Session {session.id}, started {session.created_at:%Y-%m-%d %H:%M:%S %Z}, status {session.status}.",
        sections=(ReportSection(title="What each seat saw", blocks=blocks),),
    )


def sum_by_seat(seen: Sequence[SeenPrompt]) -> Grid:
    rows = []
    for seat in dict.fromkeys(each.seat for each in seen):
        mine = [each for each in seen if each.seat == seat]
        heard = [turn for each in mine for turn in each.heard]
        direct = sum(turn.tokens for turn in heard if not turn.through)
        relayed = sum(turn.tokens for turn in heard if turn.through)
        total = sum(each.input_tokens for each in mine)
        rows.append(make_row(seat, str(len(mine)), f"{total:,}", f"{direct:,}", f"{relayed:,}"))
    return Grid(columns=("seat", "prompts", "tokens", "of turns heard directly", "by relay"), rows=tuple(rows))


def list_prompts(seen: Sequence[SeenPrompt]) -> Grid:
    rows = [
        make_row(str(each.step), str(each.round), each.phase, each.seat, "; ".join(map(describe_heard, each.heard)))
        for each in seen
        if each.heard
    ]
    return Grid(columns=("step", "round", "phase", "seat", "turns it saw"), rows=tuple(rows))


def describe_heard(turn: HeardTurn) -> str:
    how = f", {'condensed' if turn.condensed else 'passed on'} by {turn.through}" if turn.through else ""
    return f"{turn.seat} ({turn.phase}{how}) {turn.tokens}"
