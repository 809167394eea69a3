"""What is left to do after `moot solve`: show the result, write the best attempt."""

from moot.core.types import Result
from moot.protocols.solve.exit_code import exit_code
from moot.protocols.solve.report import name_solution, report_solve
from moot.protocols.solve.script import SolveResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain, print_json
from moot.surfaces.written_results import why_withheld, write_out
from moot.text.secrets import Vault


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the best attempt where it was asked for."""
    assert isinstance(result, SolveResult)
    if ending.json:
        print_json(result)
    else:
        show_report(report_solve(result))
    if written := write_out(result.code, result, plan, vault):
        doubt = "" if exit_code(result) == 0 else f" ({name_solution(result)}: do not rely on it)"
        err().print(plain(f"written: {written}{doubt}"))
    elif plan.notes.get("out"):
        why = (why_withheld(result, plan) if result.resumable or result.code else "") or "there is no code"
        err().print(plain(f"nothing was written: {why}"))
    return exit_code(result)
