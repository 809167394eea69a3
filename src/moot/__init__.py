"""Moot: a debate engine for AI agents and the people who answer for them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any
from warnings import warn

__version__ = "1.0.0"

if TYPE_CHECKING:
    from moot.core.deprecation import Deprecation
    from moot.core.errors import ConfigError, ModelError, MootError, StoreError, UsageError
    from moot.core.events import Event
    from moot.core.types import Code, Limits, SourceFile, Vulnerability
    from moot.protocols.debate.types import DebateResult, DebateRules
    from moot.protocols.decide.script import DecideResult, DecideRules
    from moot.protocols.harden.script import HardenResult, HardenRules
    from moot.protocols.harden.turn_reports import AttackReport, DefenseReport
    from moot.protocols.review.script import ReviewResult, ReviewRules
    from moot.protocols.solve.script import SolveResult, SolveRules
    from moot.protocols.vet.script import VetResult, VetRules
    from moot.surfaces.library.bench import evaluate_debate_result
    from moot.surfaces.library.ci import ci_checks
    from moot.surfaces.library.debate import debate
    from moot.surfaces.library.decide import decide
    from moot.surfaces.library.harden import harden, run_sync
    from moot.surfaces.library.protocols import run
    from moot.surfaces.library.quality import quality
    from moot.surfaces.library.review import review
    from moot.surfaces.library.solve import solve
    from moot.surfaces.library.vet import vet
    from moot.surfaces.session.toolset import use_tool

_HOMES = {
    "core.errors": ("ConfigError", "ModelError", "MootError", "StoreError", "UsageError"),
    "core.events": ("Event",),
    "protocols.debate.types": ("DebateResult", "DebateRules"),
    "protocols.decide.script": ("DecideResult", "DecideRules"),
    "protocols.harden.script": ("HardenResult", "HardenRules"),
    "protocols.harden.turn_reports": ("AttackReport", "DefenseReport"),
    "protocols.review.script": ("ReviewResult", "ReviewRules"),
    "protocols.solve.script": ("SolveResult", "SolveRules"),
    "protocols.vet.script": ("VetResult", "VetRules"),
    "surfaces.library.harden": ("harden", "run_sync"),
    "surfaces.library.debate": ("debate",),
    "surfaces.library.bench": ("evaluate_debate_result",),
    "surfaces.library.ci": ("ci_checks",),
    "surfaces.library.decide": ("decide",),
    "surfaces.library.protocols": ("run",),
    "surfaces.library.quality": ("quality",),
    "surfaces.library.review": ("review",),
    "surfaces.library.solve": ("solve",),
    "surfaces.library.vet": ("vet",),
    "surfaces.session.toolset": ("use_tool",),
    "core.types": ("Code", "Limits", "SourceFile", "Vulnerability"),
}
__all__ = [
    "AttackReport", "Code", "ConfigError", "DebateResult", "DebateRules", "DecideResult", "DecideRules",
    "DefenseReport", "Event", "HardenResult", "HardenRules", "Limits", "ModelError", "MootError", "ReviewResult",
    "ReviewRules", "SolveResult", "SolveRules", "SourceFile", "StoreError", "UsageError", "VetResult", "VetRules",
    "Vulnerability", "__version__", "ci_checks", "debate", "decide", "evaluate_debate_result", "harden", "quality",
    "review", "run", "run_sync", "solve", "use_tool", "vet",
]  # fmt: skip


_DEPRECATED: dict[str, "Deprecation"] = {}
"""Public names that a later version removes: whoever fetches one is warned."""


class LateFunction:
    """A public function that is loaded with its first call: `from moot import harden` takes no second."""

    def __init__(self, home: str, name: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = home

    def __call__(self, *given: object, **named: object) -> object:
        return self.__wrapped__(*given, **named)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}>"

    @property
    def __wrapped__(self) -> Any:
        """The function itself; `help` and `inspect.signature` look here."""
        return getattr(import_module(self.__module__), self.__name__)


def __getattr__(name: str) -> object:
    """Public names are fetched when they are used: `import moot` and `moot --version` load next to nothing."""
    if name in _DEPRECATED:
        warn(_DEPRECATED[name].describe(f"moot.{name}"), DeprecationWarning, stacklevel=2)
    for home, names in _HOMES.items():
        if name in names:
            late = home.startswith("surfaces.")
            return LateFunction(f"moot.{home}", name) if late else getattr(import_module(f"moot.{home}"), name)
    raise AttributeError(f"module 'moot' has no attribute {name!r}")
