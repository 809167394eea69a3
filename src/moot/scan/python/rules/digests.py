"""Conditions of the Python rules about hashes, keys and codes."""

import re

from moot.core.secret_patterns import RETURNED
from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site
from moot.scan.python.rules.when import is_const
from moot.scan.rules.ciphers import is_cut_of
from moot.scan.rules.when import PRESCRIBED, finds, is_drawn, read_default

MADE_SECRET = re.compile(RETURNED)

SLOW_HASH = re.compile(r"(?i)scrypt|bcrypt|argon2|pbkdf2")

WEAK_HASH = re.compile(r"(?i)md2|md4|md5|sha-?1$|ripemd")


def is_code_made(site: Site) -> bool:
    """What a function returns that is named after a secret."""
    name = site.words().rpartition(" ")[2]
    return "return" in site.line() and re.search(MADE_SECRET, name) is not None


def weak_digest(site: Site) -> bool:
    if is_const(site.arg("usedforsecurity"), False):
        return False
    if site.name.endswith(".new") and site.name.startswith("hashlib"):
        algorithm = site.arg(0, "name")
        return algorithm is not None and isinstance(algorithm.const, str) and bool(WEAK_HASH.search(algorithm.const))
    return True


def about_password(site: Site) -> bool:
    return bool(re.search(r"(?i)passw|pwd|passphrase", f"{site.text()} {site.words()}"))


def password_digest(site: Site) -> bool:
    return weak_digest(site) and about_password(site)


def other_digest(site: Site) -> bool:
    """Not where nobody chooses what is hashed: a nonce made of random bytes has no second content."""
    plain = weak_digest(site) and not about_password(site) and not _is_asked(site) and not _is_prescribed(site)
    return plain and not is_drawn(site.text(), site.around()) and not _is_refused(site)


def _is_refused(site: Site) -> bool:
    """`if digest is md5 or digest is sha1: raise ValueError` in the file, and the call does not name the digest."""
    direct = re.search(r"(?i)md[245]|sha_?1|\bnew\(", site.text().partition("(")[0] + "(") is not None
    return not direct and site.contains(" is md5") and site.contains(" is sha1") and site.contains("raise ")


def _is_asked(site: Site) -> bool:
    """`sha1().digest_size` hashes nothing."""
    return site.count == 0 and site.member() in ("digest_size", "block_size", "name")


def _is_prescribed(site: Site) -> bool:
    return finds(PRESCRIBED, site.around() or site.line())


def short_key(site: Site) -> bool:
    bits = site.arg("key_size", "bits", 1 if "cryptography" in site.name and ".dsa." not in site.name else 0)
    if bits is None:
        return False
    named = re.search(r"\b(?:key_size|bits)\s*=\s*(\w+)", site.text())
    name = bits.name or (named[1] if named is not None else "")
    size = bits.const if bits.const is not UNKNOWN else read_default(site.around(), name)
    return isinstance(size, int) and not isinstance(size, bool) and 0 < size < 2048


def hashes_password(site: Site) -> bool:
    """One round of a fast hash, unless a slow one follows: what is hashed is a password by its name."""
    named = re.search(r"(?i)passw|pwd|passphrase", site.text()) is not None
    return named and not finds(SLOW_HASH, site.around())


def ecb(site: Site) -> bool:
    mode = site.arg(1, "mode")
    return mode is not None and (mode.name.endswith("MODE_ECB") or is_const(mode, 1))


ZEROS = re.compile(r"\bbytes\((?:\d+|[\w.]*block_size)\)")
"""`bytes(16)`: as many zeros."""


def constant_iv(site: Site) -> bool:
    value = site.arg("iv", "IV", "nonce", 2)
    mode = site.arg(1, "mode")
    key = site.arg(0, "key")
    if value is not None and value.taints and key is not None and is_cut_of(key, value):
        return True
    if value is not None and value.name == "bytes()" and finds(ZEROS, site.around() or site.text()):
        return not value.taints
    return (
        not (mode is not None and mode.name.endswith("MODE_ECB"))
        and value is not None
        and isinstance(value.const, bytes | str)
    )


def constant_first(site: Site) -> bool:
    value = site.arg(0, "initialization_vector", "nonce")
    return value is not None and isinstance(value.const, bytes | str)


def constant_salt(site: Site) -> bool:
    value = site.arg("salt", 2 if site.name.startswith("hashlib") else 0)
    return value is not None and isinstance(value.const, bytes | str)
