"""`moot decide`, `moot classify`, `moot choose`: a panel on an open question, its class alone, and your own choice."""

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.clock import SystemClock
from moot.edge.store import SqlStore
from moot.protocols.decide import PROTOCOL
from moot.protocols.decide.questions import (
    CLASSES,
    PanelQuestion,
    classify,
    parse_spoken_question,
    question_texts,
    read_questions,
)
from moot.protocols.decide.report import describe_class
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.surfaces.choices import choose
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.running import finish, run_session
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.extensions.decide import EXTENSION, panel_of, seats_of, verdict_data
from moot.surfaces.plans import Request
from moot.surfaces.setup import Settings
from moot.text.secrets import Vault

EXAMPLES = """Examples:

  moot decide questions.yaml -m openai:gpt-5

  moot decide --ask "Do we need offline mode in v1?" --option "A: full" --option "B: none" -m openai:gpt-5

  moot decide q.yaml --against openai:gpt-5 --against anthropic:claude-sonnet-4-6 --feature-dir specs/offline

  moot decide q.yaml --judges risk,value,effort,security --yaml
"""
LARGEST = 2_000_000


def register(app: typer.Typer) -> None:
    app.command("decide", epilog=EXAMPLES)(decide_command)
    app.command("classify")(classify_command)
    app.command("choose")(choose_command)


@with_flags(SessionFlags)
def decide_command(
    flags: SessionFlags,
    file: Annotated[str | None, typer.Argument(help="YAML file of questions (debate_context); - is stdin.")] = None,
    ask: Annotated[str | None, typer.Option("--ask", help="A single question, instead of a file.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", help='An option of --ask, e.g. "A: …".')] = None,
    judges: Annotated[str | None, typer.Option("--judges", help="Judges, e.g. risk,value,effort.")] = None,
    judges_folder: Annotated[str | None, typer.Option(help="Folder with your own judges.")] = None,
    against: Annotated[
        list[str] | None, typer.Option("--against", help="A model for the panel; dealt to the judges in turn.")
    ] = None,
    feature_dir: Annotated[
        str | None, typer.Option("--feature-dir", help="Write the judges' files to this folder.")
    ] = None,
    force_panel: Annotated[
        bool,
        typer.Option("--force-panel", help="Ask the panel whatever the question's class, as --ask does."),
    ] = False,
    yaml_output: Annotated[bool, typer.Option("--yaml", help="Print the result as YAML.")] = False,
) -> None:
    """Put a question to judges with fixed stances. They answer independently, then challenge each other.

    Exit code 0: recommended, or classed without a panel; 1: contested; 2: too few judges, or cut short; 130: Ctrl-C.
    """
    if flags.json_output and yaml_output:
        raise UsageError("--json contradicts --yaml; leave one of them out")
    if flags.no_llm and against:
        raise UsageError("--no-llm contradicts --against; leave one of them out")
    settings = flags.settings({"decide.judges": judges, "decide.judges_folder": judges_folder})
    on_the_spot = ask is not None and any(seats_of(settings, panel_of(settings), against or ()).values())
    forced = force_panel or (on_the_spot and not flags.no_llm)
    asked = questions_from(file, ask, option or [])
    request = Request(
        protocol=PROTOCOL,
        given={"questions": asked, "force_panel": forced, "against": tuple(against or ()), "feature_dir": feature_dir},
        settings=settings,
        vault=Vault(os.environ),
        use_models=not flags.no_llm,
    )
    ending = Ending(json=flags.json_output, quiet=flags.quiet, yaml=yaml_output)
    raise typer.Exit(_run(request, ending))


def _run(request: Request, ending: Ending) -> int:
    settings, vault, plan = request.settings, request.vault, EXTENSION.plan(request)
    result = asyncio.run(run_session(settings, plan, vault, ending, lambda runner: runner.start(plan)))
    code = finish(result, plan, vault, ending)
    if code == 1 and isinstance(result, DecideResult) and not (ending.json or ending.yaml) and _at_a_terminal():
        return _ask_the_user(settings, result, vault)
    return code


def questions_from(file: str | None, ask: str | None, options: Sequence[str]) -> tuple[PanelQuestion, ...]:
    if (file is None) == (ask is None):
        raise UsageError("give either a file of questions (- is stdin) or --ask with its --option")
    if ask is not None:
        return (parse_spoken_question(ask, options),)
    if options:
        raise UsageError("--option goes with --ask; with a file, the options are in the file")
    return read_questions(_text_of(file or ""), "standard input" if file == "-" else repr(file))


def _text_of(file: str) -> str:
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file!r} cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise UsageError(f"{file!r} is larger than {LARGEST} bytes; that is too large for a file of questions")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{file!r} is not UTF-8 text") from None


def _at_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_the_user(settings: Settings, result: DecideResult, vault: Vault) -> int:
    """On the spot: what the judges left open. Nothing said leaves the question open."""
    left = 0
    for verdict in result.questions:
        if verdict.outcome != "CONTESTED":
            continue
        ids = "/".join(option.id for option in verdict.options)
        said = typer.prompt(f"{verdict.question_id} [{ids}, or Enter to choose later]", default="", show_default=False)
        reason = typer.prompt("because", default="", show_default=False) if said.strip() else ""
        if not said.strip() or not reason.strip():
            left = 1
            continue
        try:
            _confirm(asyncio.run(_choose(settings, result.session_id, verdict.question_id, said, vault.hide(reason))))
        except UsageError as error:  # a letter that is no option: the question stays open, nothing is lost
            out().print(plain(str(error)))
            left = 1
    return left


async def _choose(settings: Settings, session: str, question: str, option: str, reason: str) -> QuestionVerdict:
    store = SqlStore(settings.store)
    try:
        return await choose(store, SystemClock(), session, question, option, reason)
    finally:
        await store.aclose()


def choose_command(
    session: Annotated[str, typer.Argument(help="Session id, or a unique prefix.")],
    question: Annotated[str, typer.Argument(help="Id of the contested question.")],
    option: Annotated[str, typer.Argument(help="Letter of the option you choose.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Reason; kept with the choice.")],
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Record your choice where the judges disagreed: once, with your name and the time."""
    settings = Settings.load({"store": store})
    hidden = Vault(os.environ).hide(reason)
    made = asyncio.run(_choose(settings, session, question, option, hidden))
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
    """A file in the debate_context form gives its questions; any other text a question in each line."""
    if given == "-" or _is_file(given):
        return question_texts(_text_of(given), "standard input" if given == "-" else repr(given))
    return [("Q1", given)] if given.strip() else []


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except OSError:  # too long for a path: it is a question
        return False
