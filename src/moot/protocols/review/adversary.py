"""The adversary's turn: challenges with evidence, assessments of earlier ones, or no objections."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from moot.core.report import count_things
from moot.core.room import Ask, Room
from moot.core.types import Absent, Value
from moot.evidence.artefacts.documents import challenges_document, find_challenges, no_objections_document, one_line
from moot.evidence.artefacts.evidence import flaw_in_evidence, repeats_fault
from moot.evidence.artefacts.kinds import CATEGORIES
from moot.evidence.artefacts.values import ArtefactType, Assessment, Challenge, Convergence, Defence, Gravity
from moot.protocols.review.prompt_material import as_context, as_document, list_faults
from moot.protocols.review.prompts import prompt
from moot.protocols.review.review_state import Dropped, ReviewState, Round, Said
from moot.text.markdown import normalise
from moot.text.render import fence_text
from moot.text.replies import Aliases, SlotHeading, Synonyms, Title, instructions

REPLY_TOKENS = 1500
GRADES = Synonyms(
    (
        ("blocking", "critical"), ("blocker", "critical"), ("severe", "critical"), ("high", "critical"),
        ("major", "significant"), ("medium", "significant"), ("moderate", "significant"), ("important", "significant"),
        ("low", "minor"), ("trivial", "minor"), ("nit", "minor"), ("info", "minor"),
    )
)  # fmt: skip
STATES = Synonyms(
    (
        ("resolved", "addressed"), ("fixed", "addressed"), ("settled", "addressed"), ("accepted", "addressed"),
        ("not_addressed", "unaddressed"), ("unresolved", "unaddressed"), ("open", "unaddressed"),
        ("partial", "unaddressed"), ("dismissed", "rejected"), ("stands", "unaddressed"),
    )
)  # fmt: skip
PROGRESS = Synonyms(
    (("converge", "converging"), ("stuck", "deadlock"), ("stalemate", "deadlock"), ("go_on", "continue"))
)
TURNED_DOWN = ("invalid", "not valid", "unconvincing", "not convincing", "insufficient", "does not hold", "still")


class Raised(Said):
    """A challenge as the adversary words it: the reasons first, then the choice."""

    concern: Annotated[str, Aliases("issue", "problem", "description", "challenge_text", "title")] = Field(
        min_length=1, description="what is wrong, in one sentence"
    )
    evidence: Annotated[str, Aliases("quote", "proof", "why", "reason")] = Field(
        default="", description="a passage copied from the document in 'quotation marks', or what exactly is missing"
    )
    recommendation: Annotated[str, Aliases("fix", "suggestion", "action")] = Field(
        default="", description="what to do about it"
    )
    category: Annotated[str, Title(), Aliases("type", "kind")]
    severity: Annotated[Gravity, GRADES, Aliases("level", "priority")]


class Assessed(Said):
    previous_challenge: Annotated[str, Title(), Aliases("id", "challenge_id", "number", "earlier_challenge")] = Field(
        min_length=1, description="the id, such as C1"
    )
    notes: Annotated[str, Aliases("note", "reason", "why", "how")] = Field(
        default="", description="why, in one sentence"
    )
    status: Annotated[Defence, STATES, Aliases("assessment", "verdict")]


LIST = (Aliases("objections", "concerns"), SlotHeading("NO OBJECTIONS"))
ALL_ADDRESSED = ((("previous_challenge", "all"), ("notes", "no objections"), ("status", "addressed")),)


class Opening(Value):
    """The first turn."""

    challenges: tuple[Raised, ...]


class Rebuttal(Value):
    """Every later turn: first what became of the earlier challenges."""

    assessment: Annotated[
        tuple[Assessed, ...],
        Aliases("defense_assessment", "defence_assessment", "assessments"),
        SlotHeading("NO OBJECTIONS", ALL_ADDRESSED),
    ] = Field(min_length=1)
    challenges: tuple[Raised, ...]
    convergence: Annotated[Convergence, PROGRESS, Aliases("convergence_assessment", "convergence_status", "status")] = (
        Field(default="continue")
    )


@lru_cache(maxsize=16)
def reply_shape(kind: ArtefactType, number: int) -> type[Opening] | type[Rebuttal]:
    """The shape of a turn, with the categories of this artefact type."""
    words: Any = Literal.__getitem__(tuple(CATEGORIES[kind]))
    category: Any = (Annotated[words, Title(), Aliases("type", "kind")], ...)
    one: Any = create_model("Raised", __base__=Raised, category=category)
    most = Field(json_schema_extra={"maxItems": 3})
    many: Any = (Annotated[tuple[one, ...], *LIST], most)
    if number == 1:
        return create_model("Opening", __base__=Opening, challenges=many)
    return create_model("Rebuttal", __base__=Rebuttal, challenges=many)


async def challenge_artefact(state: ReviewState, number: int, room: Room) -> bool:
    """Ask the adversary and record what counts. False if it gave no usable answer."""
    kind = state.artefact.type
    shape = reply_shape(kind, min(number, 2))
    form = instructions(shape)
    text = _first(state, form, room) if number == 1 else _again(state, number, form, room)
    said = await room.ask(Ask("adversary", "challenge", number, prompt("adversary"), text, shape, REPLY_TOKENS))
    if isinstance(said, Absent):
        return False
    assessments = assess_rebuttal(said, state, room, number) if isinstance(said, Rebuttal) else ()
    fresh, repeated = without_findings(said.challenges, state)
    raised, dropped = filter_challenges(fresh, state, number)
    if dropped:
        many = count_things(len(dropped), "challenge")
        room.degrade(f"round {number}: {many} dropped, no evidence that can be checked: {dropped[0].why}")
    state.challenges += raised
    convergence = said.convergence if isinstance(said, Rebuttal) else None
    turn = Round(
        round=number,
        raised=tuple(c.id for c in raised),
        dropped=dropped,
        repeated=repeated,
        assessments=assessments,
        convergence=convergence,
    )
    state.rounds.append(turn.model_copy(update={"document": document_of(state, turn, raised)}))
    return True


def _first(state: ReviewState, form: str, room: Room) -> str:
    return prompt(
        "challenge",
        type=state.artefact.type,
        path=one_line(state.artefact.path),
        round="1",
        most=str(state.most),
        context=as_context(state.artefact, room),
        artefact=as_document(state, room),
        faults=list_faults("A check has already found these; do not repeat them:", state.faults, room),
        categories=_categories(state.artefact.type),
        form=form,
    )


def _again(state: ReviewState, number: int, form: str, room: Room) -> str:
    return prompt(
        "rebut",
        type=state.artefact.type,
        path=one_line(state.artefact.path),
        round=str(number),
        most=str(state.most),
        context=as_context(state.artefact, room),
        artefact=as_document(state, room),
        history=history(state),
        categories=_categories(state.artefact.type),
        form=form,
    )


def _categories(kind: ArtefactType) -> str:
    return "\n".join(f"- {name}: {question}" for name, question in CATEGORIES[kind].items())


def history(state: ReviewState) -> str:
    """Open and answered challenges as data: their text cannot pass for instructions."""
    lines = []
    for c in state.standing:
        lines += [f"{c.id} ({c.severity}, {c.category}): {c.concern}", f"  evidence: {c.evidence}"]
        answer = state.answers.get(c.id)
        lines.append(f"  defender: {answer.answer}. {answer.reason}" if answer else "  defender: no answer")
    if state.rounds[-1].revision_refused:
        lines.append(f"The defender's revision was not accepted: {state.rounds[-1].revision_refused}")
    return fence_text("\n".join(lines), "text")


def without_findings(said: Sequence[Raised], state: ReviewState) -> tuple[list[Raised], tuple[Dropped, ...]]:
    """New challenges, and those that only repeat a structural finding."""
    faults, fresh, repeated = state.faults, list[Raised](), list[Dropped]()
    for one in said:
        if known := next((f for f in faults if repeats_fault(f"{one.concern}\n{one.evidence}", f)), None):
            why = f"the structural check of line {known.line} has found it: {known.what}"
            repeated.append(Dropped(concern=one.concern, evidence=one.evidence, why=why))
        else:
            fresh.append(one)
    return fresh, tuple(repeated)


def filter_challenges(
    said: Sequence[Raised], state: ReviewState, number: int
) -> tuple[list[Challenge], tuple[Dropped, ...]]:
    """New challenges with checkable evidence. A repeated one is not new: it is reopened."""
    raised: list[Challenge] = []
    dropped: list[Dropped] = []
    material = f"{state.text}\n{state.artefact.context}"
    for one in said:
        if why := flaw_in_evidence(one.concern, one.evidence, material):
            dropped.append(Dropped(concern=one.concern, evidence=one.evidence, why=why))
        elif known := _same([*state.challenges, *raised], one):
            state.settled.pop(known.id, None)
        else:
            raised.append(
                Challenge(
                    number=len(state.challenges) + len(raised) + 1,
                    round=number,
                    category=one.category,
                    concern=one.concern,
                    evidence=one.evidence,
                    severity=one.severity,
                    recommendation=one.recommendation,
                )
            )
    return raised, tuple(dropped)


def _same(known: Sequence[Challenge], one: Raised) -> Challenge | None:
    concern, place = normalise(one.concern), (one.category, normalise(one.evidence))
    return next(
        (c for c in known if normalise(c.concern) == concern or (c.category, normalise(c.evidence)) == place), None
    )


def assess_rebuttal(said: Rebuttal, state: ReviewState, room: Room, number: int) -> tuple[Assessment, ...]:
    """Assessment of each open challenge. Only an unambiguous statement settles one."""
    words: dict[str, list[Assessed]] = {}
    for entry in said.assessment:
        for c in find_challenges(entry.previous_challenge, state.standing):
            words.setdefault(c.id, []).append(entry)
    found = []
    for c in state.standing:
        heard = words.get(c.id, [])
        if not heard:
            room.degrade(f"round {number}: the adversary did not say what became of {c.id}; it stands")
        else:
            states = {
                status_of(entry, state.answers[c.id].answer if c.id in state.answers else None) for entry in heard
            }
            status: Defence = states.pop() if len(states) == 1 else "unaddressed"
            found.append(Assessment(challenge=c.id, notes=heard[0].notes, status=status))
    state.settled |= {a.challenge: a for a in found if a.status != "unaddressed"}
    return tuple(found)


def status_of(entry: Assessed, answer: str | None) -> Defence:
    """`rejected` settles a challenge only if the defender rejected it and the adversary accepts that."""
    if entry.status == "rejected" and (answer != "rejected" or any(w in entry.notes.lower() for w in TURNED_DOWN)):
        return "unaddressed"
    return entry.status


def document_of(state: ReviewState, turn: Round, raised: Sequence[Challenge]) -> str:
    if not state.standing and not turn.dropped:
        settled = {i: f"{a.status}: {a.notes or 'settled'}" for i, a in state.settled.items()}
        return no_objections_document(turn.round, state.most, settled)
    return challenges_document(raised, turn.round, state.most, turn.assessments, turn.convergence, len(state.standing))
