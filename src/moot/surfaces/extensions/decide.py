"""Decide beyond its descriptor: the panel, judge files, and the result as data."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from pydantic import Field, JsonValue

from moot.core.errors import UsageError
from moot.core.ports import Store
from moot.core.protocol import Option
from moot.core.report import GIVE_A_MODEL
from moot.core.types import Value
from moot.edge.files.judges import read_judges
from moot.edge.files.sources import read_text
from moot.protocols.decide.ballots import ADVISOR
from moot.protocols.decide.exit_code import exit_code
from moot.protocols.decide.questions.classify import classify
from moot.protocols.decide.questions.contexts import parse_questions, parse_spoken_question, read_questions
from moot.protocols.decide.questions.panel import load_shipped_judges
from moot.protocols.decide.questions.values import Judge, PanelQuestion
from moot.protocols.decide.script import DecideInput, DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Delivery, Extension
from moot.surfaces.history.choices import with_choices
from moot.surfaces.history.judge_files import write_judge_files
from moot.surfaces.session.conversations import Conversation
from moot.surfaces.session.plans import Request, make_plan
from moot.surfaces.session.request_bodies import Line, Long
from moot.surfaces.session.settings import Settings
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending
    from moot.surfaces.cli.session_flags import SessionFlags


LETTERED_LINE = re.compile(r"\s*(?:[-*]\s+)?\(?(?P<id>[A-Za-z0-9])[:).]\s+(?P<label>\S.*)")
BULLET_LINE = re.compile(r"\s*[-*]\s+(?P<label>\S.*)")


class GivenOption(Value):
    id: Line
    label: Annotated[str, Field(max_length=2000)]
    description: Annotated[str, Field(max_length=5000)] = ""


class GivenQuestion(Value):
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    options: tuple[GivenOption, ...] | tuple[Annotated[str, Field(max_length=2000)], ...] = Field(max_length=20)
    id: Line = ""
    context: Long = ""


class DecideBody(Value):
    questions: tuple[GivenQuestion, ...] = Field(min_length=1, max_length=100)
    force_panel: bool = False


class DecideOptions(Value):
    file: Annotated[
        str | None, Option(positional=True, help="YAML file of questions (debate_context); - is stdin.")
    ] = None
    ask: Annotated[str | None, Option(help="A single question, instead of a file.")] = None
    option: Annotated[tuple[str, ...], Option(help='An option of --ask, e.g. "A: …".')] = ()
    against: Annotated[tuple[str, ...], Option(help="A model for the panel; dealt to the judges in turn.")] = ()
    feature_dir: Annotated[str | None, Option(help="Write the judges' files to this folder.")] = None
    yaml: Annotated[bool, Option(after=True, help="Print the result as YAML.")] = False


class DecideExtension(Extension):
    body = DecideBody
    options = DecideOptions

    def read_body(self, body: DecideBody, request: Request) -> dict[str, Any]:
        return {"questions": questions_of(body), "force_panel": body.force_panel}

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        if flags.json_output and said.get("yaml"):
            raise UsageError("--json contradicts --yaml; leave one of them out")
        if flags.no_llm and said.get("against"):
            raise UsageError("--no-llm contradicts --against; leave one of them out")
        said["asked"] = "ask" in said
        said["questions"] = questions_from(said.pop("file", None), said.pop("ask", None), said.pop("option", ()))
        return {}

    def read_chat(self, talk: Conversation, body: type[Value]) -> dict[str, Any]:
        """A line that starts with a letter (`A: …`) is an option, or a bullet if no line does. The text before the
        first option is the question, the text after them its context."""
        lines = talk.lines
        found = {n: each for n, line in enumerate(lines) if (each := LETTERED_LINE.fullmatch(line))}
        found = found or {n: each for n, line in enumerate(lines) if (each := BULLET_LINE.fullmatch(line))}
        asked = "\n".join(lines[: min(found, default=0)]).strip()
        if len(found) < 2 or not asked:
            raise UsageError("write the question, and below it its options, a line each, such as `A: …`")
        after = "\n".join(line for n, line in enumerate(lines) if n > min(found) and n not in found).strip()
        question = {
            "text": asked,
            "options": [each.groupdict() if "id" in each.groupdict() else each["label"] for each in found.values()],
            "context": "\n\n".join(filter(None, (after, talk.earlier))),
        }
        return {"questions": [question], "force_panel": True}

    def plan(self, request: Request) -> SessionPlan:
        """`against`: models dealt to the judges in turn; `feature_dir`: the folder of the judges' files; `asked`: a
        single question, which goes to the panel whatever its class."""
        given = dict(request.given)
        against, folder = tuple(given.pop("against", ())), given.pop("feature_dir", None)
        settings, judges = request.settings, panel_of(request.settings)
        seats = seats_of(settings, judges, against) if request.use_models else {}
        if given.pop("asked", False) and any(seats.values()):
            given["force_panel"] = True
        plan = make_plan(replace(request, given={**given, "judges": judges}, seats=seats))
        if request.use_models:
            refuse_empty_panel(request, DecideInput.model_validate(plan.input), seats)
        questions = DecideInput.model_validate(plan.input).questions
        first = " ".join(questions[0].text.split())
        topic = first if len(questions) == 1 else f"{first} and {len(questions) - 1} more"
        folders: dict[str, JsonValue] = dict(folders_of(questions, folder))
        return plan.model_copy(update={"topic": topic, "notes": {**plan.notes, "folders": folders}})

    async def amend(self, result: DecideResult, store: Store) -> DecideResult:
        return with_choices(result, await store.steps(result.session_id))

    def open_choices(self, result: DecideResult) -> Sequence[QuestionVerdict]:
        return [each for each in result.questions if each.outcome == "CONTESTED" and each.choice is None]

    def present(self, result: DecideResult) -> JsonValue:
        return as_data(result)

    def format(self, result: DecideResult, ending: "Ending") -> str:
        return as_yaml(result) if ending.yaml else ""

    def deliver(self, result: DecideResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> Delivery:
        written, removed = write_judge_files(result, folders_in(plan))
        said = {"written": written, "removed files of an earlier run": removed}
        return Delivery(
            exit_code(result), tuple(f"{what}: {', '.join(paths)}" for what, paths in said.items() if paths)
        )

    def ask_person(self, result: DecideResult, ending: "Ending") -> bool:
        from moot.surfaces.cli.decisions.questions import ask_the_user

        return not ending.yaml and ask_the_user(ending.store, result)


EXTENSION = DecideExtension()


def questions_from(file: str | None, ask: str | None, options: Sequence[str]) -> tuple[PanelQuestion, ...]:
    if (file is None) == (ask is None):
        raise UsageError("give either a file of questions (- is stdin) or --ask with its --option")
    if ask is not None:
        return (parse_spoken_question(ask, options),)
    if options:
        raise UsageError("--option goes with --ask; with a file, the options are in the file")
    return read_questions(read_text(file or ""), "standard input" if file == "-" else repr(file))


def panel_of(settings: Settings) -> tuple[Judge, ...]:
    """Judges by name; the user's own take precedence over shipped ones."""
    folder, names = str(settings["decide.judges_folder"]), settings["decide.judges"]
    known = {**load_shipped_judges(), **(read_judges(folder) if folder else {})}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown judge {name!r}; known are {', '.join(sorted(known))}")
    if len(set(names)) != len(names):
        raise UsageError("a judge was named twice; name each judge once")
    if len(names) < 2:
        raise UsageError("a panel needs at least two judges, e.g. --judges risk,value,effort")
    return tuple(known[name] for name in names)


