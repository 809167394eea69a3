"""One question to a chain of models: timeouts, retries with backoff, fallback to the next model, and cost.

Our own instead of a retry library: every attempt is recorded, counts against the budget, and is replayed.
"""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import TracebackType

from moot.core.errors import FailureKind, ModelError, SessionStopped
from moot.core.ports import Clock, Model
from moot.core.types import Limits, ModelCall, Reply, Spend, Usage, Value
from moot.text.excerpts import CHARACTERS_PER_TOKEN

LONGEST_WAIT = 60.0
"""A longer `Retry-After` counts as a failure."""
LASTING: frozenset[FailureKind] = frozenset({"unavailable", "timeout", "auth", "not_found"})
"""Failures that would only repeat: the model counts as down for the rest of the run."""
DOWN = "not asked again: it failed earlier in this session"

OVER = "the time for this phase is over"


class CallAttempt(Value):
    model: str
    error: str = ""
    kind: FailureKind | None = None
    put: bool = True
    """False if the model was not asked."""


class Exchange(Value):
    """A question and its outcome: the unit that is recorded, paid for once, and replayed."""

    tries: tuple[CallAttempt, ...] = ()
    reply: Reply | None = None
    milliseconds: int = 0

    @property
    def model(self) -> str:
        """The model asked last: the one that answered, if any did."""
        return self.tries[-1].model if self.tries else ""

    @property
    def failure(self) -> str:
        return "; ".join(dict.fromkeys(t.error for t in self.tries)) if self.reply is None else ""


@lru_cache(64)
def build_success(model: str) -> CallAttempt:
    return CallAttempt(model=model)


def failures_in(tries: Sequence[CallAttempt]) -> int:
    return len([attempt for attempt in tries if attempt.put and attempt.error])


@dataclass(slots=True)
class GrowingSpend:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0


class Ledger:
    """The session's budget and spending; checked before every call."""

    def __init__(self, limits: Limits, recorded: Mapping[tuple[int, int], Usage] | None = None) -> None:
        self.limits = limits
        self._is_limited = (limits.max_calls, limits.max_tokens, limits.max_usd) != (None, None, None)
        self._ahead = dict(recorded or {})
        """By step and part: what recorded replies cost that a resumed session has not reached again. Seats asked in
        parallel reach theirs in any order, so each counts from the start."""
        self._sums: dict[str, GrowingSpend] = {}
        self.failed = 0
        self._promised_calls = 0
        self._promised_tokens = 0

    @property
    def spends(self) -> dict[str, Spend]:
        """By model."""
        return {model: Spend(**asdict(its_sum)) for model, its_sum in self._sums.items()}

    @property
    def calls(self) -> int:
        return sum(its_sum.calls for its_sum in self._sums.values())

    @property
    def tokens(self) -> int:
        return sum(its_sum.input_tokens + its_sum.output_tokens for its_sum in self._sums.values())

    @property
    def usd(self) -> float:
        return sum(its_sum.usd or 0.0 for its_sum in self._sums.values())

    def reserve(self, call: ModelCall) -> int:
        """Reserve budget for one more call, or raise `SessionStopped`. Calls in progress count, so parallel seats
        cannot overspend."""
        tokens = int(len(call.system) / CHARACTERS_PER_TOKEN) + int(len(call.prompt) / CHARACTERS_PER_TOKEN) + 2
        if self._is_limited:
            self._check_budget(tokens)
        self._promised_calls += 1
        self._promised_tokens += tokens
        return tokens

    def _check_budget(self, tokens: int) -> None:
        limits, ahead = self.limits, self._ahead.values()
        calls = self.calls + self._promised_calls + len(ahead)
        spent = self.tokens + self._promised_tokens + sum(usage.input_tokens + usage.output_tokens for usage in ahead)
        if limits.max_calls is not None and calls >= limits.max_calls:
            raise SessionStopped("budget_exhausted", f"all {limits.max_calls} calls are spent (--max-calls)")
        if limits.max_tokens is not None and spent + tokens > limits.max_tokens:
            raise SessionStopped(
                "budget_exhausted", f"{self.tokens} of {limits.max_tokens} tokens are spent (--max-tokens)"
            )
        if limits.max_usd is not None and self.usd + sum(usage.usd or 0.0 for usage in ahead) >= limits.max_usd:
            raise SessionStopped("budget_exhausted", f"${self.usd:.4f} of ${limits.max_usd:.4f} is spent (--max-usd)")

    def release(self, tokens: int) -> None:
        self._promised_calls -= 1
        self._promised_tokens -= tokens

    def reach(self, place: tuple[int, int]) -> None:
        """The recorded reply of this step and part is replayed: from now on it counts among `spends`."""
        self._ahead.pop(place, None)

    def add(self, model: str, usage: Usage) -> None:
        its_sum = self._sums.setdefault(model, GrowingSpend())
        its_sum.calls += 1
        its_sum.input_tokens += usage.input_tokens
        its_sum.output_tokens += usage.output_tokens
        known = its_sum.usd is not None and usage.usd is not None
        its_sum.usd = round((its_sum.usd or 0.0) + (usage.usd or 0.0), 8) if known else None


