"""What a Go function writes to a builder or a buffer before it reads it."""

from moot.scan.calls import SourceCall, calls
from moot.scan.syntax import Source

WRITERS = frozenset({"WriteString", "Write"})
PRINTERS = frozenset({"Fprintf", "Fprint", "Fprintln"})


def list_written(source: Source, call: SourceCall) -> list[SourceCall]:
    """The writes before `b.String()`, in their order: `b.WriteString(…)`, `fmt.Fprintf(&b, …)`."""
    callee = call.node.child_by_field_name("function")
    thing = callee.child_by_field_name("operand") if callee is not None else None
    builder, scope = source.text(thing) if thing is not None else "", source.scope(call.node)
    found: list[SourceCall] = []
    for each in (one for method in (*WRITERS, *PRINTERS) for one in calls(source).get(method, ())):
        whole = each.name.startswith(("fmt.F", "io.W")) and bool(each.args)
        into = source.text(each.args[0]).removeprefix("&") if whole else ""
        receiver = into or source.text(each.node).partition(".Write")[0]
        if source.scope(each.node) is scope and each.node.end_byte <= call.node.start_byte and receiver == builder:
            found.append(each)
    return sorted(found, key=lambda each: each.node.start_byte)
