"""Values of JavaScript literals: escapes and numbers."""

import re

from moot.scan.engine.ir import Scalar

ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,8}\}|[0-7]{1,3}|\r\n|.|\n)", re.DOTALL)
PLAIN = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": "", "\u2028": ""}
MAX_DIGITS = 40
LAST_CODE = 0x110000


def unescape_text(text: str) -> str:
    return ESCAPE.sub(lambda found: _meaning(found[1]), text) if "\\" in text else text


def _meaning(code: str) -> str:
    if code in PLAIN:
        return PLAIN[code]
    if code[0] in "xu" and len(code) > 1:
        number = int(code[1:].strip("{}"), 16)
        return chr(number) if number < LAST_CODE and not 0xD800 <= number < 0xE000 else "\ufffd"
    if code[0] in "01234567":
        return chr(int(code, 8))
    return code


def number(text: str) -> Scalar:
    """None for a number that is not worth tracking."""
    plain = text.replace("_", "").rstrip("n")
    if len(plain) > MAX_DIGITS:
        return None
    try:
        return int(plain, 8) if re.fullmatch("0[0-7]+", plain) else int(plain, 0)
    except ValueError:
        pass
    try:
        return float(plain)
    except ValueError:
        return None
