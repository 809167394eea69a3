"""Renders templates, and text of models as HTML that can neither run nor pass for Moot's."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape
from pydantic import JsonValue
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from moot.core.report import format_wait
from moot.text.controls import clean

HIGHLIGHTED = frozenset(
    {"bash", "diff", "go", "javascript", "js", "json", "py", "python", "sh", "sql", "toml", "ts", "typescript", "yaml"}
)
LONGEST_HIGHLIGHT = 20_000
"""Longer code is shown plain: a lexer may be slow on hostile text."""
DEEPEST = 6
SHORT = 12
"""Characters. A list of such words is one line."""


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("moot.surfaces.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean_value,
    )
    made.filters |= {"said": render_said, "prose": render_prose, "code": render_code, "wait": format_wait}
    return made


def _clean_value(value: Any) -> Any:
    """Cleans template values; HTML was made from clean text already."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render_template(name: str, **context: Any) -> Markup:
    return Markup(environment().get_template(name).render(**context))


# --- words of models


def render_said(text: str) -> Markup:
    """A reply: a JSON object by its fields, anything else as Markdown without links or HTML."""
    try:
        found = json.loads(_strip_fence(text))
    except (ValueError, RecursionError):
        found = None
    return _render_value(found) if isinstance(found, dict) and found else render_prose(text)


def _strip_fence(text: str) -> str:
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and text.count("```") == 2:
        return text.removesuffix("```").partition("\n")[2]
    return text


def _render_value(value: JsonValue, depth: int = 0) -> Markup:
    if depth >= DEEPEST:
        return render_code(json.dumps(value, indent=2, ensure_ascii=False), "json")
    match value:
        case dict():
            rows = ((key.replace("_", " "), _render_value(held, depth + 1)) for key, held in value.items())
            return Markup("<dl>{}</dl>").format(Markup().join(map(_row, rows)))
        case list() if value and all(isinstance(each, str) and len(each) <= SHORT for each in value):
            return Markup("<p>{}</p>").format(clean(", ".join(map(str, value))))
        case list():
            items = (Markup("<li>{}</li>").format(_render_value(each, depth + 1)) for each in value)
            return Markup("<ul>{}</ul>").format(Markup().join(items)) if value else Markup('<p class="faint">none</p>')
        case str():
            return render_prose(value)
        case _:
            return Markup("<p>{}</p>").format(json.dumps(value))


def _row(row: tuple[str, Markup]) -> Markup:
    return Markup("<dt>{}</dt><dd>{}</dd>").format(clean(row[0]), row[1])


def render_prose(text: str) -> Markup:
    return Markup(_markdown().render(clean(text)))


@cache
def _markdown() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "highlight": _highlight}).enable("table")
    made.disable(["link", "image", "autolink", "reference", "html_inline", "html_block", "entity"])
    for name in ("heading_open", "heading_close"):  # headings of the page belong to Moot
        made.add_render_rule(name, _render_heading)
    return made


def _render_heading(renderer: RendererHTML, tokens: Sequence[Token], at: int, *_: Any) -> str:
    return '<p class="heading">' if tokens[at].nesting == 1 else "</p>\n"


def _highlight(code: str, language: str, _: str) -> str:
    return str(render_code(code, language))


def render_code(text: str, language: str = "text") -> Markup:
    text = clean(text)
    if language not in HIGHLIGHTED or len(text) > LONGEST_HIGHLIGHT:
        return Markup('<pre tabindex="0">{}</pre>').format(escape(text))
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    marked = cast(str, highlight(text, lexer, HtmlFormatter(nowrap=True)))
    return Markup('<pre tabindex="0" class="code">{}</pre>').format(Markup(marked))
