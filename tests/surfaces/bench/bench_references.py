"""Right answers to the starter tasks: their tests must accept them."""

REFERENCES = {
    "slug": r"""
import re
def slug(title):
    return re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-') or 'untitled'
""",
    "roman": r"""
VALUES = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
SIGNS = 'M CM D CD C XC L XL X IX V IV I'.split()


def to_roman(number):
    if not 1 <= number <= 3999:
        raise ValueError(number)
    out = ''
    for value, sign in zip(VALUES, SIGNS):
        out += sign * (number // value)
        number %= value
    return out
""",
    "intervals": r"""
def merge(intervals):
    out = []
    for a, b in sorted(intervals):
        if out and a <= out[-1][1] + 1:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out
""",
    "runs": r"""
from itertools import groupby
def compress(text):
    out = ''
    for sign, run in groupby(text):
        n = len(list(run))
        out += ('\\' if sign.isdigit() or sign == '\\' else '') + sign + (str(n) if n > 1 else '')
    return out
""",
    "workdays": r"""
from datetime import date, timedelta
def workdays(first, last):
    a, b = date.fromisoformat(first), date.fromisoformat(last)
    return sum((a + timedelta(n)).weekday() < 5 for n in range((b - a).days + 1))
""",
    "brackets": r"""
def first_mismatch(text):
    pairs = {')': '(', ']': '[', '}': '{'}
    stack, at = [], 0
    while at < len(text):
        c = text[at]
        if c == '"' and '"' in text[at + 1:]:
            at = text.index('"', at + 1)
        elif c in '([{':
            stack.append((c, at))
        elif c in pairs:
            if not stack or stack.pop()[0] != pairs[c]:
                return at
        at += 1
    return stack[0][1] if stack else -1
""",
    "words": r"""
import re
from collections import Counter
def top_words(text, count):
    found = Counter(re.findall(r"[a-z]+(?:'[a-z]+)*", text.lower()))
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:count]
""",
    "duration": r"""
import re
def seconds(text):
    m = re.fullmatch(r'\s*(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+)s)?\s*', text, re.I)
    if not m or not any(m.groups()):
        raise ValueError(text)
    h, mi, s = (int(g or 0) for g in m.groups())
    return 3600 * h + 60 * mi + s
""",
    "wrap": r"""
def wrap(text, width):
    lines, line = [], ''
    for word in text.split():
        if line and len(line) + 1 + len(word) <= width:
            line += ' ' + word
            continue
        if line:
            lines.append(line)
        while len(word) > width:
            lines.append(word[:width])
            word = word[width:]
        line = word
    return lines + ([line] if line else [])
""",
    "window": r"""
from statistics import median
def moving_median(values, size):
    if size < 1:
        raise ValueError(size)
    return [median(values[n:n + size]) for n in range(len(values) - size + 1)]
""",
}
