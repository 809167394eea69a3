"""A session as a document: everything that was asked, answered, run and kept, in order."""

import html
import json
from dataclasses import dataclass

from pydantic import JsonValue

from moot.core.ci import Checks
from moot.core.ports import LogRow, SessionRecord, StepRow, TurnRow, VersionRow
from moot.core.types import Probing, RaceRun, Repair, Scan, SuiteRun, Value
from moot.text.controls import clean, clean_json
from moot.text.render import fenced

TITLES = {
    "scan": "The scan looks",
    "repair": "The rewriter works",
    "execute": "Tests are run",
    "race": "Tests are watched for races",
    "probe": "Examples are tried",
    "check": "CI hooks",
    "recall": "Lessons of earlier sessions",
    "remember": "An episode is kept",
    "learn": "A lesson is learnt",
    "credit": "A lesson is judged",
    "offer": "Tools are offered",
}
SHOWN_ABOVE = ("attack_reports", "defense_reports", "final_files", "final_code", "diff", "tests")


class Story(Value):
    session: SessionRecord
    steps: tuple[StepRow, ...]
    turns: tuple[TurnRow, ...]
    versions: tuple[VersionRow, ...]
    logs: tuple[LogRow, ...]


@dataclass(frozen=True)
class Words:
    text: str


@dataclass(frozen=True)
class Items:
    entries: tuple[str, ...]


