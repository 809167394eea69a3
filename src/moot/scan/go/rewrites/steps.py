"""Binds the values of Go queries that are put together step by step."""

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from moot.scan.change import Change, Choices, RewriteRefused
from moot.scan.edits import Edit
from moot.scan.go.rewrites import drop_unused_fmt, quote_text, read_dialect, read_query
from moot.scan.go.rewrites.module import package
from moot.scan.rewrites.query_steps import StepWriter, parameterise_steps
from moot.scan.strings import StringHole
from moot.scan.syntax import Source


def sql_steps(source: Source, node: Node) -> Iterator[Change]:
    call, arg = read_query(source, node)
    change = parameterise_steps(source, call, arg, read_dialect(source), STEPS)
    local, added = package(source, "fmt") if any("fmt." in edit.new for edit in change.edits) else ("fmt", ())
    if local != "fmt":
        raise RewriteRefused("fmt has another name here")
    yield Change((*change.edits, *added, *drop_unused_fmt(source, change.edits)), change.did)


def _before(source: Source, statement: Node, line: str) -> Edit:
    start = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(start, statement.start_byte)
    if indent.strip():
        raise RewriteRefused("the statement shares its line with another one")
    return Edit(statement.start_byte, statement.start_byte, f"{line}\n{indent}")


def _is_number(source: Source, hole: StringHole) -> bool:
    return hole.spec == "%d" or source.text(hole.node).startswith(("strconv.Itoa(", "strconv.FormatInt("))


def _number_places(parts: Sequence[str], name: str) -> str:
    text = "$%d".join(part.replace("%", "%%") for part in parts)
    behind = range(len(parts) - 2, -1, -1)
    numbers = ", ".join(f"len({name})-{before}" if before else f"len({name})" for before in behind)
    return f"fmt.Sprintf({quote_text(text)}, {numbers})"


STEPS = StepWriter(
    declare=lambda name, values: f"{name} := []any{{{', '.join(values)}}}",
    add=lambda name, value: f"{name} = append({name}, {value})",
    passed=lambda name: f", {name}...",
    before=_before,
    is_number=_is_number,
    numbered=_number_places,
)
CHOICES: dict[str, Choices] = {"go-sql-string": sql_steps}
