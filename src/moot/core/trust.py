"""What the settings of a project may do before somebody has looked at them. A cloned repository brings its own file."""

from collections.abc import Callable, Mapping
from typing import Literal

from moot.core.config import Resolved

Rule = Literal["free", "capped", "limited", "hosted", "on", "trust"]
"""free: harmless, whatever it says. capped: not above what the user set himself. limited: not above that or the
default. hosted: only models of a provider, and of one the user has chosen where he has chosen any. on: may be switched
on, not off. trust: nothing of it before the file is trusted."""

TABLE: Mapping[str, Rule] = {
    # who answers, and where code is sent to
    "model": "hosted",
    "seats.*": "hosted",
    "models.*": "trust",
    "review.profile": "free",
    "review.profiles.*": "hosted",
    # what is written, kept and deleted, and what code is given
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
    "solve.tools": "trust",
    # who watches
    "hook.*": "trust",
    "gates.enabled": "on",
    "gates.answers": "on",
    "gates.*": "trust",
    "server.*": "trust",
    "fleet.*": "trust",
    "telemetry.*": "trust",
    "notify": "free",
    # whose words the seats are given
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
    # how much is left standing
    "harden.min_vulnerabilities": "limited",
    "harden.risk_threshold": "limited",
    # how a session goes
    "harden.max_rounds": "free",
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
    **dict.fromkeys(
        (
            f"debate.{name}"
            for name in (
                *("max_rounds", "consensus", "phases", "adversarial", "drafts", "refinements", "voices", "reserve"),
                *("anew", "attempts", "enough_tests", "breaking", "temperature", "topology", "planning", "voting"),
                *("tie_break", "clarify", "lessons"),
            )
        ),
        "free",
    ),
}
"""Every setting, by its key or its family. What is not here needs trust."""
CHOICES = ("model", "seats.", "review.profiles.")


def rule_of(key: str) -> Rule | None:
    """That of the key itself, else of the nearest family it belongs to; None where nobody has sorted it."""
    if key in TABLE:
        return TABLE[key]
    head = key
    while head := head.rpartition(".")[0]:
        if (family := f"{head}.*") in TABLE:
            return TABLE[family]
    return None


def is_harmless(key: str, value: object, own: Mapping[str, Resolved], is_hosted: Callable[[str], bool]) -> bool:
    """Whether an untrusted project may set this. `own`: what the user has set himself, and the defaults. `is_hosted`:
    whether a model is reached at an address that the user's environment gives; nothing is started for it."""
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
    chosen = _render_choice(own)
    return all(
        (is_hosted(name) or _is_own_endpoint(name, own, is_hosted)) and (not chosen or _party(name) in chosen)
        for name in names
    )


def _is_own_endpoint(name: str, own: Mapping[str, Resolved], is_hosted: Callable[[str], bool]) -> bool:
    """Whether the user himself defined `[models.NAME]`, of a provider that is reached at an address."""
    provider = own.get(f"models.{name}.provider")
    return ":" not in name and provider is not None and is_hosted(f"{provider.value}:")


def _render_choice(own: Mapping[str, Resolved]) -> frozenset[str]:
    """Whom the user has chosen."""
    chains = [setting.value for key, setting in own.items() if key.startswith(CHOICES) and setting.source != "default"]
    return frozenset(_party(str(name)) for chain in chains if isinstance(chain, tuple) for name in chain)


def _party(name: str) -> str:
    """Who answers: a provider, or an endpoint of the user's own. The colon keeps the two apart."""
    word, colon, _ = name.strip().partition(":")
    return word + colon
