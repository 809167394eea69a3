"""The panel from Python: `await decide("Do we need it in v1?", ["all of it", "none"], model="openai:…")`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.events import Event
from moot.core.types import Limits
from moot.protocols.decide.questions.contexts import parse_spoken_question, read_questions
from moot.protocols.decide.questions.values import PanelQuestion
from moot.protocols.decide.script import DecideResult, DecideRules
from moot.surfaces.extensions.decide import folders_in
from moot.surfaces.history.judge_files import write_judge_files
from moot.surfaces.library.protocols import run_protocol


async def decide(  # noqa: PLR0913 - a public door: everything but the first two is by name
    question: str | Path | Sequence[PanelQuestion],
    options: Sequence[str] = (),
    *,
    rules: DecideRules | None = None,
    model: str | Sequence[str] | None = None,
    seats: Mapping[str, str | Sequence[str]] | None = None,
    against: Sequence[str] = (),
    force_panel: bool = False,
    feature_dir: str | Path | None = None,
    limits: Limits | None = None,
    store: str | Path | None = None,
    keep: bool = True,
    listen: Callable[[Event], None] | None = None,
) -> DecideResult:
    """Put a question before judges with fixed stances.

    `question` is a text (then give `options`), the `Path` of a file in the `debate_context` form, or `PanelQuestion`s.
    `result.questions` holds a verdict for each. `feature_dir` is where the judges' files go; `keep=False` leaves no
    record.
    """
    given = {"questions": _questions(question, options), "force_panel": force_panel, "against": tuple(against)}
    done = await run_protocol(
        "decide", {**given, "feature_dir": str(feature_dir) if feature_dir else None}, rules=rules, model=model,
        seats=seats, limits=limits, store=store, keep=keep, listen=listen,
    )  # fmt: skip
    result: DecideResult = done.result
    write_judge_files(result, folders_in(done.plan))
    return result


def _questions(question: str | Path | Sequence[PanelQuestion], options: Sequence[str]) -> tuple[PanelQuestion, ...]:
    if isinstance(question, str):
        return (parse_spoken_question(question, options),)
    if options:
        raise UsageError("`options` go with a question given as text")
    if isinstance(question, Path):
        try:
            return read_questions(question.read_text(encoding="utf-8"), repr(str(question)))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{str(question)!r} cannot be read: {error}") from None
    return tuple(question)
