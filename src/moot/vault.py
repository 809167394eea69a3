"""Secrets stay out of prompts, records, events and pages: replaced on the way in, put back on the way out."""

import hashlib
import re
from collections.abc import Mapping

SECRET_NAME = re.compile(
    r"(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)", re.IGNORECASE
)
WELL_KNOWN: dict[str, str] = {
    "PRIVATE_KEY": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{10,}?-----END [A-Z ]*PRIVATE KEY-----",
    "ANTHROPIC_KEY": r"\bsk-ant-[A-Za-z0-9_-]{16,}",
    "OPENAI_KEY": r"\bsk-(?:proj-)?[A-Za-z0-9_-]{20,}",
    "AWS_KEY": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GITHUB_TOKEN": r"\bgh[pousr]_[A-Za-z0-9]{30,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}\b",
    "GITLAB_TOKEN": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "SLACK_TOKEN": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "GOOGLE_KEY": r"\bAIza[0-9A-Za-z_-]{35}",
    "STRIPE_KEY": r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}",
    "HUGGINGFACE_TOKEN": r"\bhf_[A-Za-z0-9]{30,}\b",
    "NPM_TOKEN": r"\bnpm_[A-Za-z0-9]{30,}\b",
    "JWT": r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
}
SIGNS = (
    "-----BEGIN ",
    "sk-",
    "AKIA",
    "ASIA",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xox",
    "AIza",
    "k_live_",
    "k_test_",
    "hf_",
    "npm_",
    "eyJ",
)
"""One of these is in every secret of the kinds above; most texts hold none, which is faster to see than the pattern."""
SHORTEST = 15
PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in WELL_KNOWN.items()))


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
        if self._env is not None:
            text = self._env.sub(lambda m: self._placeholder(self._env_names[m[0]], m[0]), text)
        if len(text) < SHORTEST or not any(sign in text for sign in SIGNS):
            return text
        return PATTERN.sub(lambda m: self._placeholder(m.lastgroup or "SECRET", m[0]), text)

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
        placeholder = f"REDACTED_{kind}_{hashlib.sha256(secret.encode()).hexdigest()[:6]}"
        self._hidden[placeholder] = secret
        return placeholder


def _secret(value: str) -> bool:
    """Long or mixed enough to be a key; `true`, `none` or a plain word is not worth blinding a prompt for."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= 16 or (len(value) >= 8 and mixed)
