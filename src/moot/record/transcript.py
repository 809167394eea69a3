"""A session as a document: its result, then everything asked, answered, run and kept, in order."""

import json
from collections.abc import Iterator

from pydantic import JsonValue

from moot.core.ci import Checks
from moot.core.experience import BANDS, TrackRecord
from moot.core.ports import LogRow, SessionRecord, StepRow, TurnRow, VersionRow
from moot.core.report import Block, Bullets, Headline, Listing, Paragraph, Report, ReportDocument, ReportSection
from moot.core.types import Passages, Probing, RaceRun, Repair, Scan, SuiteRun, Value
from moot.text.controls import clean_json

TITLES = {
    "scan": "The scan looks",
    "repair": "The rewriter works",
    "execute": "Tests are run",
    "attack": "Attacks are run",
    "race": "Tests are watched for races",
    "probe": "Examples are tried",
    "check": "CI hooks",
    "recall": "Lessons of earlier sessions",
    "remember": "An episode is kept",
    "episodes": "Earlier failures of the agents",
    "records": "Track records of the voters",
    "search": "Files are searched",
    "learn": "A lesson is learnt",
    "credit": "A lesson is judged",
    "offer": "Tools are offered",
}
SHOWN_BELOW = ("attack_reports", "defense_reports", "final_files", "final_code", "diff", "tests")


class Story(Value):
    session: SessionRecord
    steps: tuple[StepRow, ...]
    turns: tuple[TurnRow, ...]
    versions: tuple[VersionRow, ...]
    logs: tuple[LogRow, ...]


def as_json(story: Story) -> str:
    """The complete record, with terminal control characters escaped."""
    return clean_json(json.dumps(story.model_dump(mode="json"), indent=2, ensure_ascii=False))


def build_document(story: Story, report: Report | None) -> ReportDocument:
    """The result first, then the steps in order. `report` is None without a readable result."""
    s = story.session
    result = ReportSection(title="Result", blocks=report.blocks if report else _outcome(s))
    return ReportDocument(
        title=f"{s.protocol}: {s.topic}",
        lead=f"Session {s.id}, started {s.created_at:%Y-%m-%d %H:%M:%S %Z}, status {s.status}.",
        sections=(result, *_steps(story)),
    )


def _steps(story: Story) -> Iterator[ReportSection]:
    turns = {turn.seq: turn for turn in story.turns}
    versions = {version.seq: version for version in story.versions}
    for step in sorted(story.steps, key=lambda step: step.seq < 0):  # what a person did afterwards comes last
        if step.name.startswith("choose "):
            yield _render_choice(step)
        elif step.name.startswith("ask "):
            yield _render_exchange(step, turns.get(step.seq))
        elif step.name.startswith("act "):
            yield _render_act(step, turns.get(step.seq))
        elif version := versions.get(step.seq):
            yield _version(step, version)
        elif step.name == "tool" or step.name.startswith("tool "):
            yield _render_tool_use(step)
        else:
            yield ReportSection(title=f"{step.seq}. {TITLES.get(step.name, step.name)}", blocks=(_render_step(step),))


def _render_exchange(step: StepRow, turn: TurnRow | None) -> ReportSection:
    value = as_table(step.value)
    call, exchange = as_table(value.get("call")), as_table(value.get("exchange"))
    # Every tool call is a part between two replies; only a repeated question makes a reply an even part.
    again = "" if step.part == 1 else ", after a tool" if step.part % 2 else ", asked again"
    who = f"{call.get('seat')} ({turn.provider}:{turn.model})" if turn else str(call.get("seat"))
    blocks: list[Block] = [Listing(title="Asked", text=f"{call.get('system')}\n\n{call.get('prompt')}")]
    tries = exchange.get("tries")
    errors = [str(as_table(t)["error"]) for t in (tries if isinstance(tries, list) else []) if as_table(t).get("error")]
    if errors:
        blocks.append(Bullets(entries=tuple(f"failed: {error}" for error in errors)))
    if reply := as_table(exchange.get("reply")):
        blocks.append(Listing(title="Answered", text=str(reply.get("text"))))
    if turn and "absent" in as_table(turn.metadata):
        absent = as_table(as_table(turn.metadata)["absent"])
        blocks.append(Paragraph(text=f"No usable answer, {absent.get('why')}: {absent.get('detail')}"))
    title = f"{step.seq}. Round {call.get('round')}, {call.get('phase')}: {who}{again}"
    return ReportSection(title=title, blocks=tuple(blocks))


def _render_tool_use(step: StepRow) -> ReportSection:
    value = as_table(step.value)
    call, result = as_table(value.get("call")), as_table(value.get("result"))
    given = json.dumps(call.get("arguments"), ensure_ascii=False)
    blocks = (
        Listing(language="json", text=given),
        Listing(title=f"Result, {result.get('status')}", text=str(result.get("text"))),
    )
    return ReportSection(title=f"{step.seq}. Tool: {call.get('name')}", blocks=blocks)


def _render_act(step: StepRow, turn: TurnRow | None) -> ReportSection:
    """A turn without a model: what its tools said."""
    value = as_table(step.value)
    title = f"{step.seq}. Round {value.get('round')}, {value.get('phase')}: {value.get('seat')}, by tools"
    return ReportSection(title=title, blocks=(Listing(text=turn.content if turn else ""),))


def _render_choice(step: StepRow) -> ReportSection:
    made = as_table(step.value)
    said = f"Option {made.get('option')}, chosen by {made.get('by')} at {made.get('at')}: {made.get('reason')}"
    return ReportSection(title=f"The user's choice in {made.get('question_id')}", blocks=(Paragraph(text=said),))