@dataclass(frozen=True)
class Quote:
    """Text as it was: code, a prompt, a reply, a diff."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Part:
    title: str
    blocks: tuple[Words | Items | Quote, ...]


def as_json(story: Story) -> str:
    """Every character of the record, those that a terminal would obey written out."""
    return clean_json(json.dumps(story.model_dump(mode="json"), indent=2, ensure_ascii=False))


def as_markdown(story: Story) -> str:
    """For people to look at, on a terminal too: what that would obey is not in it."""
    lines = [f"# {heading(story)}", "", subheading(story)]
    for part in parts(story):
        lines += ["", f"## {part.title}"]
        for block in part.blocks:
            lines += ["", *_markdown(block)]
    return clean("\n".join(lines))


def as_html(story: Story) -> str:
    """One file, no scripts; every word of a model or an artefact is escaped."""
    body = [f"<h1>{html.escape(heading(story))}</h1>", f"<p>{html.escape(subheading(story))}</p>"]
    for part in parts(story):
        inside = "\n".join(_html(block) for block in part.blocks)
        body.append(f"<section>\n<h2>{html.escape(part.title)}</h2>\n{inside}\n</section>")
    return clean(PAGE.replace("{title}", html.escape(heading(story))).replace("{body}", "\n".join(body)))


def heading(story: Story) -> str:
    return f"{story.session.protocol}: {story.session.topic}"


def subheading(story: Story) -> str:
    s = story.session
    return f"Session {s.id}, begun {s.created_at:%Y-%m-%d %H:%M:%S %Z}, status {s.status}."


def parts(story: Story) -> list[Part]:
    turns = {turn.seq: turn for turn in story.turns}
    versions = {version.seq: version for version in story.versions}
    told = []
    for step in sorted(story.steps, key=lambda step: step.seq < 0):  # what a person did afterwards comes last
        if step.name.startswith("choose "):
            told.append(_chosen(step))
        elif step.name.startswith("ask "):
            told.append(_asked(step, turns.get(step.seq)))
        elif version := versions.get(step.seq):
            told.append(_version(step, version))
        elif step.name == "tool" or step.name.startswith("tool "):
            told.append(_used(step))
        else:
            told.append(Part(f"{step.seq}. {TITLES.get(step.name, step.name)}", (_done(step),)))
    return [*told, _end(story)]


def _asked(step: StepRow, turn: TurnRow | None) -> Part:
    value = _table(step.value)
    call, exchange = _table(value.get("call")), _table(value.get("exchange"))
    # Every use of a tool is a part between two replies; only a second asking makes a reply an even part.
    again = "" if step.part == 1 else ", after a tool" if step.part % 2 else ", asked again"
    who = f"{call.get('seat')} ({turn.agent_id.partition('@')[2]})" if turn else str(call.get("seat"))
    blocks: list[Words | Items | Quote] = [Words("Asked:"), Quote(f"{call.get('system')}\n\n{call.get('prompt')}")]
    tries = exchange.get("tries")
    errors = [str(_table(t)["error"]) for t in (tries if isinstance(tries, list) else []) if _table(t).get("error")]
    if errors:
        blocks.append(Items(tuple(f"failed: {error}" for error in errors)))
    if reply := _table(exchange.get("reply")):
        blocks += [Words("Answered:"), Quote(str(reply.get("text")))]
    if turn and "absent" in _table(turn.metadata):
        absent = _table(_table(turn.metadata)["absent"])
        blocks.append(Words(f"No usable answer, {absent.get('why')}: {absent.get('detail')}"))
    return Part(f"{step.seq}. Round {call.get('round')}, {call.get('phase')}: {who}{again}", tuple(blocks))


def _used(step: StepRow) -> Part:
    value = _table(step.value)
    call, result = _table(value.get("call")), _table(value.get("result"))
    given = json.dumps(call.get("arguments"), ensure_ascii=False)
    blocks = (Quote(given, "json"), Words(f"Result, {result.get('status')}:"), Quote(str(result.get("text"))))
    return Part(f"{step.seq}. Tool: {call.get('name')}", blocks)


def _chosen(step: StepRow) -> Part:
    made = _table(step.value)
    said = f"Option {made.get('option')}, chosen by {made.get('by')} at {made.get('at')}: {made.get('reason')}"
    return Part(f"The user's choice in {made.get('question_id')}", (Words(said),))


def _version(step: StepRow, version: VersionRow) -> Part:
    note = _table(version.metrics).get("note", "")
    shown = Quote(version.diff, "diff") if version.diff else Quote(version.code, version.language)
    return Part(f"{step.seq}. Version {version.number}: {note}", (shown,))


def done(step: StepRow) -> tuple[str, ...]:
    """What a step did, in lines."""
    told = _done(step)
    return told.entries if isinstance(told, Items) else (told.text,)


def _done(step: StepRow) -> Items | Quote:
    """What a step did, a line a thing; a step of a kind unknown here is shown as it was recorded."""
    match step.name:
        case "scan":
            scan = Scan.model_validate(step.value)
            found = [f"{f.severity} {f.file}:{f.line} [{f.rule}] {f.description}" for f in scan.findings]
            found += [f"hint {f.file}:{f.line} [{f.rule}] {f.description}" for f in scan.hints]
            found += [f"not analysed: {spot.file}:{spot.line}: {spot.why}" for spot in scan.not_analysed]
            return Items(tuple(found) or ("nothing found",))
        case "repair":
            repair = Repair.model_validate(step.value)
            fixed = [f"rewritten: {what}" for what in repair.fixed.values()]
            return Items((*fixed, *(f"left: {what}" for what in repair.left.values())) or ("nothing to do",))
        case "execute":
            run = SuiteRun.model_validate(step.value)
            told = [f"{o.status} {o.name}" + (f": {o.detail.strip()}" if o.detail else "") for o in run.outcomes]
            return Items((*told, *([run.problem] if run.problem else [])))
        case "probe":
            probing = Probing.model_validate(step.value)
            return Items((*(a.mark for a in probing.answers), *([probing.problem] if probing.problem else [])))
        case "check":
            made = Checks.model_validate(step.value)
            told = [f"{made.point}: {each.action}: {each.status}: {each.summary}" for each in made.feedback]
            return Items((*told, *(remark.told for each in made.feedback for remark in each.findings)))
        case "recall" | "learn" | "credit":
            lessons = _table(step.value).get("lessons")
            told = [_lesson(_table(lesson)) for lesson in (lessons if isinstance(lessons, list) else [])]
            return Items(tuple(told) or ("none",))
        case "remember":
            episode = _table(step.value)
            return Items(tuple(str(episode.get(key)) for key in ("test_results", "reflection", "improvement")))
        case "offer":
            tools = _table(step.value).get("tools")
            named = [_table(tool) for tool in (tools if isinstance(tools, list) else [])]
            return Items(tuple(f"{t.get('name')}: {t.get('missing') or t.get('about')}" for t in named) or ("none",))
        case "race":
            race = RaceRun.model_validate(step.value)
            return Items((*race.reports, *([race.problem] if race.problem else [])) or ("no race was seen",))
        case _:
            return Quote(json.dumps(step.value, indent=2, ensure_ascii=False), "json")


def _lesson(lesson: dict[str, JsonValue]) -> str:
    return f"{lesson.get('id')}: {lesson.get('text')} (helped {lesson.get('helped')}, harmed {lesson.get('harmed')})"


def _end(story: Story) -> Part:
    result = _table(_table(story.session.outcome).get("result"))
    if not result:
        return Part("Result", (Words("The session has not ended."),))
    plain = [f"{key}: {_short(value)}" for key, value in result.items() if key not in SHOWN_ABOVE and _single(value)]
    blocks: list[Words | Items | Quote] = [Items(tuple(plain))]
    for key, value in result.items():
        if isinstance(value, list) and value and key not in SHOWN_ABOVE:
            blocks += [Words(f"{key.replace('_', ' ')}:"), Items(tuple(_entry(entry) for entry in value))]
    if diff := result.get("diff"):
        blocks.append(Quote(str(diff), "diff"))
    return Part("Result", tuple(blocks))


def _entry(value: JsonValue) -> str:
    """One entry of a list in a line; of a decided question, what it came to: the rest is told above."""
    entry = _table(value)
    if "question_id" not in entry:
        return _short(value)
    spread = "; ".join(f"{option}: {_short(judges)}" for option, judges in _table(entry.get("distribution")).items())
    chosen = f", option {entry['recommended_option']}" if entry.get("recommended_option") else ""
    return f"{entry['question_id']}: {entry.get('outcome')}{chosen}, confidence {entry.get('confidence')} ({spread})"


def _single(value: JsonValue) -> bool:
    return value not in (None, "", [], {}) and not isinstance(value, list)


def _short(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _table(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _markdown(block: Words | Items | Quote) -> list[str]:
    match block:
        case Words(text):
            return [text]
        case Items(entries):
            return [f"- {entry}" for entry in entries]
        case Quote(text, kind):
            return [fenced(text, kind)]


def _html(block: Words | Items | Quote) -> str:
    match block:
        case Words(text):
            return f"<p>{html.escape(text)}</p>"
        case Items(entries):
            return "<ul>" + "".join(f"<li>{html.escape(entry)}</li>" for entry in entries) + "</ul>"
        case Quote(text, "diff"):
            return f"<pre>{''.join(_diff_line(line) for line in text.splitlines())}</pre>"
        case Quote(text, _):
            return f"<pre>{html.escape(text)}</pre>"


def _diff_line(line: str) -> str:
    kind = {"+": "add", "-": "del", "@": "at"}.get(line[:1], "")
    text = html.escape(line) + "\n"
    return f'<span class="{kind}">{text}</span>' if kind else text


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; }
h1, h2, p, li { overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
pre { overflow-x: auto; background: #f4f4f4; color: #111; padding: 1rem; border-radius: 4px; font-size: 13px; }
.add { color: #05691c; } .del { color: #a3120f; } .at { color: #5a5a5a; }
@media (prefers-color-scheme: dark) {
  body { background: #111; color: #ddd; }
  pre { background: #1c1c1c; color: #ddd; }
  .add { color: #7ad18b; } .del { color: #ff8a80; } .at { color: #aaa; }
}
</style>
</head>
<body>
{body}
</body>
</html>"""
