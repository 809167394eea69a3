"""Coats: other encodings of a known secret.

This is the second layer. The first is that model-written code runs with masks in place of secrets.

Text and coats are compared by letters and digits only, so one coat covers any separators.
"""

import base64
import binascii
import bz2
import codecs
import lzma
import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple
from urllib.parse import quote

SHORTEST = 8
"""Minimum letters and digits of a coat: shorter ones occur by chance."""
VARIED = 5
"""Minimum distinct letters of a coat. Bits have fewer, but there are many of them."""
BITS = 48
PIECE = 12
"""Long secrets are also searched by parts of this length: half a key is half the work."""
LONG = 16
LONGEST_NUMBER = 512
MOST_PIECES = 200
PLAIN = re.compile(r"[^A-Za-z0-9]+")
MARGIN = re.compile(r"(?m)^(?:E|>)(?=[ \t])")
"""Prefixes that test runners put before each line."""
RUN = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
EDGE = re.compile(r"[A-Za-z0-9+/_=]+")
MOST_RUNS = 200
MOST_BYTES = 1 << 16


class Span(NamedTuple):
    start: int
    end: int
    secret: str


@lru_cache(512)
def list_encodings(secret: str) -> tuple[str, ...]:
    """The letters and digits of each coat, in lower case."""
    data = secret.encode("utf-8", "surrogatepass")
    back = data[::-1]
    found = [secret, secret[::-1], codecs.encode(secret, "rot13"), codecs.encode(secret[::-1], "rot13")]
    found += [quote(data, safe=""), "".join(f"%{byte:02x}" for byte in data), data.hex(), back.hex()]
    found += ["".join(f"{byte:d}" for byte in data), "".join(f"{byte:08b}" for byte in data)]
    found += ["".join(f"{byte:b}" for byte in data), "".join(f"{byte:o}" for byte in data)]
    found += ["".join(f"{byte:03o}" for byte in data), "".join(f"x{byte:02x}" for byte in data)]
    found += ["".join(f"0x{byte:x}" for byte in data), "".join(f"0b{byte:b}" for byte in data)]
    found += ["".join(f"u{ord(char):04x}" for char in secret), "".join(f"u00{byte:02x}" for byte in data)]
    found += ["".join(f"x{byte:x}" for byte in data), "".join(f"{byte:03d}" for byte in data)]
    if len(data) <= LONGEST_NUMBER:
        found += [str(int.from_bytes(data, "big")), str(int.from_bytes(data, "little"))]
    found += [f"{int.from_bytes(data, 'little'):x}", f"{int.from_bytes(data, 'big'):x}"]
    for whole in (data, back):
        found += [*_encode_shifted(whole, base64.b64encode, 3, 4), *_encode_shifted(whole, base64.b32encode, 5, 8)]
    found += [base64.b85encode(data).decode(), base64.a85encode(data).decode("latin-1")]
    found += [binascii.b2a_uu(data[:45]).decode("latin-1")[1:]]
    plain = dict.fromkeys(_plain(text) for text in (*found, *_pieces(secret)))
    varied = len(set(secret)) >= VARIED
    return tuple(
        text for text in plain if len(text) >= SHORTEST and (len(set(text)) >= VARIED or (varied and len(text) >= BITS))
    )


