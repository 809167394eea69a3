"""Output options of every protocol command."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ending:
    write: bool = False
    sarif: str | None = None
    json: bool = False
    quiet: bool = False
    yaml: bool = False
    csp: str | None = None
    force: bool = False
    store: str = ""
