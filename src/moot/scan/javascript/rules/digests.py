"""Conditions of the JavaScript rules about hashes, keys and codes."""

import re

from moot.core.secret_patterns import RETURNED
from moot.scan.engine.rulebook import Site, When
from moot.scan.engine.values import Val
from moot.scan.javascript.rules.when import is_const, text_of
from moot.scan.rules.ciphers import is_cut_of
from moot.scan.rules.when import PRESCRIBED, finds, is_about_password, read_default

WEAK_DIGEST = re.compile(r"(?i)^(?:md[245]|sha-?1|rsa-(?:md5|sha1)|ripemd(?:160)?)$")


def weak_digest(about_password: bool) -> When:
    def check(site: Site) -> bool:
        text = text_of(site.arg(0))
        if text is None or not WEAK_DIGEST.search(text):
            return False
        if is_about_password(f"{site.words()} {site.line()}") != about_password:
            return False
        return about_password or not finds(PRESCRIBED, site.around() or site.line())

    return check


SLOW_HASH = re.compile(r"(?i)scrypt|bcrypt|argon2|pbkdf2|pwned|range")


def is_fast_password_hash(site: Site) -> bool:
    """Any plain digest of a password, unless a slow hash follows or the digest is looked up in a list of leaks."""
    value = site.arg(0)
    named = value is not None and is_about_password(value.name.rpartition(".")[2])
    return named and not finds(SLOW_HASH, site.around())


def has_fixed_iv(site: Site) -> bool:
    value, algorithm = site.arg(2), text_of(site.arg(0)) or ""
    if value is None or algorithm.lower().endswith("-ecb"):
        return False
    key = site.arg(1)
    if key is not None and value.taints and is_cut_of(key, value):
        return True
    if _is_cut_here(site):
        return True
    zeros = value.name == "Buffer.alloc()" and not finds(r"randomFill|getRandomValues", site.around())
    return _is_fixed(value) or zeros


GIVEN = re.compile(r"createCipheriv\(\s*[^,]+,\s*([\w.]+)\s*,\s*([\w.]+)\s*[,)]")


def _is_cut_here(site: Site) -> bool:
    """`this.iv = key.subarray(0, 16)`, `const iv = this.key.slice(0, 16)`"""
    key, value, given = site.arg(1), site.arg(2), GIVEN.search(site.text())
    if (
        key is not None
        and value is not None
        and key.name
        and value.name.startswith((f"{key.name}.slice", f"{key.name}.subarray"))
    ):
        return True
    made = rf"\b{re.escape(given[2])}\s*=\s*{re.escape(given[1])}\.(?:slice|subarray)\(" if given is not None else ""
    return bool(made) and re.search(made, site.around()) is not None


def _is_fixed(value: Val | None) -> bool:
    return value is not None and isinstance(value.const, str | bytes) and not value.taints


def has_fixed_salt(site: Site) -> bool:
    return _is_fixed(site.arg(1))


def few_rounds(site: Site) -> bool:
    rounds = site.arg(2)
    return rounds is not None and isinstance(rounds.const, int) and 0 < rounds.const < 10_000


def cost_below(place: int) -> When:
    def check(site: Site) -> bool:
        cost = site.arg(place)
        return cost is not None and type(cost.const) is int and cost.const < 10

    return check


def short_key(site: Site) -> bool:
    size = site.setting(site.arg(1), "modulusLength")
    if size is None:
        return False
    bits = size.const if isinstance(size.const, int) else read_default(site.around(), size.name)
    return bits is not None and bits < 2048


def is_secret_compared(site: Site) -> bool:
    """Unless it is a number of `Math.random`: what anybody can foresee is no secret."""
    sides = (site.arg(0), site.arg(1))
    drawn = any(taint.label == "random" for side in sides if side is not None for taint in side.taints)
    return is_const(site.arg(2), True) and not drawn


def is_code_compared(site: Site) -> bool:
    """One of the two is a message authentication code, or derived from a password."""
    return any(CODES.search(value.name) for value in (site.arg(0), site.arg(1)) if value is not None)


CODES = re.compile(r"createHmac\(\)|scryptSync\(\)|pbkdf2Sync\(\)")


def is_code_equal(site: Site) -> bool:
    """`mac.equals(tag)` stops at the first difference, as `Buffer.compare(mac, tag)` does."""
    held = (site.receiver, site.arg(0), site.arg(1))
    return any(CODES.search(value.name) for value in held if value is not None)


MAKES_CODE = re.compile(RETURNED)

ARROW = re.compile(r"(\w+)\s*[:=]\s*(?:async\s*)?(?:\([^()]*\)|\w+)\s*=>")


def makes_code(site: Site) -> bool:
    """What a function gives back that is named after a secret."""
    arrow = ARROW.search(site.line())
    names = (arrow[1] if arrow is not None else site.words().rpartition(" ")[2], site.maker())
    named = any(MAKES_CODE.search(name) for name in names)
    return named and re.search(r"\breturn\b|=>", site.line()) is not None
