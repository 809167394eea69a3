"""What is left to do after `moot review`: show the result, write the revised documents, note the decisions."""

from moot.core.errors import UsageError
from moot.core.types import Result
from moot.protocols.review.report import report_review
from moot.protocols.review.script import ReviewResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain, print_json
from moot.surfaces.extensions.review import exit_code, record_decisions, write_revisions
from moot.text.secrets import Vault


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Show the result, write the revised artefacts if asked to, and note the decisions."""
    assert isinstance(result, ReviewResult)
    if ending.json:
        print_json(result)
    else:
        show_report(report_review(result))
    if ending.write and result.resumable and any(r.revised for r in result.artefacts):
        err().print(plain("nothing was written: the review has not ended"))
    written, problems = write_revisions(result, plan, vault) if ending.write else ([], [])
    if written:
        err().print(plain(f"written: {', '.join(written)}"))
    if noted := record_decisions(result, plan, frozenset(written)):
        err().print(plain(f"the last word is noted in {noted}"))
    if problems:
        raise UsageError("; ".join(problems))
    return exit_code(result, plan, frozenset(written))
