"""Why an error that Go code drops does not matter."""

import itertools
import re
from typing import cast

from tree_sitter import Node

from moot.scan.calls import SourceCall
from moot.scan.strings import STRINGS
from moot.scan.syntax import Source, words

EXPLAINED = re.compile(rb"//|/\*")
IGNORES = re.compile(r"(?i)\bignor\w+|best[- ]effort|rather than (?:fail|return|break|reject)")
NEAR = 4
NOT = r"\bif\b.*\b(?:not|isn't|cannot|can't|invalid)\b"
SAID_INSTEAD = re.compile(rf"(?i)\breturn\w*\b.*{NOT}|{NOT}.*\breturned\b")
FAILED_RETURN = re.compile(r"\breturn (\w+), (?!nil\b)")
ABOUT_ERRORS = re.compile(r"(?i)\b(?:errors?|fails?|failure|ignor\w+|best[- ]effort?|drain\w*|infallible)\b")
UNDONE = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
"""What is still to be done is no reason."""
DRAINS = words("io.Copy io/ioutil.Copy")
PARTLY = words("io.ReadFull io.ReadAtLeast")
FAILURE = re.compile(r"(?:\w+\.)?[eE]rr[A-Z]\w*")
NEW_ERROR = re.compile(r"(?:^return|,)\s*(?:errors\.New|fmt\.Errorf|errors\.Errorf)\(")


def is_explained(source: Source, node: Node) -> bool:
    """A comment on the line, above it, or above the lines before it says that the error does not matter."""
    lines = source.data[max(0, node.start_byte - 2000) : node.start_byte].decode("utf-8", "replace").split("\n")[:-1]
    above = read_comment(lines)
    if UNDONE.search(above):
        return False
    if ABOUT_ERRORS.search(above) or (not above and IGNORES.search(_read_paragraph(lines))):
        return True
    end = source.data.find(b"\n", node.end_byte)
    return EXPLAINED.search(source.data, node.end_byte, end if end >= 0 else len(source.data)) is not None


def _read_paragraph(lines: list[str]) -> str:
    """The comment above a few lines without a gap."""
    for steps in range(1, NEAR):
        rest = lines[: len(lines) - steps]
        if len(rest) + steps != len(lines) or not lines[len(rest)].strip():
            return ""
        if found := read_comment(rest):
            return found
    return ""


def is_documented(source: Source, call: SourceCall) -> bool:
    """The function says what it gives for a text that is no number."""
    function = source.scope(call.node).node
    lines = source.data[max(0, function.start_byte - 2000) : function.start_byte].decode("utf-8", "replace").split("\n")
    return call.name.startswith("strconv.") and SAID_INSTEAD.search(read_comment(lines[:-1])) is not None


def drops_no_error(source: Source, call: SourceCall) -> bool:
    """Nobody can be told that a log cannot be written (`log.Logger.Output`; that of a command takes no argument), and
    `span, ctx := tracer.Start(ctx)` gives a context; a method of the file says itself what it gives."""
    first = source.text(call.args[0]) if call.args else ""
    return bool(first) and (call.method == "Output" or (call.method == "Start" and first == "ctx"))


def tells_by_zero(source: Source, node: Node, call: SourceCall, name: str) -> bool:
    """What is left empty by the failure is asked for next, or is only emptied: `if n == 0`, `data[:n]` of a part that
    was read, `io.Copy(io.Discard, body)`."""
    if call.name in DRAINS:
        return bool(call.args) and source.text(call.args[0]).endswith(".Discard")
    word, below, after = re.escape(name), node, ""
    for _ in range(2):
        following = below.next_named_sibling
        if following is None:
            break
        after += source.text(following)[:200] + "\n"
        below = following
    if call.name in PARTLY:
        return re.search(rf"\[:{word}\]|\b{word} (?:>|==|<|!=) ", after) is not None
    return re.match(rf"if {word} (?:==|<=|<|>) [01]\b", after) is not None


def hands_on(source: Source, call: SourceCall) -> bool:
    """`fail(ErrClosed)` gives the error that it is given."""
    return any(FAILURE.fullmatch(source.text(arg)) for arg in call.args)


def fails_anyway(source: Source, node: Node) -> bool:
    """Nothing goes on as if it had worked: the block ends with an error."""
    steps = node.parent
    last = steps.named_child(steps.named_child_count - 1) if steps is not None and steps.named_child_count else None
    if steps is None or last is None or last.type != "return_statement" or not last.named_child_count:
        return False
    returned = source.text(last).removeprefix("return").rpartition(",")[2].strip()
    if FAILURE.fullmatch(returned) or NEW_ERROR.search(source.text(last)):
        return True
    outer = steps.parent.parent if steps.type == "statement_list" and steps.parent is not None else steps.parent
    head = source.slice(outer.start_byte, steps.start_byte) if outer is not None else ""
    return re.fullmatch(r"\w+", returned) is not None and f"{returned} != nil" in head


def tells_by_value(source: Source, call: SourceCall) -> bool:
    """Where the function of the file fails it gives a constant of its own, such as `invalidKind`, beside the error."""
    if "failed" not in source.memo:
        source.memo["failed"] = _list_failed_returns(source)
    given = cast(dict[str, set[str]], source.memo["failed"]).get(call.name)
    return bool(given) and given is not None and given <= list_constants(source)


def _list_failed_returns(source: Source) -> dict[str, set[str]]:
    """What the functions of the file give beside an error, by their names."""
    found: dict[str, set[str]] = {}
    for node in source.nodes("function_declaration"):
        if (name := node.child_by_field_name("name")) is not None:
            found.setdefault(source.text(name), set()).update(FAILED_RETURN.findall(source.text(node)))
    return found


def read_comment(lines: list[str]) -> str:
    """The comment that these lines end with."""
    stripped = [line.strip() for line in lines]
    comment = itertools.takewhile(lambda line: line.startswith("//"), reversed(stripped))
    return " ".join(reversed(list(comment)))


def is_constant(source: Source, name: Node) -> bool:
    """A literal, or a constant of the file."""
    return source.text(name) in list_constants(source) if name.type == "identifier" else name.type in STRINGS


def list_constants(source: Source) -> set[str]:
    if "constants" not in source.memo:
        named = (name for node in source.nodes("const_spec") for name in node.children_by_field_name("name"))
        source.memo["constants"] = {source.text(name) for name in named}
    return cast(set[str], source.memo["constants"])