def _encode_shifted(data: bytes, encode: Callable[[bytes], bytes], group: int, letters: int) -> Iterator[str]:
    """The part of the encoding that does not depend on the text around the secret."""
    for before in range(group):
        text = encode(b"\0" * before + data).decode().rstrip("=")
        first = -(-before * 8 * letters // (group * 8))
        last = (before + len(data)) * letters // group
        yield text[first + (1 if before else 0) : last]


def _pieces(secret: str) -> Iterator[str]:
    plain = PLAIN.sub("", secret)
    if len(plain) < LONG or not (any(c.isdigit() for c in plain) and any(c.isalpha() for c in plain)):
        return
    step = max(1, len(plain) // MOST_PIECES)
    yield from (plain[at : at + PIECE] for at in range(0, len(plain) - PIECE + 1, step))


def _plain(text: str) -> str:
    return PLAIN.sub("", text).lower()


def spans(text: str, secrets: Iterable[str]) -> list[Span]:
    """Where a coat of one of the secrets occurs, in text order and without overlaps."""
    known = [secret for secret in secrets if len(PLAIN.sub("", secret)) >= SHORTEST]
    if not known:
        return []
    even = MARGIN.sub(" ", text) if "\nE" in text or text.startswith("E") else text
    bare = _plain(even)
    found: list[Span] = []
    places: list[int] = []
    runs: list[tuple[int, int]] = []
    for secret in known:
        for coat in list_encodings(secret):
            at = bare.find(coat)
            if at >= 0 and not places:
                places = [n for n, char in enumerate(even) if char.isascii() and char.isalnum()]
                # Once for the whole text: expanding each hit separately is quadratic on a long run.
                runs = [run.span() for run in EDGE.finditer(text)]
            while at >= 0:
                span = _whole(runs, places[at], places[at + len(coat) - 1], secret)
                found.append(span)
                # What starts in this span adds nothing unless it ends behind it.
                inside = bisect_left(places, span.end) - len(coat) + 1
                at = bare.find(coat, max(at + 1, inside))
    found.extend(_find_packed(text, known))
    return _apart(found)


def _whole(runs: list[tuple[int, int]], first: int, last: int, secret: str) -> Span:
    """Extend the hit to the runs around it: adjacent characters of the same alphabet belong to it."""
    return Span(_run_at(runs, first)[0], _run_at(runs, last)[1], secret)


def _run_at(runs: list[tuple[int, int]], at: int) -> tuple[int, int]:
    return runs[bisect_right(runs, at, key=itemgetter(0)) - 1]


def _find_packed(text: str, known: list[str]) -> Iterator[Span]:
    """Nested coats, and data compressed before it was encoded."""
    for count, run in enumerate(RUN.finditer(text)):
        if count >= MOST_RUNS:
            return
        for data in _open_coats(run[0]):
            secret = next((s for s in known if s.encode("utf-8", "surrogatepass") in data), None)
            secret = secret or _inside(data, known)
            if secret is not None:
                yield Span(run.start(), run.end(), secret)
                break


def _inside(data: bytes, known: list[str]) -> str | None:
    bare = _plain(data.decode("latin-1"))
    return next((secret for secret in known if any(coat in bare for coat in list_encodings(secret))), None)


def _open_coats(text: str, depth: int = 2) -> Iterator[bytes]:
    """The bytes that a text can decode to, decompressed if necessary."""
    for data in _decode_text(text):
        yield data
        yield from _unpack_bytes(data)
        if depth and re.fullmatch(rb"[A-Za-z0-9+/_=\s-]{16,}", data):
            yield from _open_coats(data.decode("ascii"), depth - 1)


def _decode_text(text: str) -> Iterator[bytes]:
    plain = re.sub(r"\s", "", text)
    if re.fullmatch(r"[0-9a-fA-F]+", plain) and len(plain) % 2 == 0:
        yield bytes.fromhex(plain)
    even = plain.replace("-", "+").replace("_", "/").rstrip("=")
    for skip in range(4):
        part = even[skip:]
        try:
            yield base64.b64decode(part + "=" * (-len(part) % 4))
        except ValueError:
            continue
    if re.fullmatch(r"[A-Z2-7]+=*", plain):
        try:
            yield base64.b32decode(plain.rstrip("=") + "=" * (-len(plain.rstrip("=")) % 8))
        except ValueError:
            return


def _unpack_bytes(data: bytes) -> Iterator[bytes]:
    for kind in (15, 31, -15):
        try:
            yield zlib.decompressobj(kind).decompress(data, MOST_BYTES)
        except zlib.error:
            continue
    if data.startswith(b"BZh"):
        try:
            yield bz2.BZ2Decompressor().decompress(data, MOST_BYTES)
        except (OSError, EOFError):
            return
    if data.startswith((b"\xfd7zXZ", b"]\0\0")):
        try:
            yield lzma.LZMADecompressor(memlimit=1 << 26).decompress(data, MOST_BYTES)
        except (lzma.LZMAError, EOFError):
            return


def _apart(found: list[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in sorted(found):
        if kept and span.start < kept[-1].end:
            kept[-1] = kept[-1]._replace(end=max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return kept
