"""Secrets stay out of prompts, records, events and pages: replaced on the way in, put back on the way out."""

import functools
import hashlib
import re
from collections.abc import Mapping

SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
WELL_KNOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "PRIVATE_KEY": (
        ("PRIVATE KEY-----",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{10,}?-----END [A-Z ]*PRIVATE KEY-----",
    ),
    "ANTHROPIC_KEY": (("sk-ant-",), r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    "OPENAI_KEY": (("sk-",), r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}"),
    "AWS_KEY": (("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "GITHUB_TOKEN": (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b",
    ),
    "GITLAB_TOKEN": (("glpat-",), r"\bglpat-[A-Za-z0-9_-]{20,}"),
    "SLACK_TOKEN": (("xox",), r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    "GOOGLE_KEY": (("AIza",), r"\bAIza[0-9A-Za-z_-]{35}"),
    "STRIPE_KEY": (("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    "HUGGINGFACE_TOKEN": (("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b"),
    "NPM_TOKEN": (("npm_",), r"\bnpm_[A-Za-z0-9]{30,}\b"),
    "JWT": (("eyJ",), r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
}
"""The words of which every such secret has one, and what it looks like. To look for words is a hundred times faster."""
RARE = "_-JKzxS"
SIGNS = [
    (next(letter for letter in RARE if letter in sign), sign, name)
    for name, (signs, _) in WELL_KNOWN.items()
    for sign in signs
]
"""With a letter of each: a single one is found, or not, fifty times faster than a word."""


@functools.cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{WELL_KNOWN[name][1]})" for name in names))


class Vault:
    """Knows the secrets of one session; holds them in memory only."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._hidden: dict[str, str] = {}
        """Placeholder -> secret."""
        found = {value: name.upper() for name, value in env.items() if SECRET_NAME.search(name) and _secret(value)}
        longest_first = sorted(found, key=len, reverse=True)
        self._env_names = found
        self._env = re.compile("|".join(re.escape(value) for value in longest_first)) if found else None

    def hide(self, text: str) -> str:
        """The text with every secret replaced by a name that is still valid code where the secret was."""
        if self._env is not None and any(secret in text for secret in self._env_names):
            text = self._env.sub(lambda m: self._placeholder(self._env_names[m[0]], m[0]), text)
        if perhaps := [name for letter, sign, name in SIGNS if letter in text and sign in text]:
            text = _pattern(tuple(dict.fromkeys(perhaps))).sub(
                lambda m: self._placeholder(m.lastgroup or "SECRET", m[0]), text
            )
        return text

    def reveal(self, text: str) -> str:
        """The secrets back in their places: for the user's own files and for running the user's own code."""
        for placeholder, secret in self._hidden.items():
            text = text.replace(placeholder, secret)
        return text

    @property
    def count(self) -> int:
        return len(self._hidden)

    def _placeholder(self, kind: str, secret: str) -> str:
        # By content, not by order: parallel seats must not change each other's prompts.
        placeholder = f"REDACTED_{kind}_{hashlib.sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()[:6]}"
        self._hidden[placeholder] = secret
        return placeholder


def _secret(value: str) -> bool:
    """Long or mixed enough to be a key; `true`, `none` or a plain word is not worth blinding a prompt for."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= 16 or (len(value) >= 8 and mixed)
