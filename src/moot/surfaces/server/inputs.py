"""What a request gives to a session: texts in the request itself, never paths of the server's disk."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Code, Language, SourceFile, Tests, Value
from moot.edge.files.plans import HEAD_CHARACTERS, HEAD_LINES, MOST_ARTEFACTS, ORDER, Found
from moot.edge.files.plans import Desk as ArtefactDesk
from moot.edge.files.sources import MAX_FILES, decoded
from moot.edge.git.worktree import safe_parts
from moot.evidence.artefacts.kinds import guess
from moot.evidence.artefacts.values import ArtefactType, Neighbour
from moot.protocols.decide.questions import Question, asked_questions
from moot.teams.roles import Agent, Role
from moot.teams.roles.templates import MAX_AGENTS, numbered

Files = Annotated[dict[str, str], Field(max_length=MAX_FILES, description="path -> text; a path inside the session")]
Line = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=200_000)]


class HardenInput(Value):
    files: Files = Field(min_length=1)
    language: Language | None = Field(default=None, description="of all files; default: by their names")
    tests: Files = Field(default={})
    entry: Line = Field(default="", description="the function that a Python check(candidate) is about")


class TeamSeat(Value):
    role: Line
    model: Line
    id: Line = Field(default="", description="default: the role, counted")


class DebateInput(Value):
    task: Long = Field(min_length=1)
    kind: Literal["code", "topic"] | None = Field(default=None, description="default: by the task")
    language: Language | None = None
    files: Files = Field(default={})
    tests: Files = Field(default={})
    hidden_tests: Files = Field(default={})
    entry: Line = ""
    team: tuple[TeamSeat, ...] = Field(default=(), max_length=MAX_AGENTS)


class ReviewInput(Value):
    artefacts: Files = Field(min_length=1)
    types: dict[str, ArtefactType] = Field(default={}, description="path -> type; default: by name and content")
    context: Long = Field(default="", description="what the project is about: the head of its PROJECT.md")


class VetInput(Value):
    action: Long = Field(min_length=1)
    stakes: Literal["low", "medium", "high"] | None = None
    context: Long = ""
    session: Line = Field(default="", description="of a coding tool: the same action is debated once in it")
    failed: bool = False
    attempts: tuple[Long, ...] = Field(default=(), max_length=20)
    errors: tuple[Long, ...] = Field(default=(), max_length=20)


class GivenOption(Value):
    id: Line
    label: Annotated[str, Field(max_length=2000)]
    description: Annotated[str, Field(max_length=5000)] = ""


class GivenQuestion(Value):
    text: Annotated[str, Field(min_length=1, max_length=20_000)]
    options: tuple[GivenOption, ...] | tuple[Annotated[str, Field(max_length=2000)], ...] = Field(max_length=20)
    id: Line = ""
    context: Long = ""


class DecideInput(Value):
    questions: tuple[GivenQuestion, ...] = Field(min_length=1, max_length=100)
    force_panel: bool = False


def code_of(files: Mapping[str, str], language: Language | None) -> Code:
    return Code(files=tuple(_source(path, text, language) for path, text in files.items()))


def _source(path: str, text: str, language: Language | None) -> SourceFile:
    known = language or language_of(path)
    if known is None:
        raise UsageError(f"cannot tell the language of {path!r}; say `language`")
    return SourceFile(path=checked_path(path), language=known, text=checked_text(path, text))


def tests_of(files: Mapping[str, str], entry: str) -> Tests | None:
    if not files:
        return None
    languages = Counter(found for path in files if (found := language_of(path)))
    if not languages:
        raise UsageError(f"there are no test files among {', '.join(files)} (looked for {', '.join(sorted(SUFFIXES))})")
    given = tuple((checked_path(path), text and checked_text(path, text)) for path, text in files.items())
    return Tests(files=given, language=languages.most_common(1)[0][0], entry=entry)


def language_of(path: str) -> Language | None:
    return next((known for suffix, known in SUFFIXES.items() if path.lower().endswith(suffix)), None)


def checked_path(path: str) -> str:
    """A name inside the session's own folder: it is laid out in a sandbox, and nothing is read from it."""
    try:
        safe_parts(path)
    except UsageError:
        raise UsageError(f"{path!r} is no path inside a session; give relative ones, such as src/app.py") from None
    if len(path) > 300 or not path.isprintable():
        raise UsageError("a path has at most 300 characters, all of them printable")
    return path


def checked_text(path: str, text: str) -> str:
    return decoded(text.encode("utf-8"), path)


def desk_of(given: ReviewInput) -> ArtefactDesk:
    """As from a planning folder, with all artefacts of the request beside each other."""
    if len(given.artefacts) > MOST_ARTEFACTS:
        raise UsageError(f"there are more than the {MOST_ARTEFACTS} artefacts of one session")
    if strange := [path for path in given.types if path not in given.artefacts]:
        raise UsageError(f"`types` speaks of {strange[0]!r}, which is not among the artefacts")
    found = [_found(checked_path(path), checked_text(path, text), given) for path, text in given.artefacts.items()]
    found.sort(key=lambda each: ORDER.index(each.type))
    return ArtefactDesk(
        found=tuple(found),
        around=tuple(Neighbour(path=each.path, type=each.type, text=each.text) for each in found),
        context="\n".join(given.context.splitlines()[:HEAD_LINES])[:HEAD_CHARACTERS],
        config=None,
    )


def _found(path: str, text: str, given: ReviewInput) -> Found:
    if path in given.types:
        return Found(path, text, given.types[path], "as told by the request")
    told = guess(path, text)
    if told.type is None:
        raise UsageError(f"cannot tell what kind of artefact {path} is: {told.how}; say it in `types`")
    return Found(path, text, told.type, told.how)


def team_of(seats: Sequence[TeamSeat], roles: Mapping[str, Role]) -> tuple[Agent, ...]:
    taken, agents = Counter[str](), list[Agent]()
    for seat in seats:
        if seat.role not in roles:
            raise UsageError(f"there is no role {seat.role!r}; roles are {', '.join(roles)}")
        taken[seat.role] += 1
        try:
            agents.append(Agent(id=seat.id or numbered(seat.role, taken[seat.role]), role=seat.role, model=seat.model))
        except ValueError:
            raise UsageError(f"the id {seat.id!r} must be small letters, digits, - or _") from None
    if len({agent.id for agent in agents}) != len(agents):
        raise UsageError("two agents of the team have the same id")
    return tuple(agents)


def questions_of(given: DecideInput) -> tuple[Question, ...]:
    entries = [
        {
            **({"question_id": question.id} if question.id else {}),
            "question_text": question.text,
            "spec_context": question.context,
            "options": [o if isinstance(o, str) else _option(o) for o in question.options],
        }
        for question in given.questions
    ]
    return asked_questions(entries, "the request")


def _option(option: GivenOption) -> dict[str, str]:
    return {name: value for name, value in option.model_dump().items() if value}
