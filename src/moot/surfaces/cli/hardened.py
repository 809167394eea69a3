"""What is left to do after `moot harden`: show the result, write files and SARIF."""

import json

from moot.core.types import Result
from moot.edge.files.outputs import write_output
from moot.protocols.harden.exit_code import exit_code
from moot.protocols.harden.report import report_harden, track_findings
from moot.protocols.harden.script import HardenResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain, print_json
from moot.surfaces.extensions.harden import write_result
from moot.text.sarif import sarif
from moot.text.secrets import Vault


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write what was asked to be written."""
    assert isinstance(result, HardenResult)
    if ending.json:
        print_json(result)
    else:
        show_report(report_harden(result))
    if ending.sarif:
        _write_sarif(result, ending)
    if ending.write and result.diff:
        written = write_result(result, plan, vault)
        err().print(
            plain(
                f"written: {', '.join(written)}" if written else "nothing to write: the code did not come from a file"
            )
        )
    elif vault.count and result.diff and not ending.write:
        err().print(plain(f"{vault.count} secrets are masked in what is shown; --write keeps them as they are"))
    return exit_code(result)


def _write_sarif(result: HardenResult, ending: Ending) -> None:
    """Before `--write` the files hold every finding; after it, only what is left."""
    entries = [f for f in track_findings(result) if f.state == "open" or not ending.write]
    seen = [f.latest if ending.write else f.finding for f in entries]
    report = sarif(seen, frozenset(f.finding.id for f in entries if f.state == "patched"))
    write_output(ending.sarif or "", f"{json.dumps(report, indent=2)}\n".encode(), force=ending.force)
