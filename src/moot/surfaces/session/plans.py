"""Makes the plan of a session from a request: masks secrets and fills in settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from moot.core.ci import POINTS
from moot.core.errors import UsageError
from moot.core.experience import TrackRecord
from moot.core.types import Code, SourceFile, Tests
from moot.edge.files.sources import Origins
from moot.protocols import AnyProtocol
from moot.runtime.runner import SessionPlan
from moot.surfaces.session.branch import branch_notes
from moot.surfaces.session.input_fields import fields_of
from moot.surfaces.session.settings import Settings
from moot.surfaces.session.toolset import check_tools, repository_of
from moot.text.secrets import Vault

LONGEST_TOPIC = 200
M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to a protocol, from any surface. Files are already read."""

    protocol: AnyProtocol
    given: Mapping[str, Any]
    """Field of the input or of the extension's body -> value."""
    settings: Settings
    vault: Vault
    notes: Mapping[str, JsonValue] = field(default_factory=dict)
    origins: Origins = field(default_factory=dict)
    repo: str | None = None
    branch: bool = False
    places: Mapping[str, str | None] | None = None
    """File of the session -> local file; by default those of the given code."""
    use_models: bool = True
    seats: Mapping[str, tuple[str, ...]] | None = None
    """Seats and models; by default those of the protocol and the settings."""
    tried: Sequence[TrackRecord] = ()
    caller: str = ""
    """The owner of the client; empty for the local user."""

    def __post_init__(self) -> None:
        """Picks a model here, because every surface makes a request."""
        if self.use_models:
            object.__setattr__(self, "settings", self.settings.with_pick())

    def explain_no_model(self, needed: str) -> UsageError:
        pick = self.settings.picked
        return UsageError(f"{needed} ({pick.reason})" if pick else needed)


def make_plan(request: Request) -> SessionPlan:
    """Masks secrets before anything else sees them."""
    protocol, settings = request.protocol, request.settings
    given = mask_input(check_input(protocol, request.given), request.vault)
    rules = settings.rules(protocol.name)
    tools = check_tools(rules.get("tools", ()), settings)
    files = code_files(given)
    notes: dict[str, JsonValue] = {**request.notes}
    if files or tools or tests_in(given):
        hooks = settings.ci()
        checked = any(hooks.needs_sandbox(point) for point in POINTS)
        notes |= {"ci": hooks.model_dump(mode="json"), "runs_code": bool(tests_in(given) or tools or checked)}
    if request.origins:
        notes["origins"] = origin_notes(request.origins)
    places = request.places or {file.path: origin_of(request, file.path) for file in files}
    if request.branch and not places:
        raise UsageError(f"{protocol.name} produces no file to commit: leave out --branch")
    notes |= branch_notes(request.repo, places, branch=request.branch)
    seats = seats_for(request)
    return SessionPlan(
        protocol=protocol.name,
        topic=topic_of(given) or protocol.name,
        input=given.model_dump(mode="json"),
        rules=rules,
        limits=settings.limits(),
        gates=settings.gates(protocol.name),
        seats=seats,
        notes={**notes, **settings.endpoint_notes(seats), **(settings.pick_note(seats) if request.use_models else {})},
    )


def seats_for(request: Request) -> dict[str, tuple[str, ...]]:
    if not request.use_models:
        return {}
    return dict(request.settings.seats(request.protocol.name) if request.seats is None else request.seats)


def origin_of(request: Request, path: str) -> str | None:
    return origin[0] if (origin := request.origins.get(path)) else None


def repository_at(origin: tuple[str, str] | None) -> str:
    """The repository of a file; None for texts of a request."""
    return repository_of(origin[0]) if origin else ""


def check_input(protocol: AnyProtocol, given: Mapping[str, Any]) -> BaseModel:
    try:
        checked: BaseModel = protocol.input.model_validate(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{protocol.name}: {where}: {first['msg']}") from None
    return checked


def topic_of(given: BaseModel) -> str:
    """The first given text, else the file names."""
    for each in fields_of(type(given)):
        value = getattr(given, each.name)
        if each.kind == "text" and value:
            return " ".join(str(value).split())[:LONGEST_TOPIC]
    names = [file.path for file in code_files(given)]
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else "".join(names)


def code_files(given: BaseModel) -> list[SourceFile]:
    values = [getattr(given, name) for name in type(given).model_fields]
    return [file for value in values if isinstance(value, Code) for file in value.files]


def tests_in(given: BaseModel) -> bool:
    return any(isinstance(getattr(given, name), Tests) for name in type(given).model_fields)


# --- secrets


def mask_input(given: M, vault: Vault) -> M:
    """Masks every text of an input. All secrets are learnt first: one that is known by its name in one text is masked
    in the others too."""
    vault.learn(*texts_in(given))
    masked: M = mask_value(given, vault)
    return masked


def texts_in(value: object) -> list[str]:
    match value:
        case str():
            return [value]
        case SourceFile():
            return [value.text, value.base or ""]
        case Tests():
            return [text for _, text in value.files]
        case BaseModel():
            return [text for name in type(value).model_fields for text in texts_in(getattr(value, name))]
        case Mapping():
            return [text for each in value.values() for text in texts_in(each)]
        case list() | tuple():
            return [text for each in value for text in texts_in(each)]
        case _:
            return []


def mask_value(value: Any, vault: Vault) -> Any:
    """The masked value; file names stay, because files are looked up by them."""
    match value:
        case str():
            return vault.hide(value)
        case SourceFile():
            base = value.base and vault.hide(value.base)
            return value.model_copy(update={"text": vault.hide(value.text), "base": base})
        case Tests():
            return value.model_copy(update={"files": tuple((path, vault.hide(text)) for path, text in value.files)})
        case BaseModel():
            update = {name: mask_value(getattr(value, name), vault) for name in type(value).model_fields}
            return value.model_copy(update=update)
        case Mapping():
            return {key: mask_value(each, vault) for key, each in value.items()}
        case tuple() | list():
            return type(value)(mask_value(each, vault) for each in value)
        case _:
            return value


def origin_notes(origins: Origins) -> JsonValue:
    return {shown: list(origin) for shown, origin in origins.items()}


def origins_of(plan: SessionPlan) -> Origins:
    kept = plan.notes.get("origins")
    return (
        {str(k): (str(v[0]), str(v[1])) for k, v in kept.items() if isinstance(v, list)}
        if isinstance(kept, dict)
        else {}
    )


def learn_secrets(origins: Origins, vault: Vault) -> None:
    """On resume: secrets are in no record, so they are read from the files again."""
    for path, _ in origins.values():
        if Path(path).is_file():
            text = Path(path).read_text(encoding="utf-8", errors="replace")
            vault.learn(text)
            vault.hide(text)
