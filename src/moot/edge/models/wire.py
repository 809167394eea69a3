"""The wire: one request to a hosted model through pydantic-ai, its answer and its faults as plain values."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx2
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, ModelConnectionError, ModelQuotaExceededError, ModelTimeoutError
from pydantic_ai.messages import FinishReason, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from moot.core.types import Call, Finish, Usage
from moot.edge.models.faults import Fault, Faulted, retry_after
from moot.edge.models.features import Features, is_closed
from moot.edge.models.services import Service
from moot.edge.models.usage import estimate_tokens, price

MAX_BODY = 32 * 1024 * 1024
CONNECT_SECONDS = 15.0
DEFAULT_MAX_TOKENS = 16_000
FINISHES: dict[FinishReason, Finish] = {"stop": "stop", "length": "length", "content_filter": "filter"}


@dataclass(frozen=True)
class Answer:
    text: str
    finish: Finish
    usage: Usage


class TooLarge(Exception):
    pass


class CappedClient(httpx2.AsyncClient):
    """Reads at most `MAX_BODY` of a reply, counted after unpacking, and follows no redirect with our key."""

    async def send(self, request: httpx2.Request, **options: object) -> httpx2.Response:
        response = await super().send(request, stream=True, follow_redirects=False)
        try:
            body = await _read_capped(response)
        finally:
            await response.aclose()
        # The body is unpacked and whole now; what described its transport no longer holds.
        gone = ("content-encoding", "content-length", "transfer-encoding")
        headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in gone]
        return httpx2.Response(response.status_code, headers=headers, content=body, request=request)


class Wire:
    def __init__(self, service: Service, model: str, timeout: float, temperature: float | None) -> None:
        self._service = service
        self._model_name = model
        self._temperature = temperature
        self._http = CappedClient(timeout=httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout)))
        self._model = _open(service, model, self._http)

    async def send(self, call: Call, features: Features) -> Answer:
        """One request; `Faulted` when it has no answer."""
        request = ModelRequest.user_text_prompt(call.prompt, instructions=call.system or None)
        with _faults():
            response = await model_request(
                self._model,
                [request],
                model_settings=self._settings(call, features),
                model_request_parameters=self._parameters(call, features),
            )
            return Answer(_text(response), _finish(response), self._usage(call, response))

    async def aclose(self) -> None:
        await self._http.aclose()

    def uses_schema(self, call: Call) -> bool:
        if call.json_schema is None or not self._model.profile.get("supports_json_schema_output", False):
            return False
        # Anthropic allows no open-ended objects in a schema.
        return self._service.provider != "anthropic" or is_closed(call.json_schema)

    @property
    def uses_temperature(self) -> bool:
        """Models that reason take none, and the library warns aloud when it drops one."""
        profile = self._model.profile
        reasons = profile.get("openai_supports_reasoning", False) and (
            profile.get("thinking_enabled_by_default", False)
            or not profile.get("openai_supports_reasoning_effort_none", False)
        )
        return self._temperature is not None and not (
            reasons or profile.get("anthropic_disallows_sampling_settings", False)
        )

    def _settings(self, call: Call, features: Features) -> ModelSettings:
        settings = ModelSettings()
        # Anthropic must be given a limit; above its SDK's own, it would only answer in a stream.
        limit = call.max_tokens or (DEFAULT_MAX_TOKENS if self._service.provider == "anthropic" else None)
        if limit is not None:
            settings["max_tokens"] = limit
        temperature = self._temperature if call.temperature is None else call.temperature
        if features.temperature and self.uses_temperature and temperature is not None:
            settings["temperature"] = temperature
        return settings

    def _parameters(self, call: Call, features: Features) -> ModelRequestParameters:
        if call.json_schema is None or not features.schema or not self.uses_schema(call):
            return ModelRequestParameters()
        definition = OutputObjectDefinition(json_schema=dict(call.json_schema), name="reply")
        return ModelRequestParameters(output_mode="native", output_object=definition, allow_text_output=False)

    def _usage(self, call: Call, response: ModelResponse) -> Usage:
        """As the provider counted; where it did not, tokens are estimated and the price stays unknown."""
        counted = response.usage
        free = self._service.provider == "ollama"
        if counted.unmeasured_requests or not (counted.input_tokens or counted.output_tokens):
            tokens = estimate_tokens(call.system + call.prompt), estimate_tokens(_text(response))
            return Usage(input_tokens=tokens[0], output_tokens=tokens[1], usd=0.0 if free else None)
        usd: float | None = 0.0
        if not free:
            names = [name for name in (response.model_name, self._model_name) if name]
            usd = price(self._service.provider, names, counted) if self._service.own else None
        return Usage(input_tokens=counted.input_tokens, output_tokens=counted.output_tokens, usd=usd)


def _open(service: Service, model: str, http: httpx2.AsyncClient) -> Model:
    # Each import takes about half a second: only the provider that is used is loaded.
    if service.provider == "anthropic":
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AsyncAnthropic(
            api_key=service.key, base_url=service.base_url, http_client=http, max_retries=0, timeout=http.timeout
        )
        return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=anthropic))
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    openai = AsyncOpenAI(
        api_key=service.key, base_url=service.base_url, http_client=http, max_retries=0, timeout=http.timeout
    )
    # Compatible servers all know `max_tokens`; few know the newer name.
    profile = None if service.own else OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=openai), profile=profile)


def _text(response: ModelResponse) -> str:
    details = response.provider_details or {}
    return response.text or str(details.get("refusal") or "")


def _finish(response: ModelResponse) -> Finish:
    details = response.provider_details or {}
    if "finish_reason" not in details and "refusal" not in details:
        # The library takes a missing reason for a good end; we do not know.
        return "unknown"
    return FINISHES.get(response.finish_reason, "unknown") if response.finish_reason else "unknown"


async def _read_capped(response: httpx2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY:
            raise TooLarge
    return bytes(body)


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except ModelAPIError as error:
        raise Faulted(_fault(error)) from error
    except Exception as error:
        # A body that is JSON but no completion breaks the libraries in ways of their own.
        oversized = _is_oversized(error)
        raise Faulted(Fault(oversized=oversized, garbled=not oversized)) from error


def _fault(error: ModelAPIError) -> Fault:
    status = _status(error)
    if status is None:
        early = isinstance(error, ModelConnectionError) and error.phase in ("connect", "pool")
        return Fault(
            detail=_connection_words(error),
            timed_out=isinstance(error, ModelTimeoutError) and not early,
            oversized=_is_oversized(error),
            garbled=not isinstance(error, ModelConnectionError),
        )
    return Fault(
        status=status,
        detail=_server_words(error.body),
        code=error.provider_error_code or "",
        retry_after=retry_after(getattr(error, "headers", None) or {}, datetime.now(UTC)),
        quota=isinstance(error, ModelQuotaExceededError),
    )


def _status(error: ModelAPIError) -> int | None:
    for each in _causes(error):
        status = getattr(each, "status_code", None)
        if isinstance(status, int) and status >= 300:
            return status
    return None


def _is_oversized(error: BaseException) -> bool:
    return any(isinstance(cause, TooLarge) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _connection_words(error: ModelAPIError) -> str:
    """The innermost cause that says something: the SDKs' own text is only "Connection error."."""
    said = [str(cause) for cause in _causes(error) if str(cause)]
    return said[-1] if said else type(error).__name__


def _server_words(body: object) -> str:
    """The sentence inside an error body, wherever this server puts it."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        body = next((body[name] for name in ("error", "message", "detail") if body.get(name)), str(body))
    return str(body or "")
