"""What a project's settings may do before the user has trusted them: a cloned repository brings its own file."""

from collections.abc import Callable, Mapping
from typing import Literal

from moot.core.config import Resolved

Rule = Literal["free", "capped", "limited", "hosted", "on", "trust"]
"""free: harmless at any value. capped: at most the user's own value. limited: at most that or the default. hosted: only
models of a provider, and only of providers the user has chosen if any. on: may be switched on, not off. trust: ignored
until the file is trusted."""

TABLE: Mapping[str, Rule] = {
    # who answers, and where code is sent
    "model": "hosted",
    "seats.*": "hosted",
    "models.*": "trust",
    "review.profile": "free",
    "review.profiles.*": "hosted",
    # what is written, kept and deleted, and what code receives
    "store": "trust",
    "vet.memory": "trust",
    "vet.reset_after_hours": "trust",
    "retention.*": "trust",
    "run_with_secrets": "trust",
    # what is started
    "mcp.*": "trust",
    "lsp.*": "trust",
    "ci.commands": "trust",
    "debate.tools": "trust",
    "harden.tools": "trust",
    "solve.tools": "trust",
    # who is notified
    "hook.*": "trust",
    "gates.enabled": "on",
    "gates.answers": "on",
    "gates.*": "trust",
    "server.*": "trust",
    "fleet.*": "trust",
    "telemetry.*": "trust",
    "notify": "free",
    # instructions for the seats
    "debate.roles_folder": "trust",
    "decide.judges_folder": "trust",
    # what may be spent
    "max_calls": "capped",
    "max_tokens": "capped",
    "max_usd": "capped",
    "ask_above": "capped",
    "timeout": "capped",
    "call_timeout": "capped",
    "retries": "capped",
    "max_reply_bytes": "capped",
    "reply_tokens": "capped",
    "prompt_tokens": "capped",
    "tool_calls": "capped",
    "tool_seconds": "capped",
    "tool_bytes": "capped",
    "concurrency": "capped",
    "sandbox.*": "limited",
    # how strict the checks are, and how much of them is shown
    "review.comments": "trust",
    "decide.require_agreement": "trust",
    "decide.require_stance_maintenance": "trust",
    "decide.require_change_documentation": "trust",
    "harden.min_vulnerabilities": "limited",
    "harden.risk_threshold": "limited",
    # how a session runs
    "harden.max_rounds": "free",
    "harden.edition": "free",
    "review.max_rounds": "free",
    "review.defend": "free",
    "vet.rounds": "free",
    "solve.attempts": "free",
    "solve.lessons": "free",
    "decide.judges": "free",
    "decide.max_rounds": "free",
    "ci.post_proposal.actions": "free",
    "ci.post_optimization.actions": "free",
    "ci.post_adversarial.actions": "free",
    "ci.post_convergence.actions": "free",
    "ci.benchmark_runs": "free",
    "ci.benchmark_seconds": "free",
    "debate.phase_timeouts.*": "free",
    "debate.phase_calls.*": "free",
    "debate.least_answers.*": "free",
    "debate.required_roles.*": "free",
    "debate.at_once.*": "free",
    **dict.fromkeys(
        (
            f"debate.{name}"
            for name in (
                *("max_rounds", "consensus", "phases", "adversarial", "drafts", "refinements", "voices", "reserve"),
                *("anew", "attempts", "enough_tests", "breaking", "temperature", "topology", "planning", "voting"),
                *("tie_break", "clarify", "lessons", "spend", "effort", "edition", "adjust", "episodes", "records"),
                *("search_files", "argue_below"),
            )
        ),
        "free",
    ),
}
"""Every setting, by key or family. A setting that is not listed needs trust."""
CHOICES = ("model", "seats.", "review.profiles.")


def rule_of(key: str) -> Rule | None:
    """Of the key itself, else of the nearest family; None if not listed."""
    if key in TABLE:
        return TABLE[key]
    head = key
    while head := head.rpartition(".")[0]:
        if (family := f"{head}.*") in TABLE:
            return TABLE[family]
    return None


def is_harmless(key: str, value: object, own: Mapping[str, Resolved], is_hosted: Callable[[str], bool]) -> bool:
    """Whether an untrusted project may set this. `own`: the user's own settings and the defaults. `is_hosted`: whether
    a model is reached at an address from the user's environment, so that nothing is started for it."""
    base = own.get(key)
    match rule_of(key):
        case "free":
            return True
        case "capped":
            return base is None or base.source == "default" or _is_at_most(value, base.value)
        case "limited":
            return base is not None and _is_at_most(value, base.value)
        case "hosted":
            return _is_reached(value, own, is_hosted)
        case "on":
            return value is True
        case _:
            return False


def _is_at_most(value: object, limit: object) -> bool:
    if limit is None:
        return True
    numbers = [each for each in (value, limit) if isinstance(each, int | float) and not isinstance(each, bool)]
    return len(numbers) == 2 and numbers[0] <= numbers[1]


def _is_reached(value: object, own: Mapping[str, Resolved], is_hosted: Callable[[str], bool]) -> bool:
    names = [str(name).strip() for name in (value if isinstance(value, tuple | list) else (value,))]
    chosen = _chosen_parties(own)
    return all(
        (is_hosted(name) or _is_own_endpoint(name, own, is_hosted)) and (not chosen or _party(name) in chosen)
        for name in names
    )


def _is_own_endpoint(name: str, own: Mapping[str, Resolved], is_hosted: Callable[[str], bool]) -> bool:
    """Whether the user defined `[models.NAME]`, of a provider reached at an address."""
    provider = own.get(f"models.{name}.provider")
    return ":" not in name and provider is not None and is_hosted(f"{provider.value}:")


def _chosen_parties(own: Mapping[str, Resolved]) -> frozenset[str]:
    chains = [setting.value for key, setting in own.items() if key.startswith(CHOICES) and setting.source != "default"]
    return frozenset(_party(str(name)) for chain in chains if isinstance(chain, tuple) for name in chain)


def _party(name: str) -> str:
    """The provider or the user's own endpoint that answers. The colon tells the two apart."""
    word, colon, _ = name.strip().partition(":")
    return word + colon
