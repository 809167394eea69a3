"""How a decision is shown to a person, printed as JSON or YAML, and left in the judges' files."""

from collections import Counter
from collections.abc import Sequence

import yaml
from pydantic import JsonValue
from rich.console import Console
from rich.table import Table

from moot.core.types import Result
from moot.protocols.decide.cases import TO_GET_ONE
from moot.protocols.decide.questions import Classification
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import Verdict
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, out, plain, print_json, spent_lines, weakness, write_text
from moot.surfaces.deciding import as_data, exit_code, folders_in, seed_form
from moot.surfaces.judge_files import write_judge_files
from moot.text.controls import clean
from moot.text.secrets import Vault


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the judges' files where a folder was named."""
    assert isinstance(result, DecideResult)
    if ending.json:
        print_json(as_data(result))
    elif ending.yaml:
        write_text(as_yaml(result))
    else:
        show_result(result)
    written, removed = write_judge_files(result, folders_in(plan))
    if written:
        err().print(plain(f"written: {', '.join(written)}"))
    if removed:
        err().print(plain(f"removed, of an earlier run: {', '.join(removed)}"))
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


def show_result(result: DecideResult) -> None:
    console = out()
    console.print(plain(headline(result)))
    for verdict in result.questions:
        console.print()
        show_verdict(verdict, result.session_id, console)
    _section(console, "Weaker than asked for", result.degraded)
    console.print()
    for line in spent_lines(result):
        console.print(plain(line))
    console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def headline(result: DecideResult) -> str:
    """The first line: the outcome, and on what it rests."""
    weak = weakness(result.degraded)
    calls = f"{result.calls} calls, {result.calls_full_run} questions in a full run" if result.calls else "no calls"
    calls = "no call was answered" if result.calls_failed and not result.calls else calls
    cut = f"; {result.stop_reason.replace('_', ' ')}, cut short" if result.stop_reason != "decided" else ""
    if len(result.questions) == 1:
        return f"{result.outcome}: {_says(result.questions[0])} ({calls}){cut}{weak}"
    counts = Counter(verdict.outcome for verdict in result.questions)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{result.outcome}: {len(result.questions)} questions, {told} ({calls}){cut}{weak}"


def _says(verdict: Verdict) -> str:
    label = {option.id: option.label for option in verdict.options}
    judges = len({position.judge for position in verdict.positions})
    match verdict.outcome:
        case "RECOMMENDED":
            option = verdict.recommended_option or ""
            for_it = len(verdict.distribution[option])
            how = f"{verdict.agreement.lower()}, {for_it} of {judges} judges, round {verdict.rounds}"
            return f"option {option}, {label[option]}; {how}"
        case "CONTESTED":
            chosen = (
                f"; {verdict.choice.by} chose {verdict.choice.option}" if verdict.choice else "; it is yours to choose"
            )
            return f"the judges disagree after {verdict.rounds} rounds{chosen}"
        case "INSUFFICIENT_DATA":
            return f"{judges} judges gave a recommendation, too few to agree or disagree"
        case "NO_PANEL":
            said = f"; one adviser recommends {verdict.recommended_option}" if verdict.recommended_option else ""
            return f"classed {verdict.classification.classification}, no panel was asked; {TO_GET_ONE}{said}"


def show_verdict(verdict: Verdict, session_id: str, console: Console) -> None:
    console.print(plain(f"{verdict.question_id}: {verdict.question_text}"))
    console.print(plain(f"{verdict.outcome}: {_says(verdict)}"))
    console.print(plain(f"class {class_line(verdict.classification)}"))
    if verdict.perspectives:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in ("judge", "says"):
            table.add_column(column)
        for judge, said in verdict.perspectives.items():
            table.add_row(judge, plain(" ".join(said.split())))
        console.print()
        console.print(table)
    changed = [f"{c.judge}: {c.before} -> {c.after}: {c.reason}" for c in verdict.change_log]
    _section(console, "Changed their minds", changed)
    _section(console, "Dissent", [f"{d.judge}: option {d.option} - {d.reasons}" for d in verdict.dissent])
    _section(console, "Notes", verdict.notes)
    if verdict.choice:
        made = verdict.choice
        _section(console, "Chosen", [f"option {made.option} by {made.by}, {made.at}: {made.reason}"])
    elif verdict.user_prompt:
        console.print()
        console.print(plain(verdict.user_prompt))
        console.print(plain(f"later: moot choose {session_id[:8]} {verdict.question_id} OPTION --reason WHY"))


def class_line(kind: Classification) -> str:
    words = ", ".join(match.word for match in kind.matched) or "no word of any list"
    return f"{kind.classification} ({kind.confidence}: {words})"


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print()
        console.print(title, style="bold")
        for line in lines:
            console.print(plain(f"  {clean(' '.join(line.split()))}"))