def _version(step: StepRow, version: VersionRow) -> ReportSection:
    note = as_table(version.metrics).get("note", "")
    language, text = ("diff", version.diff) if version.diff else (version.language, version.code)
    blocks = (Listing(language=language, text=text),)
    return ReportSection(title=f"{step.seq}. Version {version.number}: {note}", blocks=blocks)


def describe_step(step: StepRow) -> tuple[str, ...]:
    lines = _render_step(step)
    return lines.entries if isinstance(lines, Bullets) else (lines.text,)


def _render_step(step: StepRow) -> Bullets | Listing:
    """A step in lines, one fact each; a step of unknown kind is shown as recorded."""
    match step.name:
        case "scan":
            scan = Scan.model_validate(step.value)
            found = [f"{f.severity} {f.file}:{f.line} [{f.rule}] {f.description}" for f in scan.findings]
            found += [f"hint {f.file}:{f.line} [{f.rule}] {f.description}" for f in scan.hints]
            found += [f"not analysed: {spot.file}:{spot.line}: {spot.why}" for spot in scan.not_analysed]
            return Bullets(entries=tuple(found) or ("nothing found",))
        case "repair":
            repair = Repair.model_validate(step.value)
            fixed = [f"rewritten: {what}" for what in repair.fixed.values()]
            return Bullets(entries=(*fixed, *(f"left: {what}" for what in repair.left.values())) or ("nothing to do",))
        case "execute" | "attack":
            run = SuiteRun.model_validate(step.value)
            lines = [f"{o.status} {o.name}" + (f": {o.detail.strip()}" if o.detail else "") for o in run.outcomes]
            return Bullets(entries=(*lines, *([run.problem] if run.problem else [])))
        case "probe":
            probing = Probing.model_validate(step.value)
            return Bullets(
                entries=(*(a.mark for a in probing.answers), *([probing.problem] if probing.problem else []))
            )
        case "check":
            made = Checks.model_validate(step.value)
            lines = [f"{made.point}: {each.action}: {each.status}: {each.summary}" for each in made.feedback]
            return Bullets(entries=(*lines, *(remark.text_line for each in made.feedback for remark in each.findings)))
        case "recall" | "learn" | "credit" | "records" | "episodes" | "search":
            return Bullets(entries=tuple(_list_known(step)) or ("none",))
        case "remember":
            episode = as_table(step.value)
            return Bullets(
                entries=tuple(str(episode.get(key)) for key in ("test_results", "reflection", "improvement"))
            )
        case "offer":
            named = [as_table(tool) for tool in _list(as_table(step.value).get("tools"))]
            return Bullets(
                entries=tuple(f"{t.get('name')}: {t.get('missing') or t.get('about')}" for t in named) or ("none",)
            )
        case "race":
            race = RaceRun.model_validate(step.value)
            return Bullets(entries=(*race.reports, *([race.problem] if race.problem else [])) or ("no race was seen",))
        case _:
            return Listing(language="json", text=json.dumps(step.value, indent=2, ensure_ascii=False))


def _list_known(step: StepRow) -> list[str]:
    """What was found in the store or in the task's files."""
    value = as_table(step.value)
    if step.name == "records":
        rows = [TrackRecord.model_validate(row) for row in _list(value.get("records"))]
        return [f"{r.model} as {r.role}, {r.domain}{_band(r)}: right {r.right} of {r.total} times" for r in rows]
    if step.name == "episodes":
        own = [as_table(episode) for agent in _list(value.get("episodes")) for episode in _list(agent)]
        return [f"{episode.get('agent')}: {episode.get('test_results')}" for episode in own]
    if step.name == "search":
        found = Passages.model_validate(value)
        return [*(f"{p.path}:{p.first}-{p.last}" for p in found.found), *([found.problem] if found.problem else [])]
    return [_lesson(as_table(lesson)) for lesson in _list(value.get("lessons"))]


def _lesson(lesson: dict[str, JsonValue]) -> str:
    return f"{lesson.get('id')}: {lesson.get('text')} (helped {lesson.get('helped')}, harmed {lesson.get('harmed')})"


def _reason_for_no_result(session: SessionRecord) -> str:
    if session.status == "failed":
        return f"a fault of Moot ended the session; `moot resume {session.id} --debug` tries again and shows where"
    if session.status == "paused":
        return f"the session has no result yet; `moot resume {session.id}` continues it"
    return "the session has no result yet"


def _outcome(session: SessionRecord) -> tuple[Block, ...]:
    """The recorded result, if no protocol here can report it."""
    outcome = as_table(session.outcome)
    result = as_table(outcome.get("result"))
    if not result:
        return (Headline(verdict=session.status, text=f"{session.status}: {_reason_for_no_result(session)}"),)
    verdict = str(outcome.get("outcome") or session.status)
    unread = f"{verdict}: the result as it was recorded; this version cannot report it"
    plain = [f"{key}: {as_text(value)}" for key, value in result.items() if key not in SHOWN_BELOW and _single(value)]
    blocks: list[Block] = [Headline(verdict=verdict, text=unread), Bullets(entries=tuple(plain))]
    for key, value in result.items():
        if isinstance(value, list) and value and key not in SHOWN_BELOW:
            blocks.append(Bullets(title=key.replace("_", " "), entries=tuple(map(as_text, value))))
    if diff := result.get("diff"):
        blocks.append(Listing(language="diff", text=str(diff)))
    return tuple(blocks)


def _single(value: JsonValue) -> bool:
    return value not in (None, "", [], {}) and not isinstance(value, list)


def as_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _band(record: TrackRecord) -> str:
    return "" if record.band is None else f", confidence {record.band / BANDS:.1f} to {(record.band + 1) / BANDS:.1f}"


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def as_table(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
