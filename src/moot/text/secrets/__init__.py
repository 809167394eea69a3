"""Keeps secrets out of prompts, records, events and pages: masked on the way in, restored on the way out.

Our own instead of a secret scanner: masks are stable, reversible and valid in code, and encoded copies are masked too.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from moot.core.secret_patterns import COMMON
from moot.text.secrets.coats import spans
from moot.text.secrets.context import by_context, is_secret_name
from moot.text.secrets.shapes import MASK, FoundSecret, by_form, is_distinctive

__all__ = ["MASK", "Vault"]

SHORT = 12
"""Shorter secrets are masked only as whole words."""
WEAK = 20
"""Shorter secrets can be guessed, so their masks are derived with a slow hash."""


class Vault:
    """The secrets of one session, in memory only."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._hidden: dict[str, str] = {}
        """Placeholder -> secret."""
        self._known: dict[str, str] = {}
        """Secret -> the name it was found under; masked everywhere, in any encoding."""
        self._words: dict[str, str] = {}
        """Secrets too plain for that: masked only as a whole quoted text."""
        for name, value in env.items():
            if is_secret_name(name) and _is_env_secret(name, value):
                self._know(value, name.upper(), always=True)
            elif "://" in value:
                self.learn(value)
        self._pattern = _any_of(self._known)
        self._quoted = _compile_quoted(self._words)

    def learn(self, *texts: str) -> None:
        """Remember the secrets of these texts, so that they are masked everywhere. Only for the session's input:
        learning later would make prompts depend on who answers first."""
        for text in texts:
            for found in (*by_form(text), *by_context(text)):
                self._know(text[found.start : found.end], found.kind)
        self._pattern = _any_of(self._known)
        self._quoted = _compile_quoted(self._words)

    def hide(self, text: str) -> str:
        """Replace every secret by a name that is valid code in its place."""
        if not text:
            return text
        text = self._hide_known(text)
        secrets: dict[str, str] = {}
        for find in (by_form, by_context):
            if found := sorted(find(text)):
                text, more = self._replace_secrets(text, found)
                secrets |= more
        if not secrets and not self._known:
            return text
        here = {secret: kind for secret, kind in secrets.items() if is_distinctive(secret)}
        if here and (pattern := _any_of(here)) is not None:
            text = pattern.sub(lambda m: self._placeholder(here[m[0]], m[0]), text)
        known = self._known | here
        for span in reversed(spans(text, known) if known else []):
            coat = text[span.start : span.end]
            if MASK.search(coat) is None:
                text = text[: span.start] + self._placeholder(known[span.secret], coat) + text[span.end :]
        return text

    def reveal(self, text: str) -> str:
        """Restore the secrets, for the user's own files."""
        if "REDACTED_" not in text:
            return text
        for placeholder, secret in self._hidden.items():
            text = text.replace(placeholder, secret)
        return text

    @property
    def count(self) -> int:
        return len(self._hidden)

    def _hide_known(self, text: str) -> str:
        if self._pattern is not None and any(secret in text for secret in self._known):
            text = self._pattern.sub(lambda m: self._placeholder(self._known[m[0]], m[0]), text)
        if self._quoted is not None and any(word in text for word in self._words):
            text = self._quoted.sub(lambda m: self._placeholder(self._words[m[0]], m[0]), text)
        return text

    def _replace_secrets(self, text: str, found: Sequence[FoundSecret]) -> tuple[str, dict[str, str]]:
        """The text with masks at these places, given in their order, and the secrets that were there."""
        kept: list[FoundSecret] = []
        for each in found:
            if not kept or each.start >= kept[-1].end:
                kept.append(each)
        secrets = {text[each.start : each.end]: each.kind for each in kept}
        for each in reversed(kept):
            mask = self._placeholder(each.kind, text[each.start : each.end])
            text = text[: each.start] + mask + text[each.end :]
        return text, secrets

    def _know(self, secret: str, kind: str, *, always: bool = False) -> None:
        if MASK.search(secret):
            return
        if always or is_distinctive(secret):
            self._known.setdefault(secret, kind)
        else:
            self._words.setdefault(secret, kind)

    def _placeholder(self, kind: str, secret: str) -> str:
        # By content, not by order: parallel seats must not change each other's prompts.
        placeholder = f"REDACTED_{kind}_{_digest(secret)}"
        self._hidden[placeholder] = secret
        return placeholder


def _is_env_secret(name: str, value: str) -> bool:
    """Long or mixed enough to be a key; `true`, `none` or a plain word is not worth masking."""
    if value.lower() in COMMON or value.startswith(("/", "./", "~/")):
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    named = re.search(r"(?i)pass|pwd|(?:^|_)pw(?:_|$)", name) is not None
    return len(value) >= 16 or (len(value) >= 8 and mixed) or (named and len(value) >= 6)


def _any_of(secrets: Iterable[str]) -> re.Pattern[str] | None:
    longest_first = sorted(secrets, key=len, reverse=True)
    parts = [
        re.escape(s) if len(s) >= SHORT else rf"(?<![A-Za-z0-9]){re.escape(s)}(?![A-Za-z0-9])" for s in longest_first
    ]
    return re.compile("|".join(parts)) if parts else None


def _compile_quoted(words: Iterable[str]) -> re.Pattern[str] | None:
    parts = [re.escape(word) for word in sorted(words, key=len, reverse=True)]
    return re.compile(rf"(?<=[\"'`])(?:{'|'.join(parts)})(?=[\"'`])") if parts else None


@lru_cache(4096)
def _digest(secret: str) -> str:
    """Enough of a digest to tell secrets apart. A short secret could be guessed from it, so the hash is slow."""
    data = secret.encode("utf-8", "surrogatepass")
    if len(secret) < WEAK:
        # moot: ignore[python-few-rounds,python-static-salt] a mask must be the same each time; it is no stored password
        return hashlib.scrypt(data, salt=b"moot mask", n=2**12, r=8, p=1, dklen=3).hex()
    return hashlib.sha256(data).hexdigest()[:6]
