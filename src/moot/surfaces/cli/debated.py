"""What is left to do after `moot debate`: show the result, write the winner."""

from moot.core.types import Result
from moot.protocols.debate.exit_code import exit_code
from moot.protocols.debate.report import report_debate
from moot.protocols.debate.types import DebateResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain, print_json
from moot.surfaces.written_results import why_withheld, write_out
from moot.text.secrets import Vault


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the winner where it was asked for."""
    assert isinstance(result, DebateResult)
    if ending.json:
        print_json(result)
    else:
        show_report(report_debate(result))
    if written := write_out(result.code or result.text, result, plan, vault):
        doubt = "" if exit_code(result) == 0 else f" ({result.outcome}: do not rely on it)"
        err().print(plain(f"written: {written}{doubt}"))
    elif plan.notes.get("out"):
        why = (
            why_withheld(result, plan) if result.resumable or result.code or result.text else ""
        ) or "there is no winner"
        err().print(plain(f"nothing was written: {why}"))
    return exit_code(result)
