"""Renders a report or document as one HTML file without scripts; all text from models or artefacts is escaped."""

from collections.abc import Iterable
from html import escape
from typing import assert_never

from moot.core.report import Block, Bullets, Cell, Figures, Grid, Headline, Listing, Paragraph, Report, ReportDocument
from moot.text.controls import clean


def render_html(report: Report) -> str:
    """The blocks only, for embedding in a page."""
    return clean(_join(report.blocks))


def render_document_html(document: ReportDocument) -> str:
    body = [f"<h1>{escape(document.title)}</h1>", f"<p>{escape(document.lead)}</p>"]
    for section in document.sections:
        body.append(f"<section>\n<h2>{escape(section.title)}</h2>\n{_join(section.blocks)}\n</section>")
    return clean(PAGE.replace("{title}", escape(document.title)).replace("{body}", "\n".join(body)))


def _join(blocks: Iterable[Block]) -> str:
    return "\n".join(map(_block, blocks))


def _block(block: Block) -> str:
    if isinstance(block, Headline):
        caveats = f"\n<p>Caveats:</p>\n{_list(block.caveats)}" if block.caveats else ""
        return f'<p class="verdict {block.tone}">{escape(block.text)}</p>{caveats}'
    title = f"<h3>{escape(block.title)}</h3>\n" if block.title else ""
    return title + _body(block)


def _body(block: Paragraph | Bullets | Grid | Listing | Figures) -> str:
    match block:
        case Paragraph():
            return f"<p>{_lines(block.text)}</p>" if block.text else ""
        case Bullets():
            return _list(block.entries)
        case Grid():
            head = "".join(f"<th>{escape(column)}</th>" for column in block.columns)
            rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in block.rows)
            return f"<table>\n<tr>{head}</tr>\n{rows}</table>"
        case Listing(language="diff"):
            return f"<pre>{''.join(map(_diff_line, block.text.splitlines()))}</pre>"
        case Listing():
            return f"<pre>{escape(block.text)}</pre>"
        case Figures():
            rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in block.entries)
            return f"<dl>{rows}</dl>"
        case _:
            assert_never(block)


def _list(entries: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_lines(entry)}</li>" for entry in entries) + "</ul>"


def _cell(cell: Cell) -> str:
    tone = f' class="{cell.tone}"' if cell.tone else ""
    return f"<td{tone}>{_lines(cell.text)}</td>"


def _lines(text: str) -> str:
    return "<br>".join(map(escape, text.split("\n")))


def _diff_line(line: str) -> str:
    kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "")
    text = escape(line) + "\n"
    return f'<span class="{kind}">{text}</span>' if kind else text


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
h1, h2, h3, p, li, dd { overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
h3 { font-size: 1rem; margin-bottom: 0.3rem; }
pre { overflow-x: auto; background: #f4f4f4; color: #111; padding: 1rem; border-radius: 4px; font-size: 13px; }
table { border-collapse: collapse; display: block; max-width: 100%; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 1rem 0.2rem 0; }
dt { float: left; clear: left; margin-right: 0.5rem; font-weight: bold; }
.verdict { font-weight: bold; }
.add, .good { color: #05691c; } .del, .bad, .critical, .high { color: #a3120f; } .at, .faint, .low { color: #5a5a5a; }
.warning, .medium { color: #7a5200; }
@media print { table { display: table; } td { overflow-wrap: anywhere; } pre { white-space: pre-wrap; } }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd; }
  pre { background: #1c1c1c; color: #ddd; }
  .add, .good { color: #7ad18b; } .del, .bad, .critical, .high { color: #ff8a80; } .at, .faint, .low { color: #aaa; }
  .warning, .medium { color: #e8bf6a; }
}
</style>
</head>
<body>
{body}
</body>
</html>"""
