"""`decide` as every surface offers it: questions in, a session, a result as data, and the user's own choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.files.judges import read_judges
from moot.protocols.decide.ballots import ADVISOR
from moot.protocols.decide.questions import Judge, Question, classify, shipped
from moot.protocols.decide.script import DecideInput, DecideResult
from moot.protocols.decide.verdicts import Verdict
from moot.runtime.runner import Plan
from moot.surfaces.setup import Settings
from moot.text.secrets import Vault

EXIT_CODES = {"RECOMMENDED": 0, "NO_PANEL": 0, "CONTESTED": 1, "INSUFFICIENT_DATA": 2}
INTERRUPTED = 130
REJECTED = 2


@dataclass(frozen=True)
class Wishes:
    """How a panel is to be held, beyond its settings."""

    force_panel: bool = False
    against: tuple[str, ...] = ()
    """Models that the judges take in turn."""
    feature_dir: str | None = None
    no_llm: bool = False


def exit_code(result: DecideResult) -> int:
    """0 also once the user has chosen in every contested question."""
    if result.stop_reason == "cancelled":
        return INTERRUPTED
    if result.stop_reason == "rejected":
        return REJECTED
    return max(0 if v.choice else EXIT_CODES[v.outcome] for v in result.questions)


def decide_plan(settings: Settings, questions: Sequence[Question], vault: Vault, wishes: Wishes) -> Plan:
    """The session to run. Secrets in the questions are masked here, before anything else sees them."""
    judges = panel_of(settings)
    hidden = tuple(_hidden(question, vault) for question in questions)
    given = DecideInput(questions=hidden, judges=judges, force_panel=wishes.force_panel)
    seats = {} if wishes.no_llm else seats_of(settings, judges, wishes.against)
    if not wishes.no_llm:
        refuse_empty_panel(given, seats)
    first = " ".join(hidden[0].text.split())
    folders: dict[str, JsonValue] = dict(folders_of(hidden, wishes.feature_dir))
    return Plan(
        protocol="decide",
        topic=first if len(hidden) == 1 else f"{first} and {len(hidden) - 1} more",
        input=given.model_dump(mode="json"),
        rules=settings.rules("decide"),
        limits=settings.limits(),
        gates=settings.gates("decide"),
        seats=seats,
        notes={"folders": folders, **settings.endpoint_notes(seats)},
    )


def panel_of(settings: Settings) -> tuple[Judge, ...]:
    """The judges by name; one of your own goes before a shipped one of the same name."""
    folder, names = str(settings["decide.judges_folder"]), settings["decide.judges"]
    known = {**shipped(), **(read_judges(folder) if folder else {})}
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


def folders_of(questions: Sequence[Question], given: str | None) -> dict[str, str]:
    """Where the judge files of each question go: `--feature-dir`, else the folder its file names."""
    if given:
        return {question.id: given for question in questions}
    return {question.id: _inside(question) for question in questions if question.feature_dir}


def _inside(question: Question) -> str:
    """A file of questions may name a folder below this one; anywhere else is for the person to say."""
    path = PurePath(question.feature_dir)
    if path.is_absolute() or ".." in path.parts or question.feature_dir.startswith("~"):
        raise UsageError(
            f"question {question.id!r}: feature_dir {question.feature_dir!r} leaves this folder; use --feature-dir"
        )
    return str(Path.cwd() / path)


def _hidden(question: Question, vault: Vault) -> Question:
    hide = vault.hide
    options = tuple(
        o.model_copy(update={"label": hide(o.label), "description": hide(o.description)}) for o in question.options
    )
    return question.model_copy(
        update={"text": hide(question.text), "context": hide(question.context), "options": options}
    )


def folders_in(plan: Plan) -> dict[str, str]:
    kept = plan.notes.get("folders")
    return {str(key): str(value) for key, value in kept.items()} if isinstance(kept, dict) else {}


def as_data(result: DecideResult) -> dict[str, JsonValue]:
    """The result for machines: `questions` always, and the fields of a single question beside it as well."""
    data: dict[str, JsonValue] = result.model_dump(mode="json", exclude={"questions"})
    entries = [verdict_data(verdict) for verdict in result.questions]
    sole = entries[0] if len(entries) == 1 else {}
    return {**sole, **data, "questions": [*entries]}


def verdict_data(verdict: Verdict) -> dict[str, JsonValue]:
    data: dict[str, JsonValue] = verdict.model_dump(mode="json")
    log: list[JsonValue] = [
        {"judge": c.judge, "round": c.round, "from": c.before, "to": c.after, "reason": c.reason}
        for c in verdict.change_log
    ]
    return {**data, "change_log": log}


def seed_form(verdict: Verdict) -> dict[str, JsonValue]:
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