class Caller:
    def __init__(
        self,
        limits: Limits,
        ledger: Ledger,
        clock: Clock,
        remaining: Callable[[], float],
        left: Callable[[], float] = lambda: math.inf,
    ) -> None:
        self._limits = limits
        self._ledger = ledger
        self._clock = clock
        self._remaining = remaining
        self._left = left
        """Seconds left for this part of the session; `remaining` are those of the whole session."""
        self._deadlines = Deadlines()
        self._down: dict[tuple[str, str], CallAttempt] = {}
        """By model and seat; the seat is empty if the failure affects every seat."""
        self._answered: set[str] = set()

    async def put(
        self, call: ModelCall, chain: Sequence[Model], retried: Callable[[CallAttempt, float], None]
    ) -> Exchange:
        """Ask the models of the chain in turn; returns the first reply, or the failures if there is none."""
        began = self._clock.monotonic()
        tries: list[CallAttempt] = []
        for model in chain:
            reply = await self._patiently(call, model, tries, retried)
            if reply is not None:
                self._ledger.add(model.name, reply.usage)
                self._ledger.failed += failures_in(tries)
                self._answered.add(model.name)
                milliseconds = round((self._clock.monotonic() - began) * 1000)
                return Exchange(tries=tuple(tries), reply=reply, milliseconds=milliseconds)
            if tries[-1].kind == "limit":
                break
        self._ledger.failed += failures_in(tries)
        return Exchange(tries=tuple(tries), milliseconds=round((self._clock.monotonic() - began) * 1000))

    def replay(self, call: ModelCall, chain: Sequence[Model], exchange: Exchange) -> None:
        """Restore the models and the ledger to their state after this exchange."""
        models = {model.name: model for model in chain}
        self._ledger.failed += failures_in(exchange.tries)
        for attempt in {attempt.model: attempt for attempt in exchange.tries}.values():
            self._remember(attempt, call.seat)  # the last of each model: what was tried again is no outage
        for attempt in exchange.tries:
            if attempt.model in models and attempt.put:
                models[attempt.model].skip(call)
        if exchange.reply is not None:
            self._ledger.add(exchange.tries[-1].model, exchange.reply.usage)
            self._answered.add(exchange.tries[-1].model)

    async def _patiently(
        self, call: ModelCall, model: Model, tries: list[CallAttempt], retried: Callable[[CallAttempt, float], None]
    ) -> Reply | None:
        down = self._down.get((model.name, "")) or self._down.get((model.name, call.seat))
        if down is not None and not (down.kind == "timeout" and model.name in self._answered):
            # One slow answer of a model that has answered others is not an outage, whichever came first.
            tries.append(CallAttempt(model=model.name, error=DOWN, kind=down.kind, put=False))
            return None
        for attempt in range(self._limits.retries + 1):
            if self._left() <= 0:
                tries.append(CallAttempt(model=model.name, error=OVER, kind="limit", put=False))
                return None
            try:
                reply = await self._once(call, model)
            except ModelError as error:
                failed = CallAttempt(model=model.name, error=str(error), kind=error.kind)
                tries.append(failed)
                wait = error.retry_after if error.retry_after is not None else min(0.5 * 2**attempt, 30.0)
                if not error.retryable or attempt == self._limits.retries or wait > LONGEST_WAIT:
                    self._remember(failed, call.seat)
                    return None
                retried(failed, wait)
                if wait >= self._left():
                    tries.append(CallAttempt(model=model.name, error=OVER, kind="limit", put=False))
                    return None
                if wait >= self._remaining():
                    raise SessionStopped(
                        "timed_out", f"{model.name} asks to wait {wait:.0f} s, longer than is left"
                    ) from None
                await self._clock.sleep(wait)
            else:
                tries.append(build_success(model.name))
                return reply
        return None

    async def _once(self, call: ModelCall, model: Model) -> Reply:
        remaining = self._remaining()
        if remaining <= 0:
            raise SessionStopped("timed_out", "the time for the session is over (--timeout)")
        promised, left = self._ledger.reserve(call), self._left()
        try:
            if model.turn is nullcontext:  # nothing to wait for before the call: one timer does for both
                return await self._in_time(call, model, min(remaining, left))
            with self._deadlines.within(min(remaining, left)):
                async with model.turn():
                    return await self._in_time(call, model, math.inf)
        except TimeoutError:
            if left < remaining:
                raise ModelError(f"{model.name} gave no answer in time: {OVER}", kind="limit") from None
            raise SessionStopped(
                "timed_out", f"the time for the session ended while {model.name} was asked (--timeout)"
            ) from None
        finally:
            self._ledger.release(promised)

    async def _in_time(self, call: ModelCall, model: Model, at_most: float) -> Reply:
        """`TimeoutError` after `at_most` seconds, `ModelError` if the time for a call ends earlier."""
        own = self._limits.call_timeout
        try:
            with self._deadlines.within(min(own, at_most)):
                return await model.reply(call)
        except TimeoutError:
            if at_most <= own:
                raise
            raise ModelError(f"{model.name} gave no answer within {own:g} s (call_timeout)", kind="timeout") from None

    def _remember(self, attempt: CallAttempt, seat: str) -> None:
        """A timeout of one seat's question says nothing about other seats."""
        if attempt.kind in LASTING:
            self._down.setdefault((attempt.model, seat if attempt.kind == "timeout" else ""), attempt)


