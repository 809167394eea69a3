"""Extracts examples from a task: doctest lines, asserts, and the ways people write `f(2)` gives `4`, in the words of
its language."""

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from moot.core.types import Language
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.notations.notation import Notation, find_closing
from moot.evidence.trials.notations.python import literal, literal_call
from moot.evidence.trials.values import Example, TestOrigin

PROMPT = re.compile(r"^([ \t]*)>>> ?(.*)$")
ERROR = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|StopIteration|Exit))\b")
SIGNS = r"→|➞|⟹|==?>|[-−]+>|===?|=(?![=>])|#\s*=>|#\s*(?:returns?|gives?)\b|#"
WORDS = r"(?:should\s+)?(?:returns?|gives?|yields?|outputs?|evaluates to|is|equals?|be)\b"
GIVES = re.compile(rf"[\s`*]*+(?:{SIGNS}|{WORDS})[\s`*:]*")
RAISES = re.compile(r"\s*+(?:should\s+)?(?:raises?|throws?)\s+(?:an?\s+)?`?(\w+)`?")
INPUT, OUTPUT = (re.compile(rf"^\W*+(?:{word})s?\W*[:=]\s*(.*)$", re.I) for word in ("input", "output"))
NAMED = re.compile(r"^\s*[a-z_]\w*\s*[:=]\s*(.+)$")
FOR = re.compile(
    r"\b(?:for|if|when|with|given)\s+(\w+\s*=\s*[^,;]+?|\w+\s*=\s*.+?),?\s+(?:the\s.*?)?(?:\w+\s+)?"
    r"(?:output|result|answer|function)\s+(?:should\s+(?:be|return)|is|returns|will be)\s+(.+)$",
    re.IGNORECASE,
)
CALL = re.compile(r"(?<![A-Za-z0-9_])(?<![A-Za-z0-9_]\.)[A-Za-z_]\w{0,255}+(?:\.[A-Za-z_]\w{0,255}+){0,31}+\(")
"""From the beginning of a name, up to a longest one: tried at each of its letters, a megabyte would take hours."""
CHECKED = re.compile(r"[eE]qual(?:s|To)?\(\s*(?:await\s+)?$")
"""`assert.equal(`, before the call that it checks."""
CHECKS = re.compile(
    r"\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)\(\s*|\)?\s*(?:;\s*)?//\s*(?:=>|->|→|returns?|gives?)?[\s`:]*"
)
"""`).toBe(` and `); // `, between a call and its value in JavaScript."""
PANICS = re.compile(r"[\s`]*(?:should\s+)?panics?\b")
ARGUMENT = re.compile(r"(?:(?<=^)|(?<=, ))\w+\s*=\s*")
"""`n = `, before a value."""
LONGEST_CALL = 20
LONGEST_LINE, LONGEST_SENTENCE = 5_000, 500
"""A longer line states no example. Somebody who writes the task must not decide how long it is read."""
LEFT_OUT = "…"
"""Stands for such a line: an empty one would end what a call prints, as if it printed nothing or less."""
MAX_EXAMPLES = 200
MAX_CALLS = 2000
LONGEST_TEXT = 4000
"""Characters of one call."""


@lru_cache(maxsize=32)  # a text may have a megabyte
def examples_in(
    text: str, name: str | None = None, origin: TestOrigin = "task", language: Language = "python"
) -> tuple[Example, ...]:
    """Every example of calling `name` (or any function), once, in text order. Cached: each phase of a debate asks
    again."""
    found: dict[str, Example] = {}
    others: dict[str, Example] = {}
    notation = notation_of(language)
    text = "\n".join(line if len(line) <= LONGEST_LINE else LEFT_OUT for line in text.split("\n"))
    own_ways = (_doctests(text, name, origin), _asserts(text, origin)) if language == "python" else ()
    ways = (*own_ways, _find_stated(text, origin, notation), _pairs(text, name, origin, notation))
    for example in chain(*ways):
        own = name is None or re.search(rf"(?<![\w.]){re.escape(name)}\(", example.call) is not None
        (found if own else others).setdefault(example.call, example)
        if len(found) == MAX_EXAMPLES:
            break
    return tuple(found.values()) or _rename_examples(text, name or "", others.values() if language == "python" else ())


def _rename_examples(text: str, name: str, others: Iterable[Example]) -> tuple[Example, ...]:
    """A task may use another name for its one function in its examples, if no function has that name."""
    called = {find_called_name(example.call) for example in others}
    known = re.findall(r"^[^\S\n]*(?:async\s+)?def\s+(\w+)", text, re.MULTILINE)
    if len(called) != 1 or known != [name] or called & set(dir(builtins)):
        return ()
    return tuple(e.model_copy(update={"call": f"{name}({e.call.partition('(')[2]}"}) for e in others)


def find_called_name(call: str) -> str:
    return call.partition("(")[0].rpartition(".")[2]


def _doctests(text: str, name: str | None, origin: TestOrigin) -> Iterator[Example]:
    """Also a call within an expression, and one that prints nothing: it returns None if others print something."""
    lines = text.split("\n")
    prompts = [(number, prompt) for number, line in enumerate(lines) if (prompt := PROMPT.match(line))]
    printed = {number: _read_expected(lines[number + 1 :], len(prompt[1])) for number, prompt in prompts}
    for number, prompt in prompts:
        if call := literal_call(prompt[2]) or _around(prompt[2], name):
            wanted = printed[number]
            error = _error(wanted)
            if error:
                yield Example(call=call, raises=error, origin=origin, category="error_handling")
            elif (value := literal("\n".join(wanted))) is not None:
                yield Example(call=call, expected=value, origin=origin)
            elif not wanted and any(printed.values()):
                yield Example(call=call, expected="None", origin=origin)


