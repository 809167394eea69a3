"""Python rules for tokens, keys and codes: how they are made, checked and sent."""

import re

from moot.core.secret_patterns import SECRET_AROUND
from moot.scan.engine.rulebook import Sink, Site
from moot.scan.python.rules import digests as digests
from moot.scan.python.rules import flaws as flaw
from moot.scan.python.rules import patterns as known
from moot.scan.python.rules.when import is_const, sink
from moot.scan.rules.when import finds

AEADS = ("AESGCM()", "ChaCha20Poly1305()", "AESCCM()", "AESOCB3()", "AESSIV()")
KNOWN_TO_ALL = re.compile(r"\btime\.time(?:_ns)?\(|\b(?:utc)?now\(|\bgetpid\(|\btime\(\)|\buuid1\(")
DRAWN = re.compile(r"urandom|secrets\.|uuid4|SystemRandom|token_")
PRIVATE = re.compile(SECRET_AROUND)
SETS_PASSWORD = re.compile(r"(?i)(?:^|[\s._])(?:set|hash|make|store|save|update|change|create|encode|derive)_?\w*passw")
TARGETS_PASSWORD = re.compile(r"(?i)^\S*passw\S* ")
FAST_DIGESTS = " ".join(
    f"hashlib.{name}" for name in ("sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512")
)


def _makes_code(site: Site) -> bool:
    """What a function gives back, or a variable holds, that is named after a secret."""
    target = site.words().partition(" ")[0]
    return digests.is_code_made(site) or digests.MADE_SECRET.search(target) is not None


def _is_code_of_time(site: Site) -> bool:
    """The digest of what everybody can find out is no secret."""
    text = site.text()
    return _makes_code(site) and KNOWN_TO_ALL.search(text) is not None and not finds(DRAWN, site.around())


def _is_stored_password(site: Site) -> bool:
    """`self.password = sha512(raw)`, in a function that sets or hashes passwords."""
    words = site.words()
    named = SETS_PASSWORD.search(words) is not None or TARGETS_PASSWORD.search(words) is not None
    told = re.search(r"(?i)passw|pwd|passphrase", site.text()) is not None
    return named and not told and not finds(digests.SLOW_HASH, site.around())


def _has_fixed_nonce(site: Site) -> bool:
    nonce = site.arg(0, "nonce")
    fixed = nonce is not None and isinstance(nonce.const, bytes | str)
    return fixed and site.receiver.name.endswith(AEADS)


def _trusts_header(site: Site) -> bool:
    """The algorithm is the one that the token names."""
    algorithms = site.arg("algorithms", 2)
    named = [algorithms] if algorithms is not None else []
    return any("get_unverified_header" in value.name for value in (site.items(algorithms) or named))


def _lives_on(site: Site) -> bool:
    return is_const(site.setting(site.arg("options"), "verify_exp"), False)


def _has_written_salt(site: Site) -> bool:
    salt = site.arg(1, "salt")
    return salt is not None and isinstance(salt.const, bytes | str)


def _is_readable_secret(site: Site) -> bool:
    """`os.chmod(path, 0o644)` beside a private key"""
    opens = site.name == "os.open"
    mode = site.arg(2 if opens else 1 if site.name.startswith("os.") else 0, "mode")
    bits = mode.const if mode is not None else None
    private = PRIVATE.search(f"{site.around()[:300]} {site.line()}") is not None
    return private and isinstance(bits, int) and bool(bits & 0o044) and (opens or not bits & 0o022)


def _encrypts_here(site: Site) -> bool:
    return ".encrypt(" in site.line() or ".decrypt(" in site.line()


def _is_unprotected(site: Site) -> bool:
    return not site.contains("starttls") and not site.contains("stls(")


SINKS: tuple[Sink, ...] = (
    sink(known.RANDOM, "random", "uuid.uuid1", when=_makes_code),
    sink(known.RANDOM, "random", f"{FAST_DIGESTS} hashlib.md5", when=_is_code_of_time),
    sink(known.PASSWORD_HASH, "hash", FAST_DIGESTS, when=_is_stored_password),
    sink(flaw.STATIC_IV, "iv", ".encrypt", when=_has_fixed_nonce),
    sink(flaw.JWT, "jwt", "jwt.decode jose.jwt.decode authlib.jose.jwt.decode",
         when=lambda site: _trusts_header(site) or _lives_on(site)),
    sink(flaw.JWT, "jwt", "jwt.encode jose.jwt.encode",
         when=lambda site: is_const(site.arg("algorithm", 2), "none", "None")),
    sink(flaw.STATIC_SALT, "salt", "bcrypt.hashpw", when=_has_written_salt),
    sink(flaw.READABLE, "mode", "os.chmod os.open os.fchmod .chmod pathlib.Path().chmod", when=_is_readable_secret),
    sink(flaw.PADDING, "cipher", "cryptography.hazmat.primitives.asymmetric.padding.PKCS1v15", when=_encrypts_here),
    sink(flaw.PADDING, "cipher", "Crypto.Cipher.PKCS1_v1_5.new Cryptodome.Cipher.PKCS1_v1_5.new"),
    sink(flaw.CLEAR_TEXT, "clear", "smtplib.SMTP().login imaplib.IMAP4().login poplib.POP3().pass_",
         when=_is_unprotected),
)  # fmt: skip
