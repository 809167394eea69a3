"""What is left to do after `moot vet`: remember the debate, show it as text, JSON or CSP/1 lines."""

from moot.protocols.vet.exit_code import exit_code
from moot.protocols.vet.report import report_vet
from moot.protocols.vet.script import VetResult
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import print_json, write_text
from moot.text.controls import clean
from moot.text.csp import Synthesis, write_synthesis


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
