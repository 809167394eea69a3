"""The user's choice in a contested question: recorded once, with name and time."""

import getpass
from collections.abc import Sequence

from pydantic import JsonValue

from moot.core.errors import StoreError, UsageError
from moot.core.ports import Clock, SessionRecord, StepRow
from moot.edge.store import SqlStore
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict, UserChoice

STEP = "choose "


async def choose(  # noqa: PLR0913 - everything but the question and its answer is where and who
    store: SqlStore, clock: Clock, session: str, question: str, option: str, reason: str, *, by: str = ""
) -> QuestionVerdict:
    """Records a choice and returns the question with it. A second choice is refused, because the first may have been
    acted on."""
    record = await store.session(session)
    result = result_of(record)
    place, verdict = _find(result, question)
    known = {o.id.casefold(): o.id for o in verdict.options}
    if verdict.outcome != "CONTESTED":
        raise UsageError(
            f"question {verdict.question_id!r} is {verdict.outcome}, not CONTESTED: there is nothing to choose"
        )
    if option.strip().casefold() not in known:
        raise UsageError(
            f"question {verdict.question_id!r} has no option {option!r}; its options are {', '.join(known.values())}"
        )
    if not reason.strip():
        raise UsageError("a choice needs a reason: --reason TEXT")
    made = UserChoice(
        option=known[option.strip().casefold()],
        reason=reason.strip(),
        by=by or whoever(),
        at=clock.now().isoformat(timespec="seconds"),
    )
    steps = await store.steps(record.id)
    if earlier := choices_in(steps).get(verdict.question_id):
        raise _twice(verdict, earlier)
    value: JsonValue = {"question_id": verdict.question_id, **made.model_dump(mode="json")}
    # Negative: steps of the user, not the protocol; two concurrent choices collide on the number.
    row = StepRow(
        seq=-(place + 1), part=0, name=f"{STEP}{verdict.question_id}"[:128], digest="", value=value, elapsed=0.0
    )
    try:
        await store.append(record.id, [row])
    except StoreError:
        if earlier := choices_in(await store.steps(record.id)).get(verdict.question_id):
            raise _twice(verdict, earlier) from None
        raise
    return verdict.model_copy(update={"choice": made})


def result_of(record: SessionRecord) -> DecideResult:
    if record.protocol != "decide":
        raise UsageError(
            f"session {record.id} is a {record.protocol}; only sessions of `decide` have something to choose"
        )
    kept = record.outcome.get("result") if isinstance(record.outcome, dict) else None
    if not kept:
        raise UsageError(f"session {record.id} has not ended; continue with: moot resume {record.id}")
    return DecideResult.model_validate(kept)


def choices_in(steps: Sequence[StepRow]) -> dict[str, UserChoice]:
    """Question id -> choice."""
    found = {}
    for step in steps:
        if step.seq < 0 and step.name.startswith(STEP) and isinstance(step.value, dict):
            fields = {key: value for key, value in step.value.items() if key != "question_id"}
            found[str(step.value["question_id"])] = UserChoice.model_validate(fields)
    return found


def with_choices(result: DecideResult, steps: Sequence[StepRow]) -> DecideResult:
    """The result with the user's choices, if each question is still the contested one."""
    made = choices_in(steps)
    questions = tuple(
        v.model_copy(update={"choice": made[v.question_id]})
        if v.question_id in made and v.outcome == "CONTESTED"
        else v
        for v in result.questions
    )
    return result.model_copy(update={"questions": questions})


def whoever() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "unknown"


def _find(result: DecideResult, question: str) -> tuple[int, QuestionVerdict]:
    for place, verdict in enumerate(result.questions):
        if verdict.question_id.casefold() == question.strip().casefold():
            return place, verdict
    known = ", ".join(verdict.question_id for verdict in result.questions)
    raise UsageError(f"no question {question!r} in that session; its questions are {known}")


def _twice(verdict: QuestionVerdict, earlier: UserChoice) -> UsageError:
    return UsageError(
        f"question {verdict.question_id!r} was already decided: {earlier.by} chose {earlier.option} at {earlier.at}"
    )
