"""The blue team's turn: a model or the rewriter patches, and the patch counts only if it passes the checks."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from moot.core.findings import where
from moot.core.room import Ask, Room
from moot.core.types import Absent, Code, SuiteRun, Unit, Value, Vulnerability
from moot.protocols.harden.attack_check import reason_to_reject, run_attacks
from moot.protocols.harden.patches import Patch, PatchVerdict, judge_patch, texts_for
from moot.protocols.harden.prompts import prompt
from moot.protocols.harden.race_baseline import BaselineRun, scan_patched_code
from moot.protocols.harden.turn_reports import AttackReport, Briefing, DefenseReport, Version
from moot.text.excerpts import name_some, show
from moot.text.render import fence_text, join_files, material
from moot.text.replies import Aliases, ExampleKeys, FencedBlocks, instructions


class BlueReply(Value):
    patches: Annotated[
        dict[str, str], ExampleKeys("VULN-001"), Aliases("patched_vulnerabilities", "fixes", "changes")
    ] = Field(description="what you changed for this finding")
    remaining_risks: Annotated[tuple[str, ...], Aliases("risks")] = Field(
        default=(), description="what is left and why"
    )
    confidence: Annotated[Unit | None, Aliases("confidence_in_defense")] = Field(
        default=None, description="from 0 to 1, how sure you are"
    )
    patched_code: Annotated[FencedBlocks, Aliases("code", "patched_file")] = Field(
        description="the complete repaired file"
    )


async def defend(
    version: Version,
    report: AttackReport,
    defenses: Sequence[DefenseReport],
    baseline: BaselineRun,
    room: Room,
    briefing: Briefing,
) -> tuple[DefenseReport, Version]:
    """A defence and the code after it: the patched code if the patch holds, else the code as it was."""
    said = await ask_blue(version.code, report, defenses, room, briefing)
    if isinstance(said, BlueReply):
        patch = Patch(
            texts=texts_for(said.patched_code, version.code),
            claims=claims(said, report),
            remaining=said.remaining_risks,
            confidence=said.confidence,
            blue="model",
            turn=room.turn_of(said),
        )
        return await try_patch(patch, version, report, baseline, room, attacked=briefing.edition > 1)
    if said is not None:
        room.degrade(f"round {report.round}: deterministic rewrites stand in for blue")
    return await apply_rewrites(version, report, baseline, room)


async def ask_blue(
    code: Code, report: AttackReport, defenses: Sequence[DefenseReport], room: Room, briefing: Briefing
) -> BlueReply | Absent | None:
    if not room.has_model("blue"):
        return None
    shown = show(material(code, room.allowance()), "blue", room).join("\n\n")
    text = prompt(
        "defend",
        round=str(report.round),
        code=shown,
        findings=list_findings(report.vulnerabilities),
        history=render_for_blue(defenses),
        form=instructions(BlueReply),
    )
    tools, context = briefing.tools, briefing.context(code)
    ask = Ask("blue", "defend", report.round, prompt("blue"), text, BlueReply, tools=tools, context=context)
    return await room.ask(ask)


def claims(said: BlueReply, report: AttackReport) -> dict[str, str]:
    """What Blue claims to have fixed, by existing ids; a patch without claims is taken to address everything."""
    known = {finding.id.casefold(): finding.id for finding in report.vulnerabilities}
    named = {known[i.casefold()]: text for i, text in said.patches.items() if i.casefold() in known}
    return named or {finding.id: "; ".join(said.patches.values()) for finding in report.vulnerabilities}


async def apply_rewrites(
    version: Version, report: AttackReport, baseline: BaselineRun, room: Room
) -> tuple[DefenseReport, Version]:
    """The deterministic blue team: all rewrites at once or, if those break a test, one by one."""
    wanted = [f.fingerprint for f in report.vulnerabilities if f.source == "scan"]
    defense, after = await rewrite_of(wanted, version, report, baseline, room)
    if defense.accepted or len(wanted) < 2 or not defense.rejected_because.startswith("a test"):
        return defense, after
    done: dict[str, str] = {}
    run = defense.tests
    for mark in wanted:
        one, version = await rewrite_of([mark], version, report, baseline, room)
        done |= one.patches if one.accepted else {}
        run = one.tests if one.accepted else run
    together = defense.model_copy(
        update={
            "patched_vulnerabilities": tuple(done),
            "patches": done,
            "patched_code": join_files(version.code) if done else "",
            "accepted": bool(done),
            "rejected_because": "" if done else defense.rejected_because,
            "tests": run,
        }
    )
    return together, version


async def rewrite_of(
    marks: Sequence[str], version: Version, report: AttackReport, baseline: BaselineRun, room: Room
) -> tuple[DefenseReport, Version]:
    repair = await room.repair(version.code, marks)
    ids = {finding.fingerprint: finding.id for finding in report.vulnerabilities}
    patch = Patch(
        texts=repair.texts,
        claims={ids[mark]: what for mark, what in repair.fixed.items()},
        remaining=tuple(f"{ids[mark]}: {what}" for mark, what in repair.left.items()),
        confidence=0.4,
        blue="scan",
    )
    if not repair.texts:
        return defense_report(patch, report, PatchVerdict(rejected="nothing here can be rewritten safely"), ""), version
    return await try_patch(patch, version, report, baseline, room)


async def try_patch(
    patch: Patch, version: Version, report: AttackReport, baseline: BaselineRun, room: Room, *, attacked: bool = False
) -> tuple[DefenseReport, Version]:
    """Check the patch: it parses, keeps the public names, passes the tests, findings and races are gone, and attacks
    that worked before no longer do."""
    code = version.code.with_texts(patch.texts)
    if code == version.code:
        verdict, after = PatchVerdict(rejected="it returns the code unchanged"), version
    else:
        after = await scan_patched_code(code, version, baseline, room)
        verdict = judge_patch(patch, version, after, report.vulnerabilities)
    run = None if verdict.rejected else await run_given_tests(code, baseline, room)
    if run and (broken := find_broken_tests(run, baseline)):
        verdict = PatchVerdict(rejected=f"a test that passed before fails now: {name_some(broken)}")
    check = None
    if attacked and not verdict.rejected:
        claimed = [finding for finding in report.vulnerabilities if finding.id in patch.claims]
        check = await run_attacks(version.code, code, claimed, room)
        verdict = PatchVerdict(rejected=why) if (why := reason_to_reject(check)) else verdict
    update = {"tests": run, "attacks": check}
    defense = defense_report(patch, report, verdict, join_files(code)).model_copy(update=update)
    if run and patch.turn is not None:
        metrics = {**count_tests(run), "accepted": defense.accepted, "rejected_because": defense.rejected_because}
        await room.note_run(patch.turn, metrics, share_passed(run))
    if not defense.accepted:
        room.tell(f"round {report.round}: patch rejected, {verdict.rejected}")
        return defense, version
    note = f"round {report.round}: {', '.join(defense.patched_vulnerabilities) or 'patch'}"
    await room.snapshot(code, note, count_tests(run), turn=patch.turn, rate=run or SuiteRun())
    return defense, after


def count_tests(run: SuiteRun | None) -> dict[str, JsonValue]:
    """For the record of a version or a turn; empty if nothing was run."""
    if run is None:
        return {}
    ran = [outcome for outcome in run.outcomes if outcome.status != "skipped"]
    failing = [outcome.name for outcome in ran if outcome.status != "passed"]
    return {
        "passed": len(ran) - len(failing),
        "of": len(ran),
        "failing": list[JsonValue](failing),
        "pass_rate": share_passed(run),
        "problem": run.problem,
    }


def share_passed(run: SuiteRun) -> float | None:
    ran = [outcome for outcome in run.outcomes if outcome.status != "skipped"]
    return sum(outcome.status == "passed" for outcome in ran) / len(ran) if ran else None


async def run_given_tests(code: Code, baseline: BaselineRun, room: Room) -> SuiteRun | None:
    """None if no test passed before: such tests are no evidence about a patch."""
    if not baseline.tests or not baseline.run or not baseline.run.passed_names:
        return None
    return await room.execute(code, baseline.tests)


def find_broken_tests(run: SuiteRun, baseline: BaselineRun) -> list[str]:
    """Tests that passed before the patch and no longer do; an inconclusive run has passed none. Tests judged in a
    separate process must stay so: a patch that passes only in process can have faked it."""
    if baseline.run is None:
        return []
    before = baseline.run
    return sorted((before.passed_names - run.passed_names) | (before.passed_apart - run.passed_apart))


def defense_report(patch: Patch, report: AttackReport, verdict: PatchVerdict, patched: str) -> DefenseReport:
    accepted = not verdict.rejected
    return DefenseReport(
        patched_vulnerabilities=verdict.gone,
        patches={i: patch.claims[i] for i in (*verdict.gone, *verdict.unproven)},
        remaining_risks=patch.remaining,
        confidence_in_defense=patch.confidence,
        patched_code=patched if accepted else "",
        round=report.round,
        accepted=accepted,
        rejected_because=verdict.rejected,
        blue=patch.blue,
    )


def render_for_blue(defenses: Sequence[DefenseReport]) -> str:
    lines = [f"- round {d.round}: {d.rejected_because}" for d in defenses if d.rejected_because]
    head = "These earlier patches of yours were rejected, so the code above is without them:\n\n"
    return head + fence_text("\n".join(lines), "text") + "\n\n" if lines else ""


def list_findings(findings: Sequence[Vulnerability]) -> str:
    """Findings as data for a prompt: Red's text cannot pass for instructions."""
    lines = []
    for f in findings:
        lines += [f"{f.id} ({f.severity}, {f.category}) at {where(f)}", f"  what: {f.description}"]
        lines += [f"  line: {f.evidence}"] + ([f"  exploit: {f.exploit}"] if f.exploit else [])
        lines += [f"  advice: {f.fix}"] if f.fix else []
    return fence_text("\n".join(lines), "text")
