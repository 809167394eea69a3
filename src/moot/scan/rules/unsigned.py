"""Tokens whose content is decoded by hand: nobody looks at the signature."""

import re
from collections.abc import Iterator

from moot.core.types import Language
from moot.scan.calls import calls
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import FUNCTIONS, Source

DECODERS = {
    "python": ("urlsafe_b64decode", "b64decode", "base64url_decode"),
    "go": ("DecodeString",),
    "javascript": ("atob", "from", "decode"),
    "typescript": ("atob", "from", "decode"),
}
PARTS = re.compile(r"[sS]plit\w*\([^()]*['\"`]\.['\"`][^()]*\)")
PAYLOAD = re.compile(r"\[1\]|\bpayload\b|,\s*_\s*(?:,|:?=)")
CLAIMS = re.compile(r"(?i)claim|\bsub\b|role|user|admin|scope|payload")
SIGNED = re.compile(r"(?i)verif|signature|hmac|publickey|public_key|jwks|compare_digest|timingSafeEqual")
ABOUT_TOKENS = re.compile(r"(?i)jwt|token|bearer|authorization")


def make_unsigned_rule(language: Language) -> Rule:
    language = "javascript" if language == "typescript" else language
    return Rule(
        f"{language}-unsigned-token", "auth", "high", 347,
        "JWT not verified: the content of the token is decoded by hand",
        "A token written by hand, with any user in it, is accepted.",
        "Verify the token with a library, a key and a list of algorithms.", 0.5,
    )  # fmt: skip


def find_unsigned(source: Source) -> Iterator[RuleMatch]:
    """`json.loads(b64decode(token.split(".")[1]))`"""
    whole = source.data.decode("utf-8", "replace")
    if not PARTS.search(whole) or SIGNED.search(whole) or not ABOUT_TOKENS.search(whole):
        return
    rule = make_unsigned_rule(source.language)
    found = calls(source)
    for name in DECODERS[source.language]:
        for call in found.get(name, ()):
            scope = source.scope(call.node).node
            around = source.text(scope) if scope.type in FUNCTIONS else ""
            if PARTS.search(around) and PAYLOAD.search(around) and CLAIMS.search(around):
                yield RuleMatch(rule, call.node)
                return
