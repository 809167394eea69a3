"""Turns a conversation into protocol input: the last user message is the task, the rest is context."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Value
from moot.protocols import PROTOCOLS
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.input_fields import fields_of
from moot.surfaces.session.plans import Request
from moot.surfaces.session.request_bodies import body_of
from moot.surfaces.session.settings import Settings
from moot.text.replies.fences import blocks, code_of
from moot.text.secrets import Vault

NO_CODE = (
    "there is no code: put it in a fenced block that names its language (```python) or its file (```python app.py)"
)
EARLIER = "Earlier in this conversation:"


class MessagePart(BaseModel):
    """Text only: images and audio are refused."""

    type: Literal["text", "input_text", "output_text"]
    text: str


class Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | tuple[MessagePart, ...] | None = Field(default="")

    @property
    def text(self) -> str:
        parts = self.content if isinstance(self.content, tuple) else ()
        return self.content if isinstance(self.content, str) else "".join(part.text for part in parts)


@dataclass(frozen=True)
class Conversation:
    asked: str
    earlier: str = ""

    @property
    def lines(self) -> list[str]:
        return self.asked.splitlines()

    def read_files(self) -> dict[str, str]:
        """Path -> text of every fenced block; a block without a name gets one by its language."""
        found: dict[str, str] = {}
        for block in blocks(self.lines):
            code, language = code_of(block, self.lines), block.info.split(" ")[0].lower()
            named = [suffix for suffix, known in SUFFIXES.items() if language in (known, suffix[1:])]
            path = code.path or (f"code{len(found) + 1 if found else ''}{named[0]}" if named else "")
            if path in found:
                raise UsageError(f"two blocks are called {path}; name the file of each after its language")
            if path:
                found[path] = code.text
        return found

    def read_prose(self) -> str:
        """The text outside fenced blocks, and earlier messages."""
        inside = {number for block in blocks(self.lines) for number in range(block.start, block.end + 1)}
        outside = "\n".join(line for number, line in enumerate(self.lines) if number not in inside).strip()
        return "\n\n".join(filter(None, (outside, self.earlier)))


def read_conversation(messages: Sequence[Message]) -> Conversation:
    last = max((place for place, each in enumerate(messages) if each.role == "user"), default=None)
    if last is None or not messages[last].text.strip():
        raise UsageError("the last message of the user is empty, or there is none; say what is to be done")
    before = [f"{each.role}: {each.text.strip()}" for each in messages[:last] if each.text.strip()]
    return Conversation(messages[last].text, "\n\n".join((EARLIER, *before)) if before else "")


def plan_conversation(protocol: str, talk: Conversation, settings: Settings, vault: Vault) -> SessionPlan:
    """The plan of a local user's conversation."""
    extension = find_extension(protocol)
    kind = extension.body or body_of(PROTOCOLS[protocol])
    request = Request(protocol=PROTOCOLS[protocol], given={}, settings=settings, vault=vault)
    try:
        body = kind.model_validate(extension.read_chat(talk, kind))
    except ValidationError as error:
        raise UsageError(f"{protocol}: {error.errors(include_url=False)[0]['msg']}") from None
    return extension.plan(replace(request, given=extension.read_body(body, request)))


def fill_body(body: type[Value], talk: Conversation) -> dict[str, Any]:
    """The input of a request: the message goes into the first required text field; required files come from fenced
    blocks."""
    known = {each.name: each for each in fields_of(body)}
    wanted = [each for each in known.values() if each.required]
    text = next((each.name for each in wanted if each.kind == "text"), "")
    files = talk.read_files() if any(each.info.annotation == dict[str, str] for each in known.values()) else {}
    tests = {path: code for path, code in files.items() if "tests" in known and _is_test(path)}
    given: dict[str, Any] = {"tests": tests} if tests else {}
    if text:
        beside = "context" in known
        given[text] = talk.asked if beside else "\n\n".join(filter(None, (talk.asked, talk.earlier)))
        return given | ({"context": talk.earlier} if beside and talk.earlier else {})
    code = {path: text for path, text in files.items() if path not in tests}
    if not code:
        raise UsageError(NO_CODE)
    place = next(each.name for each in wanted if each.info.annotation == dict[str, str])
    return given | {place: code} | ({"task": talk.read_prose()} if "task" in known else {})


def _is_test(path: str) -> bool:
    """By the naming convention of test runners."""
    name = PurePosixPath(path).name
    return name.startswith("test_") or "_test." in name or ".test." in name
