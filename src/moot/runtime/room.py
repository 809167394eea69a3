"""The room at run time: every effect recorded once, within budget and deadline, with secrets masked."""

from collections.abc import Callable, Mapping, Sequence

from moot.core.gates import GateRules
from moot.core.ports import Model
from moot.core.types import Limits
from moot.runtime.approvals import Approvals
from moot.runtime.effects import Effects
from moot.runtime.experience import Experience
from moot.runtime.journal import Journal, Steps
from moot.runtime.model_calls import Ledger
from moot.runtime.ports import SessionPorts
from moot.runtime.turns import SeatTurns, read_recorded_usage
from moot.runtime.version_commits import VersionHistory

NO_GATES = GateRules()


class LiveRoom:
    """Wires the collaborators of one session together. Each method of the room belongs to one of them."""

    def __init__(  # noqa: PLR0913 - everything but the first three is by name
        self,
        ports: SessionPorts,
        cast: Mapping[str, Sequence[Model]],
        journal: Journal,
        *,
        limits: Limits,
        timeout: float,
        gates: GateRules = NO_GATES,
        begin: Callable[[], None] | None = None,
    ) -> None:
        """`begin` is called before anything new is done, in place of the deadline check; a replay refuses there."""
        self.journal = journal
        self.ledger = Ledger(limits, read_recorded_usage(journal.past))
        self._limits = limits
        self._steps = steps = Steps(ports, journal, timeout, begin)
        self._turns = turns = SeatTurns(ports, cast, limits, steps, self.ledger)
        self._versions = versions = VersionHistory(ports, steps)
        effects = Effects(ports, limits, steps)
        approvals = Approvals(ports, steps, gates)
        experience = Experience(ports, steps, turns.latest)

        # Bound, not wrapped: a wrapper for each method would only repeat the contract in `core.room`.
        self.ask, self.ask_all, self.has_model = turns.ask, turns.ask_all, turns.seated
        self.turn_of, self.note_run, self.use_tools = turns.turn_of, turns.note_run, turns.use_tools
        self.latency = turns.latency
        self.scan, self.repair = effects.scan, effects.repair
        self.execute, self.execute_all = effects.execute, effects.execute_all
        self.attack, self.cover, self.race = effects.attack, effects.cover, effects.race
        self.probe, self.probe_all = effects.probe, effects.probe_all
        self.measure, self.check, self.search = effects.measure, effects.check, effects.search
        self.snapshot, self.close = versions.snapshot, versions.close
        self.recall, self.remember = experience.recall, experience.remember
        self.learn, self.credit = experience.learn, experience.credit
        self.read_episodes, self.read_records = experience.read_episodes, experience.read_records
        self.gate, self.inquire = approvals.gate, approvals.inquire
        self.degrade, self.tell, self.within = steps.degrade, steps.tell, steps.within
        self.stop, self.can_be_cut = steps.stop, steps.can_be_cut

    def allowance(self) -> int:
        return self._limits.prompt_tokens

    @property
    def degraded(self) -> tuple[str, ...]:
        return self._steps.degraded

    @property
    def failed_at(self) -> int | None:
        """The first step at which a provider failed; a resumed session retries from there."""
        return self._turns.failed_at

    @property
    def branch(self) -> str:
        return self._versions.branch
