"""Adversarial: `harden` on the leading solution; what it mends enters only if it still passes what passed before."""

from moot.protocols.attempts import code_of
from moot.protocols.debated import Candidate
from moot.protocols.harden import HardenInput, HardenRules, harden
from moot.protocols.phases.examined import examined
from moot.protocols.phases.mending import drop
from moot.protocols.phases.optimize import best_first
from moot.protocols.phases.sitting import Sitting


async def adversarial(sitting: Sitting) -> str:
    """The seats `red` and `blue` are the team's red_team and blue_team; without them the deterministic teams do it."""
    table = sitting.table
    if not table.code or not table.latest():
        return "there is no code to attack"
    leader = best_first(table)[0]
    code = code_of(table.task, leader.code)
    rules = HardenRules(timeout=table.rules.timeout)
    result = await harden(HardenInput(code=code, tests=table.task.tests), rules, sitting.room)
    asked = {"red": len(result.attack_reports), "blue": len(result.defense_reports)}
    sitting.update(calls=table.calls + sum(times for seat, times in asked.items() if sitting.room.seated(seat)))
    text = result.final_files[table.given.path]
    found = len({f.fingerprint for report in result.attack_reports for f in report.vulnerabilities})
    if text == leader.code:
        return f"{result.outcome}: {found} findings, {leader.id} is unchanged"
    made = Candidate(
        id=table.next_id(),
        seat="blue",
        round=table.round,
        phase="adversarial",
        code=text,
        text=f"{leader.id}, hardened",
        parent=leader.id,
    )
    sitting.enter(made, "adversarial", made.text)
    await examined(sitting)
    now = sitting.table.candidate(made.id)
    if now.checked.rank < leader.checked.rank:
        drop(sitting, made.id, f"fails tests that {leader.id} passes")
        return f"{result.outcome}: {found} findings; the patch broke tests and is not used"
    for twin in [c for c in table.latest() if c.code == leader.code and c.id != leader.id]:
        drop(sitting, twin.id, f"the same code as {leader.id}, which {made.id} replaces")
    return f"{result.outcome}: {found} findings, {made.id} replaces {leader.id}"
