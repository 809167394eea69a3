"""Makes untrusted text safe to display: no escape codes, no bidirectional controls."""

import unicodedata

HARMFUL = ("Cc", "Cf", "Cs")
"""Controls, including ESC and the C1 set; invisible format characters, including bidirectional ones; lone
surrogates."""
SHOWN = "\n\t"


def clean(text: str) -> str:
    """Replace every character that a terminal would obey instead of showing it. Line ends of Windows become plain."""
    return "\n".join(line if line.isprintable() else _clean_line(line) for line in split_lines(text))


def split_lines(text: str) -> list[str]:
    """Without the carriage return of Windows, which would be marked at the end of every line that is shown alone."""
    return text.replace("\r\n", "\n").split("\n")


def clean_json(text: str, encoding: str = "utf-8") -> str:
    """JSON with such characters escaped, which `json.dumps` leaves alone, and those that the encoding lacks."""
    if text.isascii() and "\x7f" not in text:
        return text
    cleaned = "".join(_escape_character(c) if _is_harmful(c) else c for c in text)
    try:
        cleaned.encode(encoding)
        return cleaned
    except UnicodeEncodeError:
        return "".join(c if c.isascii() else _escape_character(c) for c in cleaned)


def _clean_line(line: str) -> str:
    return "".join("�" if _is_harmful(c) else c for c in line)


def _is_harmful(character: str) -> bool:
    return character not in SHOWN and unicodedata.category(character) in HARMFUL


def _escape_character(character: str) -> str:
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + (code - 0x10000 >> 10):04x}\\u{0xDC00 + (code - 0x10000 & 0x3FF):04x}"
