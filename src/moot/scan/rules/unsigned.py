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
PARTS = re.compile(r"[sS]plit\w{0,12}\((?=[^()]*\))[^()]*?['\"`]\.['\"`]")
PAYLOAD = re.compile(r"\[1\]|\bpayload\b|,\s*_\s*(?:,|:?=)")
CLAIMS = re.compile(r"(?i)claim|\bsub\b|role|user|admin|scope|payload")
SIGNED = re.compile(
    r"(?i)verif(?:y|ier)(?!_?(?:email|mail|phone|otp|code|account|password))|signature|hmac|public_?key|jwks|compare_digest"
    r"|timingSafeEqual"
)
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
    if not PARTS.search(whole) or not ABOUT_TOKENS.search(whole) or _is_signed(source):
        return
    found = calls(source)
    decoded = {source.scope(call.node).node: call for name in DECODERS[source.language] for call in found.get(name, ())}
    for scope, call in decoded.items():
        around = source.text(scope) if scope.type in FUNCTIONS else ""
        if PARTS.search(around) and PAYLOAD.search(around) and CLAIMS.search(around):
            yield RuleMatch(make_unsigned_rule(source.language), call.node)
            return


def _is_signed(source: Source) -> bool:
    """Whether code of the file that has to do with tokens looks at a signature; comments do not."""
    code = _blank_comments(source)
    if not SIGNED.search(code.decode("utf-8", "replace")):
        return False
    end = 0
    for scope in source.functions:
        node = scope.node
        if node.start_byte >= end:  # else it stands in the function before
            end = node.end_byte
            text = code[node.start_byte : end].decode("utf-8", "replace")
            if SIGNED.search(text) and ABOUT_TOKENS.search(text):
                return True
    return False


def _blank_comments(source: Source) -> bytes:
    code = bytearray(source.data)
    for node in source.nodes("comment"):
        code[node.start_byte : node.end_byte] = b" " * (node.end_byte - node.start_byte)
    return bytes(code)