def seats_of(settings: Settings, judges: Sequence[Judge], against: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Seats and models. `against` models are dealt in turn; the adviser has a seat only if named."""
    names = tuple(judge.name for judge in judges)
    seats = settings.seats("decide", (*names, ADVISOR))
    own = {key.removeprefix("seats.") for key in settings.resolved if key.startswith("seats.")}
    if ADVISOR not in own:
        seats.pop(ADVISOR, None)
    first = [tuple(settings["model"])] if settings.resolved["model"].source == "flag" else []
    pool = [*first, *((model,) for model in against)] if against else []
    dealt = {name: pool[place % len(pool)] for place, name in enumerate(names) if pool and name not in own}
    return {name: dealt.get(name, seats.get(name, ())) for name in (*names, ADVISOR) if name in dealt or name in seats}


def refuse_empty_panel(request: Request, given: DecideInput, seats: Mapping[str, Sequence[str]]) -> None:
    """Raises before the session if no model is available."""
    asked = [q for q in given.questions if given.force_panel or classify(q.text).classification == "SCOPE_CRITICAL"]
    if asked and not any(seats.get(judge.name) for judge in given.judges):
        raise request.explain_no_model(
            f"question {asked[0].id!r} needs a panel, and no judge has a model: {GIVE_A_MODEL}; "
            "`moot decide classify` needs none"
        )


def folders_of(questions: Sequence[PanelQuestion], given: str | None) -> dict[str, str]:
    """The folder of each question's judge files: `--feature-dir`, else the one its file names."""
    if given:
        return {question.id: given for question in questions}
    return {question.id: _inside(question) for question in questions if question.feature_dir}


def _inside(question: PanelQuestion) -> str:
    """A file of questions may name a folder below the current one; others need --feature-dir."""
    path = PurePath(question.feature_dir)
    if path.is_absolute() or ".." in path.parts or question.feature_dir.startswith("~"):
        raise UsageError(
            f"question {question.id!r}: feature_dir {question.feature_dir!r} is outside this folder; use --feature-dir"
        )
    return str(Path.cwd() / path)


def folders_in(plan: SessionPlan) -> dict[str, str]:
    kept = plan.notes.get("folders")
    return {str(key): str(value) for key, value in kept.items()} if isinstance(kept, dict) else {}


def as_data(result: DecideResult) -> dict[str, JsonValue]:
    """The result as data: `questions`, and for a single question also its own fields."""
    data: dict[str, JsonValue] = result.model_dump(mode="json", exclude={"questions"})
    entries = [verdict_data(verdict) for verdict in result.questions]
    sole = entries[0] if len(entries) == 1 else {}
    return {**sole, **data, "questions": [*entries]}


def verdict_data(verdict: QuestionVerdict) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = verdict.model_dump(mode="json")
    log: list[JsonValue] = [
        {"judge": c.judge, "round": c.round, "from": c.before, "to": c.after, "reason": c.reason}
        for c in verdict.change_log
    ]
    return {**data, "change_log": log}


def seed_form(verdict: QuestionVerdict) -> dict[str, JsonValue]:
    """`debate_result` in the seed's format, with further fields after it."""
    data = verdict_data(verdict)
    form: dict[str, JsonValue] = {"question_id": verdict.question_id, "consensus": verdict.consensus}
    form |= {key: data[key] for key in ("outcome", "recommended_option", "confidence", "agreement")}
    contested = verdict.outcome == "CONTESTED"
    if contested:
        form["distribution"] = data["distribution"]
    favors = {f"{judge}_favors" if contested else judge: text for judge, text in verdict.perspectives.items()}
    form["perspectives"] = {**favors}
    form["change_log"] = data["change_log"]
    form |= {key: data[key] for key in ("dissent", "user_prompt", "choice", "notes", "degraded") if data[key]}
    kind = verdict.classification
    words: list[JsonValue] = [match.word for match in kind.matched]
    form["classification"] = {"class": kind.classification, "confidence": kind.confidence, "matched": words}
    return form


def as_yaml(result: DecideResult) -> str:
    """`debate_result` for one question, `debate_results` for several."""
    forms: list[JsonValue] = [seed_form(verdict) for verdict in result.questions]
    data: dict[str, JsonValue] = {"debate_result": forms[0]} if len(forms) == 1 else {"debate_results": forms}
    data["session_id"], data["degraded"] = result.session_id, [*result.degraded]
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    """Writes multi-line texts as blocks."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def questions_of(given: DecideBody) -> tuple[PanelQuestion, ...]:
    entries = [
        {
            **({"question_id": question.id} if question.id else {}),
            "question_text": question.text,
            "spec_context": question.context,
            "options": [o if isinstance(o, str) else _option(o) for o in question.options],
        }
        for question in given.questions
    ]
    return parse_questions(entries, "the request")


def _option(option: GivenOption) -> dict[str, str]:
    return {name: value for name, value in option.model_dump().items() if value}
