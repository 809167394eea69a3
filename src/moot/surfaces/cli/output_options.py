"""What is to be done with a result, whatever the protocol."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ending:
    write: bool = False
    sarif: str | None = None
    json: bool = False
    quiet: bool = False
    yaml: bool = False
    csp: str | None = None
    """The request that is answered in CSP/1."""
    force: bool = False
    """Whether a file that is there may be overwritten."""
    store: str = ""
    """Where the session is kept."""
