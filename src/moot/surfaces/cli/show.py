"""The result of a protocol that has no way of its own to be shown."""

from pydantic import JsonValue

from moot.core.report import Bullets, Figures, Grid, Headline, Listing, Paragraph, Report
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import out, plain, print_json, section


def show_result(report: Report, data: JsonValue, ending: Ending) -> None:
    if ending.json:
        return print_json(data)
    console = out()
    for block in report.blocks:
        match block:
            case Headline(text=text, caveats=caveats):
                console.print(plain(text))
                section(console, "Caveats", caveats)
            case Paragraph(text=text) | Listing(text=text):
                console.print(plain(text))
            case Bullets(title=title, entries=entries):
                section(console, title, entries)
            case Grid(columns=columns, rows=rows):
                for row in (columns, *([cell.text for cell in cells] for cells in rows)):
                    console.print(plain("  ".join(row)))
            case Figures(title=title, entries=figures):
                section(console, title, [f"{name}: {value}" for name, value in figures])
