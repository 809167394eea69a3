"""What is left to do after `moot decide`: show the result or print it as YAML, write the judges' files."""

import yaml
from pydantic import JsonValue

from moot.core.types import Result
from moot.protocols.decide.exit_code import exit_code
from moot.protocols.decide.report import report_decide
from moot.protocols.decide.script import DecideResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.report_terminal import show_report
from moot.surfaces.cli.screen import err, plain, print_json, write_text
from moot.surfaces.extensions.decide import as_data, folders_in, seed_form
from moot.surfaces.judge_files import write_judge_files
from moot.text.secrets import Vault


def finish(result: Result, plan: SessionPlan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the judges' files where a folder was named."""
    assert isinstance(result, DecideResult)
    if ending.json:
        print_json(as_data(result))
    elif ending.yaml:
        write_text(as_yaml(result))
    else:
        show_report(report_decide(result))
    written, removed = write_judge_files(result, folders_in(plan))
    if written:
        err().print(plain(f"written: {', '.join(written)}"))
    if removed:
        err().print(plain(f"removed files of an earlier run: {', '.join(removed)}"))
    return exit_code(result)


def as_yaml(result: DecideResult) -> str:
    """`debate_result` for one question, `debate_results` for several."""
    forms: list[JsonValue] = [seed_form(verdict) for verdict in result.questions]
    data: dict[str, JsonValue] = {"debate_result": forms[0]} if len(forms) == 1 else {"debate_results": forms}
    data["session_id"], data["degraded"] = result.session_id, [*result.degraded]
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, so that they can be read."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)
