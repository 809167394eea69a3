"""Nonces and initialisation vectors that are the same for every message."""

import re

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site
from moot.scan.go.rules.when import REVIEWED
from moot.scan.rules.ciphers import is_cut_of

CIPHER_MODES = " ".join(f"crypto/cipher.New{mode}" for mode in ("CBCEncrypter", "CFBEncrypter", "CTR", "OFB", "CFB"))
SECOND = re.compile(r"\([^,()]+,\s*+(\w++)\s*+[,)]")
DIGITS = re.compile("[0-9]{1,9}")
MAX_BUFFER = 4096


def has_fixed_iv(site: Site) -> bool:
    iv = site.arg(1)
    key = site.setting(site.arg(0), 0) if site.arg(0) is not None else None
    if iv is not None and iv.taints and (is_cut_of(site.arg(0) or iv, iv) or (key is not None and is_cut_of(key, iv))):
        return not REVIEWED.search(site.line())
    if iv is None or iv.taints or REVIEWED.search(site.line()):
        return False
    parts = site.items(iv)
    known = parts is not None and all(part.const is not UNKNOWN for part in parts)
    return known or isinstance(iv.const, str | bytes) or _is_partly_zero(site)


def _is_partly_zero(site: Site) -> bool:
    """A buffer made in this function, of which some bytes are never filled or are set again afterwards."""
    named = SECOND.search(site.text())
    before = site.around().partition(site.text())[0]
    made = re.search(rf"\b{named[1]}\s*:?=\s*make\(\[\]byte,\s*+([^\n]+)\)", before) if named else None
    if named is None or made is None:
        return False
    size = min(int(made[1]), MAX_BUFFER) if DIGITS.fullmatch(made[1]) else 0
    fresh: set[int] = set()
    whole = False
    name = rf"\b{named[1]}\b"
    handed = rf"\b(?P<call>\w+)\([^()\n]*{name}(?:\[(?P<low>\d{{0,9}}):(?P<high>\d{{0,9}})\])?"
    use = rf"{handed}|{name}\[(?P<at>[^:\[\]]+)\]\s*=[^=]"
    for found in re.finditer(use, before[made.end() :]):
        if found["call"] in ("len", "cap"):
            continue
        if found["call"]:
            whole = whole or not (found["low"] or found["high"])
            fresh.update(range(int(found["low"] or 0), min(int(found["high"] or size), MAX_BUFFER)))
        elif DIGITS.fullmatch(found["at"]):
            fresh.discard(int(found["at"]))
        else:
            whole, fresh = False, set()
    return not whole and (size == 0 or not fresh.issuperset(range(size)))
