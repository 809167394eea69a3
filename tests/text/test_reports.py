"""A report as markdown and HTML: every block is there, and what models wrote stays text."""

import re

import pytest
from markdown_it import MarkdownIt

from moot.core.report import (
    Bullets,
    Cell,
    Figures,
    Grid,
    Headline,
    Listing,
    Paragraph,
    Report,
    ReportDocument,
    ReportSection,
    list_figures,
    make_row,
    order_caveats,
)
from moot.protocols.harden.script import HardenResult
from moot.text.report_html import render_document_html, render_html
from moot.text.report_markdown import render_document_markdown, render_markdown

HOSTILE = (
    "<script>alert(1)</script> ![x](http://evil.example/a.png) [y](http://evil.example) \\<b>c\\</b> a | b \\| c\n"
    "# Fake heading\n"
    "```\n- item\n1. one\n> quote\x1b[31m\u202e\n=====\n"
)


def report_with(text: str) -> Report:
    """The same text in every place of every block."""
    return Report(
        blocks=(
            Headline(verdict="bad", text=text, caveats=(text, text)),
            Paragraph(title=text, text=text),
            Bullets(title=text, entries=(text, "second")),
            Grid(title=text, columns=("a", text), rows=(make_row(text, Cell(text=text, tone="critical")),)),
            Listing(title=text, language="diff", text=f"+{text}"),
            Figures(title=text, entries=((text, text),)),
        )
    )


def test_every_block_is_in_both_forms() -> None:
    words = [f"word{n}" for n in range(11)]
    report = Report(
        blocks=(
            Headline(verdict="ok", text=words[0], caveats=(words[1],)),
            Paragraph(title=words[2], text=words[3]),
            Bullets(title=words[4], entries=(words[5],)),
            Grid(columns=(words[6],), rows=(make_row(words[7]),)),
            Listing(language="python", text=words[8]),
            Figures(entries=((words[9], words[10]),)),
        )
    )
    for text in (render_markdown(report), render_html(report)):
        assert [word for word in words if word not in text] == []
        assert text.index(words[0]) < text.index("Caveats:") < text.index(words[1]) < text.index(words[2])


def test_markdown_of_models_makes_no_markup() -> None:
    document = ReportDocument(
        title=HOSTILE, lead=HOSTILE, sections=(ReportSection(title="S", blocks=report_with(HOSTILE).blocks),)
    )
    text = render_document_markdown(document)
    assert "\x1b" not in text and "\u202e" not in text
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    kinds = {token.type for token in tokens}
    assert [token.tag for token in tokens if token.type == "heading_open"] == ["h1", "h2"]
    assert "html_block" not in kinds and "blockquote_open" not in kinds and "ordered_list_open" not in kinds
    inline = {child.type for token in tokens for child in token.children or () if child.type != "html_inline"}
    assert not inline & {"image", "link_open"}
    html = [child.content for token in tokens for child in token.children or () if child.type == "html_inline"]
    assert set(html) <= {"<br>"}, "our own line breaks in cells"
    assert len([token for token in tokens if token.type == "fence"]) == 1, "the listing alone"
    rows = [token for token in tokens if token.type == "tr_open"]
    cells = [token for token in tokens if token.type in ("td_open", "th_open")]
    assert (len(rows), len(cells)) == (2, 4)


def test_html_of_models_is_escaped() -> None:
    text = render_html(report_with(HOSTILE))
    assert "<script" not in text and "&lt;script&gt;" in text and "\x1b" not in text and "\u202e" not in text
    assert set(re.findall(r"<(\w+)", text)) <= {
        "p", "h3", "ul", "li", "br", "table", "tr", "th", "td", "pre", "span", "dl", "dt", "dd",
    }  # fmt: skip
    assert '<td class="critical">' in text and '<span class="add">+&lt;script' in text


def test_a_page_loads_nothing() -> None:
    page = render_document_html(ReportDocument(title=HOSTILE, lead="l", sections=()))
    assert page.startswith("<!doctype html>") and "default-src 'none'" in page and "<script" not in page


@pytest.mark.parametrize(
    ("degraded", "line"),
    [
        ((), "fine"),
        (("slow",), "fine; caveat: slow"),
        (("slow", "red, round 1: absent"), "fine; 2 caveats, first: red, round 1: absent"),
        (("first reply unreadable, asked again", "slow"), "fine; 2 caveats, first: slow"),
    ],
)
def test_the_first_line_has_the_gravest_caveat(degraded: tuple[str, ...], line: str) -> None:
    assert Headline(verdict="fine", text="fine", caveats=order_caveats(degraded)).line == line


def test_a_session_that_was_stopped_before_any_answer_is_not_told_to_add_a_model() -> None:
    def say(outcome: str) -> str:
        result = HardenResult.model_construct(outcome=outcome, usage={}, calls_failed=0, branch="", session_id="s")
        return dict(list_figures(result, "").entries)["models"]

    assert say("cancelled") == "no model had answered when the session was stopped"
    assert "to add one: -m" in say("unresolved")
