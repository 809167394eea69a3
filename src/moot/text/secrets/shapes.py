"""What a secret looks like: by its own form, by the name it is given, by its place in an address or a header.

One table for prompts, records and pages. A value that is masked by mistake costs a prompt some sense; one that is
missed is sent to a stranger. So names decide, and words that everybody uses as a stand-in are left alone.
"""

import functools
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

WELL_KNOWN: dict[str, tuple[tuple[str, ...], str]] = {
    "PRIVATE_KEY": (
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{10,}?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\[nr])+[A-Za-z0-9+/=\s\\:,-]{20,})",
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
    "SLACK_WEBHOOK": (("hooks.slack.com/",), r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    "GOOGLE_KEY": (("AIza",), r"\bAIza[0-9A-Za-z_-]{35}"),
    "GOOGLE_TOKEN": (("ya29.",), r"\bya29\.[0-9A-Za-z_-]{20,}"),
    "STRIPE_KEY": (("k_live_", "k_test_"), r"\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}"),
    "HUGGINGFACE_TOKEN": (("hf_",), r"\bhf_[A-Za-z0-9]{30,}\b"),
    "NPM_TOKEN": (("npm_",), r"\bnpm_[A-Za-z0-9]{30,}\b"),
    "PYPI_TOKEN": (("pypi-",), r"\bpypi-[A-Za-z0-9_-]{40,}"),
    "SENDGRID_KEY": (("SG.",), r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    "DIGITALOCEAN_TOKEN": (("_v1_",), r"\bdo[opr]_v1_[a-f0-9]{40,}\b"),
    "VAULT_TOKEN": (("hvs.",), r"\bhvs\.[A-Za-z0-9_-]{24,}"),
    "SHOPIFY_TOKEN": (("shpat_", "shpss_", "shpca_"), r"\bshp(?:at|ss|ca)_[a-fA-F0-9]{32,}\b"),
    "TELEGRAM_TOKEN": ((":AA",), r"\b\d{8,10}:AA[A-Za-z0-9_-]{32,}"),
    "GROQ_KEY": (("gsk_",), r"\bgsk_[A-Za-z0-9]{40,}\b"),
    "DATABRICKS_TOKEN": (("dapi",), r"\bdapi[a-f0-9]{32}\b"),
    "AGE_KEY": (("AGE-SECRET-KEY-1",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}\b"),
    "JWT": (("eyJ",), r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
}
"""The words of which every such secret has one, and what it looks like. To look for words is a hundred times faster."""
RARE = "_-JKzxSGA.Vd"
SIGNS = [
    (next(letter for letter in RARE if letter in sign), sign, name)
    for name, (signs, _) in WELL_KNOWN.items()
    for sign in signs
]
"""With a letter of each: a single one is found, or not, fifty times faster than a word."""
MASK = re.compile(r"REDACTED_[A-Z0-9_]+_[0-9a-f]{6}")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Found(NamedTuple):
    start: int
    end: int
    kind: str
    """The name it was found under."""


# Values.

STAND_IN = re.compile(
    r"(?i)change[-_ ]?me|example|your[-_ ]|x{3}|todo|fixme|dummy|placeholder|redacted|<[^>]*>|\{[^}]*\}|%s|%\(|\$|"
    r"^[*.#-]+$|insert|environ|getenv|process\.env|\bself\.|\bos\.|"
    r"^(?:new|old|current|confirm|user|db|the|my|hashed|repeat|retype|enter)?[-_ ]?pass(?:word|wd|phrase|code)?s?[-_ ]?"
    r"(?:field|"
    r"hash|input|label|param|key|confirm\w*|again|reset|file|required|\d{0,4})?$|"
    r"^(?:api|access|auth|refresh|csrf|secret|id|session|x|bearer)?[-_]?(?:api)?[-_]?(?:token|secret|key|credential)s?(?:[-_][a-z]+)?$"
)
COMMON = _words("""
    none null nil undefined true false test tests testing string str text hidden default value values env prompt empty
    optional required pass bearer basic bytes int integer bool boolean float number object unknown any varchar char
    byte input output off on yes no admin root user guest postgres postgresql mysql redis rabbitmq mongo mongodb minio
    docker vagrant oracle sa secret secrets token password passwd qwerty letmein welcome hello world foobar wrong
    invalid bad incorrect correct right good valid abcd abc123 123456 12345678 password1 password123 pass123 pass1234
    admin123 test123 test1234 new-password current-password username login development production localhost nothing
    key name id hash digest header cookie query body form param params argument basic-auth oauth oauth2 apikey http
    https file path url uri json yaml toml xml html plain ascii utf8 base64 md5 sha1 sha256 sha512 hmac rsa ecdsa
    ed25519 weak strong short long same other first second third fourth
""")
"""Words that everybody uses in place of a secret, or that are no value at all."""


@functools.cache
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{name}>{WELL_KNOWN[name][1]})" for name in names))


def by_form(text: str) -> Iterator[Found]:
    """Secrets that everybody knows by their form."""
    if perhaps := [name for letter, sign, name in SIGNS if letter in text and sign in text]:
        for match in _pattern(tuple(dict.fromkeys(perhaps))).finditer(text):
            yield Found(match.start(), match.end(), match.lastgroup or "SECRET")


def is_distinctive(value: str) -> bool:
    """Long or mixed enough that it stands for nothing else: it is masked wherever it turns up."""
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    signs = any(not c.isalnum() for c in value)
    return len(value) >= 16 or (len(value) >= 6 and letters and digits) or (len(value) >= 8 and letters and signs)


def is_secret(value: str, group: str = "password", *, phrase: bool = False) -> bool:
    """Whether a value under such a name is worth blinding a prompt for."""
    if len(value) < 4 or MASK.search(value) or STAND_IN.search(value) or value.lower() in COMMON:
        return False
    if re.search(r"\s", value.strip()) and not phrase:
        return False
    if re.match(r"(?:https?:/|\.{0,2}/|~/|[\w.+-]+://[^:@]*$)", value):
        return False
    if re.search(r"(?i)passw(?:or)?d", value) and not re.search(r"\d", value):
        return False  # the name of a field
    if group == "password":
        return not re.search(r"[(){}\[\]<>]", value) or entropy(value) > 3
    if group == "key":
        return looks_random(value)
    if group == "token":
        mixed = re.search(r"\d", value) and re.search(r"[A-Za-z]", value)
        return bool(mixed or value.endswith("=")) and looks_random(value) and "/" not in value[:3]
    return len(value) >= 32 and value.isalnum() and looks_random(value) and entropy(value) > 4.2


def looks_random(text: str) -> bool:
    text = text.strip(".,:;!?")
    mixed = bool(re.search(r"\d", text)) and bool(re.search(r"[A-Za-z]", text))
    words = re.fullmatch(r"[A-Za-z]+(?:[-_. :/@][A-Za-z]+)*\d{0,2}", text) is not None
    return len(text) >= 6 and (
        (mixed and not words) or (len(text) >= 8 and not words) or (len(text) >= 12 and entropy(text) > 3.6)
    )


def entropy(text: str) -> float:
    return -sum(n / len(text) * math.log2(n / len(text)) for n in Counter(text).values())
