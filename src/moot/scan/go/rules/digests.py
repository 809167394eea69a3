"""Go's hashes and key derivations, and the conditions of their rules."""

import re
from collections.abc import Callable

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site
from moot.scan.go.rules.when import number
from moot.scan.rules.when import PRESCRIBED, finds, is_about_password


def is_about_login(site: Site) -> bool:
    return is_about_password(f"{site.words()} {site.line()}")


def is_password_digest(site: Site) -> bool:
    """A plain digest of a password, unless a slow hash follows."""
    given = f"{site.text().partition('(')[2]} {site.words()}"
    return is_about_password(given) and not finds(r"bcrypt|scrypt|argon2|pbkdf2", site.around())


def is_plain_digest(site: Site) -> bool:
    handshake = site.contains("258EAFA5-E914-") and "ccept" in site.around()
    return not is_about_login(site) and not finds(PRESCRIBED, site.around()) and not handshake


def is_weak_code(site: Site) -> bool:
    """`hmac.New(md5.New, key)`"""
    function = site.arg(0)
    return function is not None and function.name in HASHES.split()


def has_fixed_salt(site: Site) -> bool:
    salt = site.arg(2 if site.name == "crypto/pbkdf2.Key" else 1)
    if salt is None or salt.taints:
        return False
    parts = site.items(salt)
    return isinstance(salt.const, str | bytes | None) or (
        parts is not None and all(part.const is not UNKNOWN for part in parts)
    )


def rounds_below(place: int, least: int) -> Callable[[Site], bool]:
    def check(site: Site) -> bool:
        rounds = number(site.arg(place))
        return rounds is not None and 0 < rounds < least

    return check


def is_block_by_block(site: Site) -> bool:
    """ECB: blocks of a longer text, each encrypted by itself."""
    around = site.around()
    chained = "cipher.New" in around or "XOR" in around or "^" in around
    return re.search(r"\bfor\b", around) is not None and not chained


FAST_HASHES = (
    "crypto/sha256.Sum256 crypto/sha256.Sum224 crypto/sha512.Sum512 crypto/sha512.Sum384 crypto/sha512.Sum512_256 "
    "golang.org/x/crypto/sha3.Sum256 golang.org/x/crypto/sha3.Sum512 crypto/sha256.New().Write "
    "crypto/sha512.New().Write"
)

KEY_DERIVATIONS = (
    "golang.org/x/crypto/pbkdf2.Key crypto/pbkdf2.Key golang.org/x/crypto/scrypt.Key golang.org/x/crypto/argon2.Key "
    "golang.org/x/crypto/argon2.IDKey"
)

HASHES = (
    "crypto/md5.New crypto/md5.Sum crypto/sha1.New crypto/sha1.Sum golang.org/x/crypto/md4.New "
    "golang.org/x/crypto/ripemd160.New"
)