class Deadlines:
    """One timer for all calls of a session that wait: one for each would cost as much as the rest of a call."""

    def __init__(self) -> None:
        self._open = set[TimeLimit]()
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float) -> "TimeLimit":
        """`asyncio.timeout(seconds)`, as a plain `with`."""
        return TimeLimit(self, seconds)

    def watch(self, limit: "TimeLimit") -> None:
        self._open.add(limit)
        if self._timer is None or limit.until < self._timer.when():
            self._wake_at(limit.until)

    def forget(self, limit: "TimeLimit") -> None:
        """The timer stays: the next call is rarely due before it, and it finds nothing to do if there is none."""
        self._open.discard(limit)

    def _wake_at(self, until: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(until, self._end_overdue, until)

    def _end_overdue(self, now: float) -> None:
        self._timer = None
        for limit in [each for each in self._open if each.until <= now]:
            self._open.discard(limit)
            limit.end()
        if self._open:
            self._wake_at(min(limit.until for limit in self._open))


class TimeLimit:
    __slots__ = ("_before", "_deadlines", "_is_over", "_seconds", "_task", "until")
    _task: "asyncio.Task[object]"

    def __init__(self, deadlines: Deadlines, seconds: float) -> None:
        self._deadlines = deadlines
        self._seconds = seconds
        self._is_over = False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a time limit needs a task that it can end")
        self._task, self._before = task, task.cancelling()
        self.until = asyncio.get_running_loop().time() + self._seconds
        self._deadlines.watch(self)

    def end(self) -> None:
        self._is_over = True
        self._task.cancel()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deadlines.forget(self)
        # A cancellation by somebody else at the same time is passed on.
        if self._is_over and self._task.uncancel() <= self._before and kind is asyncio.CancelledError:
            raise TimeoutError from error
