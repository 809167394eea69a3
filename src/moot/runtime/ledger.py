"""What a session may spend and what it has spent; asked before every call."""

from moot.core.errors import Cut
from moot.core.types import Call, Limits, Spend, Usage
from moot.text.render import estimated_tokens


class Ledger:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.spends: dict[str, Spend] = {}
        self.failed = 0
        """Calls that came to nothing."""
        self._promised_calls = 0
        self._promised_tokens = 0

    @property
    def calls(self) -> int:
        return sum(spend.calls for spend in self.spends.values())

    @property
    def tokens(self) -> int:
        return sum(spend.input_tokens + spend.output_tokens for spend in self.spends.values())

    @property
    def usd(self) -> float:
        return sum(spend.usd or 0.0 for spend in self.spends.values())

    def reserve(self, call: Call) -> int:
        """Room for one more call, or `Cut`. Calls under way count, so parallel seats cannot overspend together."""
        limits, tokens = self.limits, estimated_tokens(call.system) + estimated_tokens(call.prompt)
        if limits.max_calls is not None and self.calls + self._promised_calls >= limits.max_calls:
            raise Cut("budget_exhausted", f"all {limits.max_calls} calls are spent (--max-calls)")
        if limits.max_tokens is not None and self.tokens + self._promised_tokens + tokens > limits.max_tokens:
            raise Cut("budget_exhausted", f"{self.tokens} of {limits.max_tokens} tokens are spent (--max-tokens)")
        if limits.max_usd is not None and self.usd >= limits.max_usd:
            raise Cut("budget_exhausted", f"${self.usd:.4f} of ${limits.max_usd:.4f} is spent (--max-usd)")
        self._promised_calls += 1
        self._promised_tokens += tokens
        return tokens

    def release(self, tokens: int) -> None:
        self._promised_calls -= 1
        self._promised_tokens -= tokens

    def add(self, model: str, usage: Usage) -> None:
        old = self.spends.get(model, Spend())
        known = old.usd is not None and usage.usd is not None
        self.spends[model] = Spend(
            calls=old.calls + 1,
            input_tokens=old.input_tokens + usage.input_tokens,
            output_tokens=old.output_tokens + usage.output_tokens,
            usd=round((old.usd or 0.0) + (usage.usd or 0.0), 8) if known else None,
        )
