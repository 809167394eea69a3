"""Every error Moot raises on purpose, and who must act on it.

* MootError
  x UsageError          you asked for something impossible; the message says what to change
    x AlreadyDecided    this gate was already decided
    x AccessDenied      you lack the right to do this; `scope` names the missing scope
    x ConfigError       a setting is wrong; the message names it and its source
  x ModelError          a provider did not answer; `retryable` says whether trying again can help
  x ScriptDry           a `script:` file has no entry left for a call
  x StoreError          the record cannot be read or written
    x LeaseLost         another process has taken over the session
      x Deleted         ... and deleted it; it cannot be continued
  x Parked              the session waits for a person and continues after their decision
  x SandboxError        code cannot be run safely here
  x ReplayMismatch      a resumed session asked for a different step than was recorded
  x Unrecorded          a replay needs something that was not recorded
  x SessionStopped      a budget, deadline or person ended the session; protocols catch it and return the best so far
* ParseError            a reply does not fit its shape; the room asks again or returns `Absent`
"""

from typing import Literal

CutKind = Literal["budget_exhausted", "timed_out", "cancelled", "rejected"]
FailureKind = Literal[
    "rate_limited", "unavailable", "timeout", "auth", "not_found", "rejected", "refused", "failed", "limit"
]
"""`limit`: the time for this part of the session was up; no model failed."""
RETRYABLE: frozenset[FailureKind] = frozenset({"rate_limited", "unavailable"})


class MootError(Exception):
    """Base class of every error that Moot raises on purpose."""

    session_id: str | None = None
    """The recorded session that can be resumed, if any."""


class UsageError(MootError):
    """The caller's mistake; the message says what to change."""


class ConfigError(UsageError): ...


class ModelError(MootError):
    def __init__(self, message: str, *, kind: FailureKind, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        return self.kind in RETRYABLE


class ScriptDry(MootError): ...


class StoreError(MootError): ...


class LeaseLost(StoreError):
    """Another process has taken over this session; nothing this one still does is recorded."""


class Deleted(LeaseLost):
    """The session was deleted while it ran; it cannot be continued."""


class Parked(MootError):
    """The session is waiting at a gate. It holds no resources and continues after the decision."""

    def __init__(self, gate_id: str, why: str) -> None:
        super().__init__(why)
        self.gate_id = gate_id


class AlreadyDecided(UsageError):
    """This gate was already decided; a decision is final."""


class AccessDenied(UsageError):
    def __init__(self, message: str, *, scope: str) -> None:
        super().__init__(message)
        self.scope = scope


class SandboxError(MootError): ...


class ReplayMismatch(MootError):
    """The protocol, its prompts or its input changed between the recording and this run."""

    def __init__(self, step: str, recorded: str, requested: str, seq: int = 0) -> None:
        self.seq = seq
        super().__init__(
            f"step {step} of the record is {recorded!r}, but the session now asks for {requested!r}; "
            "it was recorded with different input or by another version of Moot. Start a new session"
        )


class Unrecorded(MootError): ...


class SessionStopped(MootError):
    """The session must end now; what it has so far becomes its result."""

    answered: tuple[object, ...] = ()
    """After several asks at once: the answers received before the stop, in the order of the asks; None for those
    missing."""

    def __init__(self, kind: CutKind, why: str) -> None:
        super().__init__(why)
        self.kind: CutKind = kind


class ParseError(Exception):
    """A reply that does not fit the requested shape; the text tells the model what to fix."""
