"""Chat completions: the one request that OpenAI and every compatible server take.

Our own instead of the OpenAI SDK, which is 16 MB and half a second of import for this one POST; so the plain install
can ask a model. Everything else that is hosted goes through the model library (`wire.py`).
"""

import json
import re
from datetime import UTC, datetime
from typing import cast

import httpx2

from moot.core.types import Finish, ModelCall
from moot.edge.models.faults import Faulted, RequestFault, find_message, retry_after
from moot.edge.models.features import Features, is_strict
from moot.edge.models.hosted import WireAnswer
from moot.edge.models.http import OversizedBody, make_client
from moot.edge.models.provider import ModelOpening
from moot.edge.models.services import NO_KEY, Service
from moot.edge.models.usage import TokenCount, count_usage

REASONS = re.compile(r"(?:.*/)?(?:o\d|gpt-5(?:-|$)(?!chat))")
"""Models that always reason, and so take no temperature."""
QUOTA = ("insufficient_quota", "billing_hard_limit_reached")
FINISHES: dict[object, Finish] = {"stop": "stop", "length": "length", "content_filter": "filter"}
THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
"""A self-hosted model's thoughts, which few servers remove."""


class ChatWire:
    def __init__(self, service: Service, opening: ModelOpening) -> None:
        self._service = service
        self._model = opening.model
        self._temperature = opening.temperature
        self._http = make_client(opening.timeout)
        self._url = f"{service.base_url}/chat/completions"
        self._headers = {} if service.key == NO_KEY else {"authorization": f"Bearer {service.key}"}

    @property
    def uses_temperature(self) -> bool:
        return self._temperature is not None and REASONS.match(self._model) is None

    def uses_schema(self, call: ModelCall) -> bool:
        return call.json_schema is not None

    async def send(self, call: ModelCall, features: Features) -> WireAnswer:
        """`Faulted` if there is no answer."""
        try:
            response = await self._http.post(self._url, json=self._body(call, features), headers=self._headers)
        except OversizedBody as error:
            raise Faulted(RequestFault(oversized=True)) from error
        except httpx2.TimeoutException as error:
            early = isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout)
            raise Faulted(RequestFault(detail=str(error) or "timed out", timed_out=not early)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise Faulted(RequestFault(detail=str(error) or type(error).__name__)) from error
        if response.status_code >= 300:
            raise Faulted(_read_fault(response))
        return self._read_answer(call, response)

    async def aclose(self) -> None:
        await self._http.aclose()

    def _body(self, call: ModelCall, features: Features) -> dict[str, object]:
        system = [{"role": "system", "content": call.system}] if call.system else []
        body: dict[str, object] = {
            "model": self._model,
            "messages": [*system, {"role": "user", "content": call.prompt}],
            "stream": False,
        }
        if call.max_tokens is not None:
            # Compatible servers all know `max_tokens`; few know the newer name.
            body["max_completion_tokens" if self._service.own else "max_tokens"] = call.max_tokens
        temperature = self._temperature if call.temperature is None else call.temperature
        if features.temperature and self.uses_temperature and temperature is not None:
            body["temperature"] = temperature
        if features.schema and call.json_schema is not None:
            schema: dict[str, object] = {"name": "reply", "schema": call.json_schema}
            if is_strict(call.json_schema):
                schema["strict"] = True
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _read_answer(self, call: ModelCall, response: httpx2.Response) -> WireAnswer:
        body = _read_json(response)
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise Faulted(RequestFault(garbled=True))
        refusal = message.get("refusal")
        text = _read_text(message.get("content")) or str(refusal or "")
        finish = "filter" if refusal else FINISHES.get(choice.get("finish_reason"), "unknown")
        names = [name for name in (body.get("model"), self._model) if isinstance(name, str) and name]
        usage = count_usage(call, text, self._service, names, _read_count(body.get("usage")))
        return WireAnswer(text, finish, usage)


def _read_json(response: httpx2.Response) -> dict[str, object]:
    try:
        body = json.loads(response.content)
    except ValueError as error:
        raise Faulted(RequestFault(garbled=True)) from error
    if not isinstance(body, dict):
        raise Faulted(RequestFault(garbled=True))
    return body


def _read_text(content: object) -> str:
    """The text of a message: a string, or a list of parts."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    return (
        THOUGHT.sub("", content).lstrip() if isinstance(content, str) and "<think>" in content else str(content or "")
    )


def _read_count(usage: object) -> TokenCount | None:
    """As the server counted; None if it did not."""
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    if not all(isinstance(count, int) and count >= 0 for count in counts) or not any(counts):
        return None
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    asked, said = cast(list[int], counts)
    return TokenCount(asked, said, cached if isinstance(cached, int) and 0 <= cached <= asked else 0)


def _read_fault(response: httpx2.Response) -> RequestFault:
    try:
        body = json.loads(response.content)
    except ValueError:
        body = response.text
    error = body.get("error") if isinstance(body, dict) else None
    code = str(error.get("code") or error.get("type") or "") if isinstance(error, dict) else ""
    return RequestFault(
        status=response.status_code,
        detail=find_message(body),
        code=code,
        retry_after=retry_after(response.headers, datetime.now(UTC)),
        quota=code in QUOTA,
    )
