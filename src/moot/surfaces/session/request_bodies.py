"""HTTP request bodies: texts instead of paths on the server's disk."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, create_model

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Code, Language, SourceFile, Tests, Value
from moot.edge.files.sources import MAX_FILES, decode_source
from moot.edge.git.worktree import safe_parts
from moot.protocols import AnyProtocol
from moot.surfaces.session.input_fields import fields_of

ANY_FILES = "path -> text; a path inside the session"
Files = Annotated[dict[str, str], Field(max_length=MAX_FILES, description=ANY_FILES)]
Line = Annotated[str, Field(max_length=200)]
Long = Annotated[str, Field(max_length=200_000)]
BY_NAME = "of all files; default: by their names"
ENTRY = "the function that a Python check(candidate) is about"


def body_of(protocol: AnyProtocol) -> type[Value]:
    """The default body of a protocol: the fields of its input, with texts for files."""
    kinds = {each.name: each for each in fields_of(protocol.input)}
    made: dict[str, Any] = {}
    for each in kinds.values():
        if each.kind in ("code", "tests"):
            must = Field(min_length=1, description=each.info.description)
            made[each.name] = (Files, must if each.required else Field(default={}, description=each.info.description))
        else:
            kind = Annotated[each.info.annotation, *each.info.metadata] if each.info.metadata else each.info.annotation
            made[each.name] = (kind, each.info)
    found = {each.kind for each in kinds.values()}
    if found & {"code", "tests"} and "language" not in made:
        made["language"] = (Language | None, Field(default=None, description=BY_NAME))
    if "tests" in found and "entry" not in made:
        made["entry"] = (Line, Field(default="", description=ENTRY))
    body: type[Value] = create_model(f"{protocol.name.title().replace('_', '')}Body", __base__=Value, **made)
    return body


def read_body(protocol: AnyProtocol, body: Value) -> dict[str, Any]:
    """The values of the input, with texts as code and tests."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    language, values = given.get("language"), dict[str, Any]()
    for each in fields_of(protocol.input):
        if each.name not in given:
            continue
        value = given[each.name]
        if each.kind == "code":
            value = code_of(value, language) if value else None
        elif each.kind == "tests":
            value = tests_of(value, given.get("entry") or "")
        values[each.name] = value
    return values


def code_of(files: Mapping[str, str], language: Language | None) -> Code:
    return Code(files=tuple(_source(path, text, language) for path, text in files.items()))


def _source(path: str, text: str, language: Language | None) -> SourceFile:
    known = language or language_of(path)
    if known is None:
        raise UsageError(f"cannot tell the language of {path!r}; set `language`")
    return SourceFile(path=check_path(path), language=known, text=check_text(path, text))


def tests_of(files: Mapping[str, str], entry: str) -> Tests | None:
    if not files:
        return None
    languages = Counter(found for path in files if (found := language_of(path)))
    if not languages:
        raise UsageError(f"there are no test files among {', '.join(files)} (looked for {', '.join(sorted(SUFFIXES))})")
    given = tuple((check_path(path), text and check_text(path, text)) for path, text in files.items())
    return Tests(files=given, language=languages.most_common(1)[0][0], entry=entry)


def language_of(path: str) -> Language | None:
    return next((known for suffix, known in SUFFIXES.items() if path.lower().endswith(suffix)), None)


def check_path(path: str) -> str:
    """A path inside the session's folder, which is created in a sandbox and never read from disk."""
    try:
        safe_parts(path)
    except UsageError:
        raise UsageError(f"{path!r} is not a path inside a session; use a relative path, such as src/app.py") from None
    if len(path) > 300 or not path.isprintable():
        raise UsageError("a path has at most 300 characters, all printable")
    return path


def check_text(path: str, text: str) -> str:
    return decode_source(text.encode("utf-8"), path)
