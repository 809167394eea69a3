"""What surfaces add for one protocol beyond its descriptor.

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
    """Each hook has a default for all protocols; modules of this package override some."""

    body: type[Value] | None = None
    """The `input` of an HTTP request; by default the fields of the protocol's input."""
    options: type[Value] = Value
    """Further options of its command."""

    def read_body(self, body: Any, request: "Request") -> dict[str, Any]:
        """Converts an HTTP body to the arguments of `plan`."""
        from moot.surfaces.session.request_bodies import read_body

        return read_body(request.protocol, body)

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        """The settings of its options. Changes `said` in place to the arguments of `plan` and of the ending."""
        return {}

    def read_chat(self, talk: "Conversation", body: type[Value]) -> dict[str, Any]:
        """The `input` of an HTTP request, from a conversation."""
        from moot.surfaces.session.conversations import fill_body

        return fill_body(body, talk)

    def plan(self, request: "Request") -> "SessionPlan":
        from moot.surfaces.session.plans import make_plan

        return make_plan(request)

    def answer(self, plan: "SessionPlan") -> Result | None:
        """The result of a plan that needs no run, else None."""
        return None

    def own_notes(self, plan: "SessionPlan", settings: "Settings") -> dict[str, JsonValue]:
        """Notes about this machine from its own settings; a client may set no others."""
        return {}

    async def amend(self, result: Any, store: "Store") -> Any:
        """The result with later decisions of a person."""
        return result

    def open_choices(self, result: Any) -> "Sequence[QuestionVerdict]":
        """Questions left for a person to decide."""
        return ()

    async def settle(self, result: Any, plan: "SessionPlan", store: "SqlStore | None") -> Any:
        """Side effects of a result besides storing it."""
        return result

    def present(self, result: Any) -> JsonValue:
        data: JsonValue = result.model_dump(mode="json")
        return data

    def format(self, result: Any, ending: "Ending") -> str:
        """The result in the requested text format; empty for a report."""
        return ""

    def deliver(self, result: Any, plan: "SessionPlan", vault: "Vault", ending: "Ending") -> "Delivery":
        """Writes the requested files."""
        return Delivery(PROTOCOLS[plan.protocol].exit_code(result))

    def ask_person(self, result: Any, ending: "Ending") -> bool:
        """Asks the person at the terminal what the session left open. True if everything is settled."""
        return False


@dataclass(frozen=True)
class Delivery:
    """How a command ends."""

    exit_code: int
    notes: tuple[str, ...] = ()
    """Messages about files that were written or not."""
    problem: str = ""


@cache
def find_extension(protocol: str) -> Extension:
    name = f"{__name__}.{protocol}"
    if not protocol.isidentifier() or find_spec(name) is None:
        return Extension()
    extension: Extension = import_module(name).EXTENSION
    return extension
