"""Values in XPath expressions of JavaScript: each stays one text, whatever quotes it has."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.module import function
from moot.scan.marks import list_marks
from moot.scan.rewrites.query import sole_use
from moot.scan.strings import build
from moot.scan.syntax import Source

UNFOLLOWED = 4
QUOTER = """const xpathText = ({value}) => {{
  const text = String(value);
  if (!text.includes("'")) return `'${{text}}'`;
  return text.includes('"') ? `concat('${{text.replace(/'/g, `', "'", '`)}}', '')` : `"${{text}}"`;
}};"""


def quote_texts(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node)
    if not call.args:
        raise RewriteRefused("the expression is not here")
    built = build(source, call.args[0])
    if built.home is not None:
        sole_use(source, built, call.args[0])
    elif not built.exact:
        built = build(source, call.args[0], UNFOLLOWED)
    found = list(list_marks(source, built))
    edits: list[Edit] = []
    quote = ""
    for at, mark in enumerate(found):
        if mark.hole is None:
            if mark.text in ("'", '"') and quote in ("", mark.text):
                quote = "" if quote else mark.text
            continue
        before, after = found[at - 1] if at else None, found[at + 1] if at + 1 < len(found) else None
        if before is None or after is None or not quote or not before.text == after.text == quote:
            raise RewriteRefused("the value is a part of the expression and no text")
        edits += [Edit(before.start, before.end, ""), Edit(after.start, after.end, "")]
        edits.append(replace_node(mark.hole.node, f"xpathText({source.text(mark.hole.node)})"))
    if not edits:
        raise RewriteRefused("no plain value stands in the expression")
    value = "value: unknown" if source.language == "typescript" else "value"
    added = function(source, "xpathText", QUOTER.format(value=value))
    yield Change((*edits, *added), "each value is one text of the expression")


CHOICES: dict[str, Choices] = {"javascript-xpath": quote_texts}
