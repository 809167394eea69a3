"""Comments on pull requests: the most serious findings, each once, and a summary of all."""

from collections.abc import Sequence

from moot.core.report import Grid, Headline, Paragraph, Report, count_things, make_row
from moot.edge.github import LineComment, PullRequest
from moot.text.report_markdown import render_markdown
from moot.text.sarif import LineRemark

MOST_ROWS = 50


def report_remarks(remarks: Sequence[LineRemark]) -> Report:
    if not remarks:
        return Report(blocks=(Headline(verdict="no_findings", text="No findings", tone="good"),))
    serious = sum(remark.severity in ("critical", "high") for remark in remarks)
    text = f"{count_things(len(remarks), 'finding')}, {serious} of them critical or high"
    rows = [make_row(each.severity, f"{each.file}:{each.line}", each.rule, each.text) for each in remarks[:MOST_ROWS]]
    left = len(remarks) - len(rows)
    rest = (Paragraph(text=f"{left} more are in the SARIF file."),) if left else ()
    grid = Grid(columns=("severity", "where", "rule", "finding"), rows=tuple(rows))
    return Report(blocks=(Headline(verdict="findings", text=text, tone="bad"), grid, *rest))


def comment_on(pull: PullRequest, remarks: Sequence[LineRemark], most: int) -> str:
    """Posts the most serious new findings in one review, at most `most`. Returns a line that says what was done."""
    posted = "\n".join(pull.list_comments())
    fresh = [remark for remark in remarks if mark_of(remark) not in posted]
    chosen = fresh[:most]
    known = len(remarks) - len(fresh)
    if not chosen:
        return f"nothing posted: {count_things(len(remarks), 'finding')}, {known} commented on before"
    left = len(fresh) - len(chosen)
    rest = f" {left} more in the job summary." if left else ""
    comments = [LineComment(each.file, each.line, render_comment(each)) for each in chosen]
    placed = pull.post_review(f"Moot: the {count_things(len(chosen), 'finding')} that matter most.{rest}", comments)
    where = "at their lines" if placed else "in one comment: their lines are not part of the diff"
    return f"posted {count_things(len(chosen), 'finding')} {where}; {left} left out, {known} commented on before"


def render_comment(remark: LineRemark) -> str:
    fix = (Paragraph(title="Fix", text=remark.fix),) if remark.fix else ()
    text = f"{remark.severity}: {remark.text}"
    report = Report(blocks=(Headline(verdict=remark.severity, text=text), *fix))
    return f"{render_markdown(report)}\n\n{mark_of(remark)}"


def mark_of(remark: LineRemark) -> str:
    """A hidden mark in a comment, so that a finding is posted only once."""
    return f"<!-- moot:{remark.fingerprint} -->"
