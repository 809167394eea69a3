"""A secret that comes back in a coat is masked: the second wall."""

import base64
import bz2
import codecs
import gzip
import json
import lzma
import sys
import zlib
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest

from moot.text.secrets import Vault
from moot.text.secrets.coats import spans

SECRET = "tr0ub4dor-and-3-more"
DATA = SECRET.encode()
COATS: dict[str, Callable[[], str]] = {
    "plain": lambda: SECRET,
    "base64": lambda: base64.b64encode(DATA).decode(),
    "base64 unpadded": lambda: base64.b64encode(DATA).decode().rstrip("="),
    "base64 urlsafe": lambda: base64.urlsafe_b64encode(DATA).decode(),
    "base64 after one byte": lambda: base64.b64encode(b"x" + DATA).decode(),
    "base64 after two bytes": lambda: base64.b64encode(b"xy" + DATA + b"z").decode(),
    "base64 in lines": lambda: "\n".join(base64.b64encode(DATA).decode()[n : n + 8] for n in range(0, 28, 8)),
    "base64 twice": lambda: base64.b64encode(base64.b64encode(DATA)).decode(),
    "base64 of hex": lambda: base64.b64encode(DATA.hex().encode()).decode(),
    "hex of base64": lambda: base64.b64encode(DATA).hex(),
    "base32": lambda: base64.b32encode(DATA).decode(),
    "base32 after a byte": lambda: base64.b32encode(b"x" + DATA).decode(),
    "base85": lambda: base64.b85encode(DATA).decode(),
    "ascii85": lambda: base64.a85encode(DATA).decode(),
    "hex": DATA.hex,
    "HEX": lambda: DATA.hex().upper(),
    "hex with colons": lambda: DATA.hex(":"),
    "hex escapes": lambda: "".join(f"\\x{byte:02x}" for byte in DATA),
    "hex numbers": lambda: ", ".join(hex(byte) for byte in DATA),
    "reversed": lambda: SECRET[::-1],
    "reversed base64": lambda: base64.b64encode(DATA[::-1]).decode(),
    "rot13": lambda: codecs.encode(SECRET, "rot13"),
    "upper": SECRET.upper,
    "swapped": SECRET.swapcase,
    "one a line": lambda: "\n".join(SECRET),
    "one a line of a report": lambda: "\n".join(f"E   {char}" for char in SECRET),
    "dashes": lambda: "-".join(SECRET),
    "a list": lambda: repr(list(SECRET)),
    "url": lambda: quote(SECRET.replace("-", "/"), safe=""),
    "percent": lambda: "".join(f"%{byte:02X}" for byte in DATA),
    "plus": lambda: quote_plus(SECRET),
    "json": lambda: json.dumps("".join(f"\\u{ord(char):04x}" for char in SECRET)),
    "codes": lambda: repr(list(DATA)),
    "codes of html": lambda: "".join(f"&#{byte};" for byte in DATA),
    "hex codes of html": lambda: "".join(f"&#x{byte:x};" for byte in DATA),
    "octal": lambda: "".join(f"\\{byte:03o}" for byte in DATA),
    "bits": lambda: " ".join(f"{byte:08b}" for byte in DATA),
    "a number": lambda: str(int.from_bytes(DATA, "big")),
    "a little number": lambda: str(int.from_bytes(DATA, "little")),
    "a hex number": lambda: hex(int.from_bytes(DATA, "big")),
    "gzip": lambda: base64.b64encode(gzip.compress(DATA)).decode(),
    "zlib in hex": lambda: zlib.compress(DATA).hex(),
    "bz2": lambda: base64.b64encode(bz2.compress(DATA)).decode(),
    "lzma": lambda: base64.b64encode(lzma.compress(DATA)).decode(),
    "its first half": lambda: f"it begins with {SECRET[:16]}",
    "its second half": lambda: f"and ends with {SECRET[5:]}",
}


@pytest.mark.parametrize("coat", COATS.values(), ids=COATS)
def test_a_known_secret_is_masked_in_every_coat(coat: Callable[[], str]) -> None:
    secret = SECRET.replace("-", "/") if "%2F" in coat() else SECRET
    vault = Vault({"DB_PASS": secret})
    text = f"AssertionError: got {coat()} instead\n"
    hidden = vault.hide(text)
    assert "REDACTED_DB_PASS_" in hidden and coat() not in hidden
    assert vault.reveal(hidden) == text


def test_a_secret_that_the_text_itself_names_is_masked_in_its_coats_too() -> None:
    text = f'DB_PASS = "{SECRET}"\nprint("{base64.b64encode(DATA).decode()}")\n'
    assert base64.b64encode(DATA).decode() not in Vault({}).hide(text)


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, and more.\n" * 40,
        "\n".join("abcdefghij"),
        base64.b64encode(bytes(range(256))).decode(),
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        repr(list(range(200))),
        "x" * 5000 + "=" * 100,
        base64.b64encode(gzip.compress(b"nothing of note", mtime=0)).decode(),
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert Vault({"DB_PASS": SECRET, "MY_TOKEN": "hunter2hunter2"}).hide(text) == text


def test_a_packed_bomb_is_not_unpacked_whole() -> None:
    bomb = base64.b64encode(zlib.compress(b"\0" * 50_000_000)).decode()
    assert Vault({"DB_PASS": SECRET}).hide(bomb) == bomb


def _count_calls(text: str) -> int:
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        spans(text, [SECRET])
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("part", [SECRET.replace("-", ""), "tr0ub4dorand3", f"{SECRET}\n"])
def test_the_work_grows_with_the_length_of_a_run_not_with_its_square(part: str) -> None:
    spans(part, [SECRET])  # the coats themselves are made once
    # Calls are counted: times say as much about the machine.
    assert _count_calls(part * 400) < 6 * _count_calls(part * 100)


def test_a_run_that_holds_a_secret_many_times_is_one_span() -> None:
    run = SECRET.replace("-", "") * 3
    other = SECRET.upper()
    text = f"a {run} b {other}x+/= c"
    assert [text[s.start : s.end] for s in spans(text, [SECRET])] == [run, f"{other}x+/="]
