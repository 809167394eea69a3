"""What is left to do after `moot vet`: remember the debate, show it as text, JSON or CSP/1 lines."""

from moot.core.types import Result
from moot.protocols.vet.report import report_vet
from moot.protocols.vet.script import VetResult
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import print_json, write_text
from moot.surfaces.vetting import exit_code, remembered
from moot.text.controls import clean
from moot.text.csp import Synthesis, write_synthesis
from moot.text.secrets import Vault


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Remember the debate, show it, and give the exit code."""
    assert isinstance(result, VetResult)
    return show(remembered(plan, result), ending)


def show(result: VetResult, ending: Ending) -> int:
    if ending.csp:
        write_text(f"{clean(write_synthesis(synthesis(result)))}\n")
    elif ending.json:
        print_json(result)
    else:
        show_report(report_vet(result))
    return exit_code(result)


def synthesis(result: VetResult) -> Synthesis:
    return Synthesis(
        result.resolution,
        result.rationale,
        result.modifications,
        result.next_approach,
        result.escalate_to,
        result.next_attempt_limit,
    )