def _around(text: str, name: str | None) -> str | None:
    """`round(f([1, 2]), 2)`: an expression of the function, literals and builtins."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    plain = not any(isinstance(node, ast.Lambda | ast.comprehension | ast.NamedExpr) for node in ast.walk(tree))
    known = name is not None and name in names and names - {name} <= set(dir(builtins))
    return ast.unparse(tree) if known and plain and isinstance(tree, ast.Call) else None


def _read_expected(lines: list[str], indent: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        if not line.strip() or PROMPT.match(line) or line.strip() in ('"""', "'''"):
            break
        taken.append(line[indent:])
        if len(taken) > 50:
            break
    return taken


def _error(lines: list[str]) -> str:
    if lines and lines[0].startswith("Traceback"):
        return next((found[1] for line in lines[1:] if (found := ERROR.match(line))), "")
    return ""


def _asserts(text: str, origin: TestOrigin) -> Iterator[Example]:
    for line in text.split("\n"):
        stated = line.strip().removeprefix(">>>").strip()
        if stated.startswith("assert "):
            try:
                test = ast.parse(stated).body[0]
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                continue
            if isinstance(test, ast.Assert) and (pair := read_comparison(test.test)):
                yield Example(call=pair[0], expected=pair[1], origin=origin)


def read_comparison(test: ast.expr) -> tuple[str, str] | None:
    """A call with literals, and the literal it is compared with."""
    match test:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
            sides = (ast.unparse(left), ast.unparse(right))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            sides = (ast.unparse(operand), "False")
        case ast.Call():
            sides = (ast.unparse(test), "True")
        case _:
            return None
    for call, value in (sides, sides[::-1]):
        if (found := literal_call(call)) and (wanted := literal(value)) is not None:
            return found, wanted
    return None


def _find_stated(text: str, origin: TestOrigin, notation: Notation) -> Iterator[Example]:
    """`f(2) → 4`, `f(2) == 4`, "f(2) returns 4", "f(-1) raises ValueError"."""
    for line, start in islice(_find_calls(text), MAX_CALLS):
        end = find_closing(line[: start.end() + LONGEST_TEXT], start.end() - 1)
        if end is None or (call := notation.unify_call(line[start.start() : end])) is None:
            continue
        if error := _find_error(line, end, notation):
            yield Example(call=call, raises=error, origin=origin, category="error_handling")
        elif (place := _find_value(line, start.start(), end, notation)) is not None and (
            value := notation.find_leading(line[place:])
        ) is not None:
            yield Example(call=call, expected=value, origin=origin)


def _find_calls(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for line in _whole_lines(text.split("\n")):
        if not line.lstrip().startswith(("def ", "class ", "func ", "function ")):
            yield from ((line, start) for start in CALL.finditer(line))


def _find_error(line: str, end: int, notation: Notation) -> str:
    if notation.language == "go":
        return "panic" if PANICS.match(line, end) else ""
    error = RAISES.match(line, end)
    return error[1] if error else ""


def _find_value(line: str, start: int, end: int, notation: Notation) -> int | None:
    """Where the value of the call begins that stands from `start` to `end`."""
    if notation.language in ("javascript", "typescript"):
        comma = re.compile(r"\s*,\s*").match(line, end) if CHECKED.search(line[:start]) else None
        if checks := comma or CHECKS.match(line, end):
            return checks.end()
    gives = GIVES.match(line, end)
    return gives.end() if gives else None


def _whole_lines(lines: Sequence[str]) -> Iterator[str]:
    """Lines, joined while a call's bracket is open."""
    for number, line in enumerate(lines):
        yield line
        if re.search(r"\w\(\s*[\[({]*\s*$", line):
            for last in range(number + 1, min(number + LONGEST_CALL, len(lines))):
                whole = " ".join(part.strip() for part in lines[number : last + 1])
                if find_closing(whole, whole.find("(")) is not None:
                    yield whole
                    break


def _pairs(text: str, name: str | None, origin: TestOrigin, notation: Notation) -> Iterator[Example]:
    """`Input: n = 5` with `Output: 1` below it, "for n = 5 the output should be 1", if the function is known."""
    given: list[str] | None = None
    for line in text.split("\n") if name else ():
        if found := FOR.search(line) if len(line) <= LONGEST_SENTENCE else None:
            yield from _pair_example(name or "", found[1], found[2], origin, notation)
        elif found := INPUT.match(line):
            given = [found[1]] if found[1].strip() else []
        elif (found := OUTPUT.match(line)) and given is not None:
            yield from _pair_example(name or "", ", ".join(given), found[1], origin, notation)
            given = None
        elif given is not None and (found := NAMED.match(line)):
            given.append(found[1])


def _pair_example(name: str, given: str, value: str, origin: TestOrigin, notation: Notation) -> Iterator[Example]:
    call, wanted = _with_values(name, given, notation), notation.find_leading(value)
    if call is not None and wanted is not None:
        yield Example(call=call, expected=wanted, origin=origin)


def _with_values(name: str, given: str, notation: Notation) -> str | None:
    """The call with these arguments by position: a task's names may differ from the function's."""
    if notation.language != "python":
        return notation.unify_call(f"{name}({ARGUMENT.sub('', given.strip().rstrip('.'))})")
    try:
        call = ast.parse(f"{name}({given.strip().rstrip('.')})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if not isinstance(call, ast.Call):
        return None
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return literal_call(ast.unparse(ast.Call(call.func, values, [])))
