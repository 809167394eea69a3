"""Decide beyond its descriptor: the judges of a panel, where their files go, and the result as data."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, JsonValue

from moot.core.errors import UsageError
from moot.core.ports import Store
from moot.core.types import Value
from moot.edge.files.judges import read_judges
from moot.protocols.decide.ballots import ADVISOR
from moot.protocols.decide.questions import Judge, PanelQuestion, classify, load_shipped_judges, parse_questions
from moot.protocols.decide.script import DecideInput, DecideResult
from moot.protocols.decide.verdicts import QuestionVerdict
from moot.runtime.runner import SessionPlan
from moot.surfaces.bodies import Line, Long
from moot.surfaces.choices import with_choices
from moot.surfaces.extensions import Extension
from moot.surfaces.plans import Request, make_plan
from moot.surfaces.setup import Settings
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending


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


class DecideExtension(Extension):
    body = DecideBody

    def read_body(self, body: DecideBody, request: Request) -> dict[str, Any]:
        return {"questions": questions_of(body), "force_panel": body.force_panel}

    def plan(self, request: Request) -> SessionPlan:
        """`against`: models that the judges take in turn; `feature_dir`: where the judges' files go."""
        given = dict(request.given)
        against, folder = tuple(given.pop("against", ())), given.pop("feature_dir", None)
        settings, judges = request.settings, panel_of(request.settings)
        seats = seats_of(settings, judges, against) if request.use_models else {}
        plan = make_plan(replace(request, given={**given, "judges": judges}, seats=seats))
        if request.use_models:
            refuse_empty_panel(DecideInput.model_validate(plan.input), seats)
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

    def finish(self, result: DecideResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> int:
        from moot.surfaces.cli.decided import finish

        return finish(result, plan, vault, ending)


EXTENSION = DecideExtension()


def panel_of(settings: Settings) -> tuple[Judge, ...]:
    """The judges by name; one of your own goes before a shipped one of the same name."""
    folder, names = str(settings["decide.judges_folder"]), settings["decide.judges"]
    known = {**load_shipped_judges(), **(read_judges(folder) if folder else {})}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no judge {name!r}; known are {', '.join(sorted(known))}")
    if len(set(names)) != len(names):
        raise UsageError("a judge sits only once on a panel; name each judge once")
    if len(names) < 2:
        raise UsageError("a panel needs at least two judges, e.g. --judges risk,value,effort")
    return tuple(known[name] for name in names)


def seats_of(settings: Settings, judges: Sequence[Judge], against: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Who sits where. `against` models are dealt round; the adviser sits only if somebody seats it by name."""
    names = tuple(judge.name for judge in judges)
    seats = settings.seats("decide", (*names, ADVISOR))
    own = {key.removeprefix("seats.") for key in settings.resolved if key.startswith("seats.")}
    if ADVISOR not in own:
        seats.pop(ADVISOR, None)
    first = [tuple(settings["model"])] if settings.resolved["model"].source == "flag" else []
    pool = [*first, *((model,) for model in against)] if against else []
    dealt = {name: pool[place % len(pool)] for place, name in enumerate(names) if pool and name not in own}
    return {name: dealt.get(name, seats.get(name, ())) for name in (*names, ADVISOR) if name in dealt or name in seats}


def refuse_empty_panel(given: DecideInput, seats: Mapping[str, Sequence[str]]) -> None:
    """What needs a model says so before anything begins."""
    asked = [q for q in given.questions if given.force_panel or classify(q.text).classification == "SCOPE_CRITICAL"]
    if asked and not any(seats.get(judge.name) for judge in given.judges):
        raise UsageError(
            f"question {asked[0].id!r} needs its panel, and no judge has a model: give one with --model or --seat, "
            "or set `model` in moot.toml; `moot classify` needs none"
        )


def folders_of(questions: Sequence[PanelQuestion], given: str | None) -> dict[str, str]:
    """Where the judge files of each question go: `--feature-dir`, else the folder its file names."""
    if given:
        return {question.id: given for question in questions}
    return {question.id: _inside(question) for question in questions if question.feature_dir}


def _inside(question: PanelQuestion) -> str:
    """A file of questions may name a folder below this one; anywhere else is for the person to say."""
    path = PurePath(question.feature_dir)
    if path.is_absolute() or ".." in path.parts or question.feature_dir.startswith("~"):
        raise UsageError(
            f"question {question.id!r}: feature_dir {question.feature_dir!r} leaves this folder; use --feature-dir"
        )
    return str(Path.cwd() / path)


def folders_in(plan: SessionPlan) -> dict[str, str]:
    kept = plan.notes.get("folders")
    return {str(key): str(value) for key, value in kept.items()} if isinstance(kept, dict) else {}


def as_data(result: DecideResult) -> dict[str, JsonValue]:
    """The result for machines: `questions` always, and the fields of a single question beside it as well."""
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
    """`debate_result` as the seed writes it, with what else is known after it."""
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
