"""A session as a document: everything that was asked, answered, run and kept, in order."""

import html
import json

from pydantic import JsonValue

from moot.ports import LogRow, SessionRecord, StepRow, TurnRow, VersionRow
from moot.render import fenced
from moot.types import Value


class Story(Value):
    session: SessionRecord
    steps: tuple[StepRow, ...]
    turns: tuple[TurnRow, ...]
    versions: tuple[VersionRow, ...]
    logs: tuple[LogRow, ...]


def as_json(story: Story) -> str:
    return json.dumps(story.model_dump(mode="json"), indent=2, ensure_ascii=False)


def as_markdown(story: Story) -> str:
    return "\n".join(_head(story) + [line for part in _parts(story) for line in ("", *part)] + _end(story))


def as_html(story: Story) -> str:
    """One file, no scripts; every word of a model or an artefact is escaped."""
    body = []
    for line in _head(story):
        body.append(f"<p>{html.escape(line.lstrip('# '))}</p>")
    for title, *rest in _parts(story):
        text = html.escape("\n".join(rest).strip())
        body.append(f"<section><h2>{html.escape(title.lstrip('# '))}</h2><pre>{text}</pre></section>")
    text = html.escape("\n".join(_end(story)).strip())
    body.append(f"<section><h2>Result</h2><pre>{text}</pre></section>")
    title = html.escape(f"{story.session.protocol}: {story.session.topic}")
    return PAGE.replace("{title}", title).replace("{body}", "\n".join(body))


def _head(story: Story) -> list[str]:
    s = story.session
    begun = s.created_at.strftime("%Y-%m-%d %H:%M:%S %Z")
    return [f"# {s.protocol}: {s.topic}", "", f"Session {s.id}, begun {begun}, status {s.status}."]


def _parts(story: Story) -> list[list[str]]:
    turns = {turn.seq: turn for turn in story.turns}
    versions = {version.seq: version for version in story.versions}
    parts = []
    for step in story.steps:
        if step.name.startswith("ask "):
            parts.append(_asked(step, turns.get(step.seq)))
        elif version := versions.get(step.seq):
            parts.append(_version(step, version))
        else:
            parts.append([f"## {step.seq}. {step.name}", "", fenced(_pretty(step.value), "json")])
    return parts


def _asked(step: StepRow, turn: TurnRow | None) -> list[str]:
    value = step.value if isinstance(step.value, dict) else {}
    call, exchange = _table(value.get("call")), _table(value.get("exchange"))
    again = ", asked again" if step.part > 1 else ""
    who = f"{call.get('seat')} ({turn.agent_id.partition('@')[2]})" if turn else str(call.get("seat"))
    lines = [f"## {step.seq}. Round {call.get('round')}, {call.get('phase')}: {who}{again}", "", "Asked:", ""]
    lines += [fenced(f"{call.get('system')}\n\n{call.get('prompt')}", "text"), ""]
    tries = exchange.get("tries")
    for attempt in tries if isinstance(tries, list) else []:
        if error := _table(attempt).get("error"):
            lines.append(f"Failed: {error}")
    reply = exchange.get("reply")
    if isinstance(reply, dict):
        lines += ["Answered:", "", fenced(str(reply.get("text")), "text")]
    if turn and isinstance(turn.metadata, dict) and "absent" in turn.metadata:
        lines += ["", f"No usable answer: {_table(turn.metadata['absent']).get('why')}"]
    return lines


def _version(step: StepRow, version: VersionRow) -> list[str]:
    note = _table(version.metrics).get("note", "")
    shown = fenced(version.diff, "diff") if version.diff else fenced(version.code, version.language)
    return [f"## {step.seq}. Version {version.number}: {note}", "", shown]


def _end(story: Story) -> list[str]:
    outcome = _table(story.session.outcome)
    result = _table(outcome.get("result"))
    if not result:
        return ["", "## Result", "", "The session has not ended."]
    kept = {
        key: value for key, value in result.items() if key not in ("attack_reports", "defense_reports", "final_files")
    }
    return ["", "## Result", "", fenced(_pretty(kept), "json")]


def _table(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _pretty(value: JsonValue) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; background: #f4f4f4; color: #111; padding: 1rem; border-radius: 4px; font-size: 13px; }
h2 { font-size: 1.1rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd; }
  pre { background: #1c1c1c; color: #ddd; }
}
</style>
</head>
<body>
{body}
</body>
</html>"""
