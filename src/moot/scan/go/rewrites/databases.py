"""Asks a Go database which driver it has, where the code shows no sign of it: each writes placeholders its own way."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, RewriteRefused
from moot.scan.edits import Edit
from moot.scan.go.rewrites.module import names, package
from moot.scan.rewrites.drivers import UNKNOWN
from moot.scan.syntax import Source

BIND = """

// bindMarks writes the placeholders of the query as the driver of the database wants them.
func bindMarks(db *sql.DB, query string) string {
	driver, mark := fmt.Sprintf("%T", db.Driver()), ""
	switch {
	case strings.Contains(driver, "pq.") || strings.Contains(driver, "pgx") || strings.Contains(driver, "stdlib."):
		mark = "$"
	case strings.Contains(driver, "mssql."):
		mark = "@p"
	case strings.Contains(driver, "godror.") || strings.Contains(driver, "go_ora."):
		mark = ":"
	default:
		return query
	}
	var bound strings.Builder
	number, quoted := 0, false
	for _, char := range query {
		quoted = quoted != (char == '\\'')
		if char != '?' || quoted {
			bound.WriteRune(char)
			continue
		}
		number++
		fmt.Fprintf(&bound, "%s%d", mark, number)
	}
	return bound.String()
}
"""


def find_database(source: Source, call: SourceCall) -> str:
    """The receiver of the call, if the file declares it as *sql.DB. A transaction cannot be asked, but who began it."""
    callee = call.node.child_by_field_name("function")
    thing = callee.child_by_field_name("operand") if callee is not None else None
    if thing is None or thing.type not in ("identifier", "selector_expression"):
        raise RewriteRefused(UNKNOWN)
    field = thing.child_by_field_name("field") if thing.type == "selector_expression" else None
    word = source.text(field if field is not None else thing)
    kinds = [
        source.text(kind)
        for given in source.nodes("field_declaration" if field is not None else "parameter_declaration", "var_spec")
        if word in [source.text(name) for name in given.children_by_field_name("name")]
        and (kind := given.child_by_field_name("type")) is not None
    ]
    begun = origins(source, thing) if thing.type == "identifier" and not kinds else []
    if len(begun) == 1 and begun[0].value is not None and begun[0].value.type == "call_expression":
        call = read_call(source, begun[0].value)
        if call.method in ("Begin", "BeginTx", "MustBegin"):
            return find_database(source, call)
    if not kinds or any(kind != "*sql.DB" for kind in kinds):
        raise RewriteRefused(UNKNOWN)
    return source.text(thing)


def bind_marks(source: Source, call: SourceCall, arg: Node, change: Change, database: str) -> Change:
    """The change, with the text of the query written for the driver of this database."""
    if not database:
        return change
    known = BIND.strip().encode() in source.data
    if not known and "bindMarks" in names(source) | source.project.defined:
        raise RewriteRefused("'bindMarks' means something else here")
    edits = [Edit(arg.start_byte, arg.start_byte, f"bindMarks({database}, "), *change.edits]
    places = [at for at, edit in enumerate(edits) if edit.start == edit.end == arg.end_byte]
    if len(places) != 1 or re.search(r"\?", source.text(arg)):
        raise RewriteRefused(UNKNOWN)
    edits[places[0]] = Edit(arg.end_byte, arg.end_byte, ")" + edits[places[0]].new)
    if known:
        return Change(tuple(edits), change.did)
    end = len(source.data.rstrip())
    added = [each for path in ("fmt", "strings") for each in package(source, path)[1]]
    return Change((*edits, *added, Edit(end, len(source.data), BIND)), change.did)
