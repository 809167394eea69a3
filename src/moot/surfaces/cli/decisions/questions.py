"""`moot classify` and `moot choose`: the class of a question, and your choice where judges disagreed."""

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.clock import SystemClock
from moot.edge.files.sources import read_text
from moot.protocols.decide.questions.classify import CLASSES, classify
from moot.protocols.decide.questions.contexts import question_texts
from moot.protocols.decide.report import describe_class
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.extensions.decide import verdict_data
from moot.surfaces.history.choices import choose
from moot.text.secrets import Vault


def register(app: typer.Typer) -> None:
    app.command("classify")(classify_command)
    app.command("choose")(choose_command)


def ask_the_user(store: str, result: DecideResult) -> bool:
    """Asks for the choices that the judges left open. True if all are settled; an empty answer leaves a question
    open."""
    vault, left = Vault(os.environ), False
    for verdict in result.questions:
        if verdict.outcome != "CONTESTED" or verdict.choice is not None:
            continue
        ids = "/".join(option.id for option in verdict.options)
        said = typer.prompt(f"{verdict.question_id} [{ids}, or Enter to choose later]", default="", show_default=False)
        reason = typer.prompt("because", default="", show_default=False) if said.strip() else ""
        if not said.strip() or not reason.strip():
            left = True
            continue
        try:
            _confirm(_choose(store, result.session_id, verdict.question_id, said, vault.hide(reason)))
        except UsageError as error:  # not an option: the question stays open
            out().print(plain(str(error)))
            left = True
    return not left


def _choose(store: str | None, session: str, question: str, option: str, reason: str) -> QuestionVerdict:
    return with_store(store, lambda db: choose(db, SystemClock(), session, question, option, reason))


def choose_command(
    session: Annotated[str, typer.Argument(help="Session id, or a unique prefix.")],
    question: Annotated[str, typer.Argument(help="Id of the contested question.")],
    option: Annotated[str, typer.Argument(help="Letter of the option you choose.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Reason; kept with the choice.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Record your choice where the judges disagreed: once, with your name and the time."""
    made = _choose(store, session, question, option, Vault(os.environ).hide(reason))
    if json_output:
        return print_json(verdict_data(made))
    _confirm(made)


def _confirm(verdict: QuestionVerdict) -> None:
    assert verdict.choice is not None
    label = next(option.label for option in verdict.options if option.id == verdict.choice.option)
    made = verdict.choice
    out().print(
        plain(f"{verdict.question_id}: option {made.option}, {label}; chosen by {made.by}, {made.at}: {made.reason}")
    )


def classify_command(
    question: Annotated[str, typer.Argument(help="A question, a file of questions, or - for stdin.")],
    json_output: JsonFlag = False,
) -> None:
    """Classify a question by its words alone, and show which words decided. Calls no model."""
    asked = _questions_to_class(question)
    if not asked:
        raise UsageError("no question to classify; give one as text, in a file, or on stdin")
    if json_output:
        entries = [classify_question(name, text) for name, text in asked]
        counts = Counter(str(entry["classification"]) for entry in entries)
        summary: JsonValue = {kind: counts[kind] for kind in CLASSES}
        sole = entries[0] if len(entries) == 1 else {}
        return print_json({**sole, "classifications": [*entries], "summary": summary})
    for name, text in asked:
        kind = classify(text)
        out().print(plain(f"{name}: {describe_class(kind)}"))
        for note in kind.notes:
            out().print(plain(f"  {note}"))


def classify_question(name: str, text: str) -> dict[str, JsonValue]:
    return {"question_id": name, "question_text": text, **classify(text).model_dump(mode="json")}


def _questions_to_class(given: str) -> list[tuple[str, str]]:
    """The questions of a file in the debate_context form; else one question per line."""
    if given == "-" or _is_file(given):
        return question_texts(read_text(given), "standard input" if given == "-" else repr(given))
    return [("Q1", given)] if given.strip() else []


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except OSError:  # too long for a path, so it is a question
        return False
