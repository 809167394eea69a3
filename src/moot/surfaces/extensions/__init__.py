"""What surfaces do for one protocol beyond its descriptor: one module for each protocol that has such wishes.

A protocol without a module here has everything that its descriptor gives. `find_extension` looks one up by name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from moot.core.types import Result, Value
from moot.protocols import PROTOCOLS

if TYPE_CHECKING:
    from moot.core.ports import Store
    from moot.edge.store import SqlStore
    from moot.protocols.decide.verdicts import QuestionVerdict
    from moot.runtime.runner import SessionPlan
    from moot.surfaces.cli.output_options import Ending
    from moot.surfaces.cli.session_flags import SessionFlags
    from moot.surfaces.session.conversations import Conversation
    from moot.surfaces.session.plans import Request
    from moot.surfaces.session.settings import Settings
    from moot.text.secrets import Vault


class Extension:
    """Each hook does what fits every protocol; a module of this package overrides those that need more."""

    body: type[Value] | None = None
    """What a request over HTTP gives; default: the fields of the protocol's input."""
    options: type[Value] = Value
    """What its command takes besides the protocol's input and rules."""

    def read_body(self, body: Any, request: "Request") -> dict[str, Any]:
        """What such a body gives, as `plan` takes it."""
        from moot.surfaces.session.request_bodies import read_body

        return read_body(request.protocol, body)

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        """Settings that its options stand for. Turns `said` in place into what `plan` and the ending take."""
        return {}

    def read_chat(self, talk: "Conversation", body: type[Value]) -> dict[str, Any]:
        """The `input` of a request over HTTP, out of a conversation."""
        from moot.surfaces.session.conversations import fill_body

        return fill_body(body, talk)

    def plan(self, request: "Request") -> "SessionPlan":
        """The session that a request asks for."""
        from moot.surfaces.session.plans import make_plan

        return make_plan(request)

    def answer(self, plan: "SessionPlan") -> Result | None:
        """The result that a plan has already; None if somebody must run it."""
        return None

    def own_notes(self, plan: "SessionPlan", settings: "Settings") -> dict[str, JsonValue]:
        """Notes that name things of the machine, as its own settings have them: a client may have no others."""
        return {}

    async def amend(self, result: Any, store: "Store") -> Any:
        """The result with what a person decided since."""
        return result

    def open_choices(self, result: Any) -> "Sequence[QuestionVerdict]":
        """Questions of a result that are left for a person to decide."""
        return ()

    async def settle(self, result: Any, plan: "SessionPlan", store: "SqlStore | None") -> Any:
        """What is done with a result beside keeping it."""
        return result

    def present(self, result: Any) -> JsonValue:
        """The result for programs."""
        data: JsonValue = result.model_dump(mode="json")
        return data

    def format(self, result: Any, ending: "Ending") -> str:
        """The result in a text form that was asked for; empty: it is shown as a report."""
        return ""

    def deliver(self, result: Any, plan: "SessionPlan", vault: "Vault", ending: "Ending") -> "Delivery":
        """Write what was asked to be written."""
        return Delivery(PROTOCOLS[plan.protocol].exit_code(result))

    def ask_person(self, result: Any, ending: "Ending") -> bool:
        """Ask the person at the terminal what the session left open. Whether everything is settled now."""
        return False


@dataclass(frozen=True)
class Delivery:
    """How a command ends."""

    exit_code: int
    notes: tuple[str, ...] = ()
    """What to say about the files that were written, or were not."""
    problem: str = ""
    """Why something could not be written."""


@cache
def find_extension(protocol: str) -> Extension:
    """The one of this name; for a protocol that has none, the plain one."""
    name = f"{__name__}.{protocol}"
    if not protocol.isidentifier() or find_spec(name) is None:
        return Extension()
    extension: Extension = import_module(name).EXTENSION
    return extension
