"""Adversarial: runs `harden` on the leading solution; a patch enters only if it passes what passed before."""

from moot.core.errors import SessionStopped
from moot.core.findings import by_gravity, locate
from moot.core.types import Code, Vulnerability
from moot.protocols.debate.context import DebateContext, note_attack
from moot.protocols.debate.phases.converge import winner_of
from moot.protocols.debate.phases.optimize import best_first
from moot.protocols.debate.phases.repair import drop
from moot.protocols.debate.phases.run_candidates import run_candidates
from moot.protocols.debate.state import DebateState, list_acting, notes, render_task
from moot.protocols.debate.types import Candidate
from moot.protocols.harden.attack import number_findings
from moot.protocols.harden.script import HardenInput, HardenResult, HardenRules, attack_and_patch, list_open_findings
from moot.protocols.solve.attempts import code_of


async def adversarial(context: DebateContext) -> str:
    """The seats `red` and `blue` are the team's red_team and blue_team; without them the deterministic teams play."""
    state = context.state
    if not state.code or not state.latest():
        return "there is no code to attack"
    leader = best_first(state)[0]
    code = code_of(state.task, leader.code)
    given = HardenInput(code=code, tests=state.task.tests, task=describe_task(state))
    result = await attack_and_patch(given, rules_of(state), context.room)
    asked = {"red": len(result.attack_reports), "blue": len(result.defense_reports)}
    context.update(calls=state.calls + sum(times for seat, times in asked.items() if context.room.has_model(seat)))
    text = result.final_files[state.given.path]
    found = len({f.fingerprint for report in result.attack_reports for f in report.vulnerabilities})
    left = list_open_findings(result.attack_reports, result.defense_reports)
    note_attack(context, leader, left if text == leader.code else collect_findings(code, result))
    if text == leader.code:
        return f"{name_outcome(result)}: {found} findings, {len(left)} left, {leader.id} is unchanged"
    made = await enter_patched(context, leader, text)
    if context.state.candidate(made.id).checked.rank < leader.checked.rank:
        drop(context, made.id, f"fails tests that {leader.id} passes")
        return f"{name_outcome(result)}: {found} findings; the patch broke tests and is not used"
    note_attack(context, made, left)
    for twin in [c for c in state.latest() if c.code == leader.code and c.id != leader.id]:
        drop(context, twin.id, f"the same code as {leader.id}, which {made.id} replaces")
    return f"{name_outcome(result)}: {found} findings, {len(left)} left, {made.id} replaces {leader.id}"


def describe_task(state: DebateState) -> str:
    """With the plan and the planner's emphasis: red reads no other prompt of the debate."""
    extra = notes(state).strip() if state.rules.edition > 1 else ""
    return "\n\n".join(filter(None, (render_task(state), extra)))


def name_outcome(result: HardenResult) -> str:
    """The outcome. A scan recorded before scans counted their rules replays with the word of that time."""
    older = result.outcome == "no_findings" and not result.attack_reports[-1].rules
    return "hardened" if older else result.outcome


async def enter_patched(context: DebateContext, leader: Candidate, text: str) -> Candidate:
    """Run the patched code as a candidate. No version is kept here: `harden` has kept its own."""
    state = context.state
    made = Candidate(
        id=state.next_id(),
        seat="blue",
        round=state.round,
        phase="adversarial",
        code=text,
        text=f"{leader.id}, hardened",
        parent=leader.id,
    )
    context.enter(made, "adversarial", made.text)
    context.update(kept="")
    try:
        await run_candidates(context)
    except SessionStopped:
        drop(context, made.id, f"cut short before it was run: {leader.id} stands")
        raise
    return made


def rules_of(state: DebateState) -> HardenRules:
    return state.given.harden.model_copy(update={"timeout": state.rules.timeout})


def collect_findings(code: Code, result: HardenResult) -> list[Vulnerability]:
    """Attack findings that apply to the original code, even if a later attack first saw them."""
    first, *later = result.attack_reports
    more = [f for report in later for f in report.vulnerabilities if f.line and locate(code, f.evidence, f.file)]
    return list({f.id: f for f in (*first.vulnerabilities, *more)}.values())


async def scan_winner(context: DebateContext) -> None:
    """If an attack was requested, or security is in the team, and the winner had none: scan it, and say so."""
    state, winner = context.state, winner_of(context.state)
    security = list_acting(state, "security")
    wanted = state.rules.includes_phase("adversarial") or bool(security)
    if winner is None or not state.code or not wanted or state.attack_on(winner):
        return
    scan = await context.room.scan(code_of(state.task, winner.code))
    note_attack(context, winner, number_findings(by_gravity(scan.findings), ()), "scan")
    for member in security:
        context.note_act(member, "convergence", f"{winner.id} scanned, {len(scan.findings)} findings")
    if not state.rules.includes_phase("adversarial"):
        return
    others = ", ".join(dict.fromkeys(attack.candidate for attack in state.attacks)) or "nobody"
    context.room.degrade(f"{winner.id} was not attacked, only scanned: the adversarial phase attacked {others}")
