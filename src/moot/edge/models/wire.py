"""The wire of the model library: one request through pydantic-ai, its answer and its faults as plain values."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, cast

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelQuotaExceededError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import FinishReason, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.settings import ModelSettings

from moot.core.errors import UsageError
from moot.core.types import Finish, ModelCall, Usage
from moot.edge.models.faults import Faulted, RequestFault, find_message, one_line, retry_after
from moot.edge.models.features import Features, is_closed
from moot.edge.models.hosted import WireAnswer
from moot.edge.models.http import OversizedBody, make_client, make_older_client
from moot.edge.models.library import GATEWAY, LibraryProvider
from moot.edge.models.provider import ModelOpening
from moot.edge.models.services import NO_KEY, Service
from moot.edge.models.usage import TokenCount, count_usage

FINISHES: dict[FinishReason, Finish] = {"stop": "stop", "length": "length", "content_filter": "filter"}
ADDRESSES = ("base_url", "api_base", "azure_endpoint", "api_host")
"""What the providers of the library call the address of a server."""
KEYS = ("api_key", "token")
SDK_CLIENTS = {
    "openai_client": ("openai", "AsyncOpenAI", "http_client"),
    "cohere_client": ("cohere", "AsyncClientV2", "httpx_client"),
}
"""Where a provider takes no address, a client of its SDK does: module, class, and its name for our HTTP client."""
CREDENTIALS = ("botocore.", "google.auth.")
"""Packages that look for credentials with the first request, and raise errors of their own where there are none."""
Parameters = Mapping[str, inspect.Parameter]


class LibraryWire:
    def __init__(self, provider: LibraryProvider, service: Service, opening: ModelOpening) -> None:
        self._provider = provider
        self._service = service
        self._model_name = opening.model
        self._temperature = opening.temperature
        self._timeout = opening.timeout
        self._model, self._close = _open(provider, service, opening)

    async def send(self, call: ModelCall, features: Features) -> WireAnswer:
        """`Faulted` if there is no answer."""
        request = ModelRequest.user_text_prompt(call.prompt, instructions=call.system or None)
        with _faults():
            response = await model_request(
                self._model,
                [request],
                model_settings=self._settings(call, features),
                model_request_parameters=self._parameters(call, features),
            )
            return WireAnswer(_text(response), _finish(response), self._usage(call, response))

    async def aclose(self) -> None:
        closing = self._close()
        if inspect.isawaitable(closing):  # one SDK is not async
            await closing

    def uses_schema(self, call: ModelCall) -> bool:
        if call.json_schema is None or not self._model.profile.get("supports_json_schema_output", False):
            return False
        return not self._provider.closed_schemas or is_closed(call.json_schema)

    @property
    def uses_temperature(self) -> bool:
        """Models that reason take none, and the library warns when it drops one."""
        profile = self._model.profile
        reasons = profile.get("openai_supports_reasoning", False) and (
            profile.get("thinking_enabled_by_default", False)
            or not profile.get("openai_supports_reasoning_effort_none", False)
        )
        return self._temperature is not None and not (
            reasons or profile.get("anthropic_disallows_sampling_settings", False)
        )

    def _settings(self, call: ModelCall, features: Features) -> ModelSettings:
        settings = ModelSettings(max_retries=0, timeout=self._timeout)  # the room retries, not an SDK
        if limit := call.max_tokens or self._provider.max_tokens:
            settings["max_tokens"] = limit
        temperature = self._temperature if call.temperature is None else call.temperature
        if features.temperature and self.uses_temperature and temperature is not None:
            settings["temperature"] = temperature
        ignored = self._model.unsupported_settings  # the library would warn aloud
        return cast(ModelSettings, {name: value for name, value in settings.items() if name not in ignored})

    def _parameters(self, call: ModelCall, features: Features) -> ModelRequestParameters:
        if call.json_schema is None or not features.schema or not self.uses_schema(call):
            return ModelRequestParameters()
        definition = OutputObjectDefinition(json_schema=dict(call.json_schema), name="reply")
        return ModelRequestParameters(output_mode="native", output_object=definition, allow_text_output=False)

    def _usage(self, call: ModelCall, response: ModelResponse) -> Usage:
        counted = response.usage
        count = None
        if not counted.unmeasured_requests and (counted.input_tokens or counted.output_tokens):
            count = TokenCount(
                counted.input_tokens, counted.output_tokens, counted.cache_read_tokens, counted.cache_write_tokens
            )
        names = [name for name in (response.model_name, self._model_name) if name]
        return count_usage(call, _text(response), self._service, names, count)


def _open(provider: LibraryProvider, service: Service, opening: ModelOpening) -> tuple[Model, Callable[[], Any]]:
    """The model, and what closes its connections: of our HTTP client, where the library takes one."""
    name = f"{service.provider}:{opening.model}"
    try:
        if service.provider.startswith(GATEWAY):
            if opening.base_url or opening.key_variable:
                raise UserError("a gateway takes its address and key only from the environment")
            return infer_model(name), lambda: None
        kind = infer_provider_class(service.provider)
        takes = inspect.signature(kind.__init__).parameters
        http = _make_client(takes, opening.timeout)
        made = kind(**_arguments(service, takes, http))
        close = (lambda: made.client.close()) if http is None else http.aclose
        return infer_model(name, provider_factory=lambda _: made), close
    except UsageError:
        raise
    except Exception as error:  # each SDK has its own for a missing region, account or credential
        raise UsageError(one_line(f"model {opening.name!r}: {error}{provider.hint}")) from None


def _arguments(service: Service, takes: Parameters, http: Any) -> dict[str, Any]:
    """What the library's provider is made with: our HTTP client, and the address and key where they are known."""
    address = next((name for name in ADDRESSES if name in takes), None)
    client = next((name for name in SDK_CLIENTS if name in takes), None)
    if service.base_url and address is None and client is not None:
        module, kind, client_name = SDK_CLIENTS[client]
        make = getattr(import_module(module), kind)
        return {client: make(base_url=service.base_url, api_key=service.key, **{client_name: http})}
    given: dict[str, Any] = {} if http is None else {"http_client": http}
    if service.base_url:
        if address is None:
            raise UsageError(f"{service.provider} takes no base_url here; its library reads only the environment")
        given[address] = service.address if address == "api_host" else service.base_url
    if service.key != NO_KEY or service.base_url:  # never the usual key to another address
        key = next((name for name in KEYS if name in takes), None)
        if key is None:
            raise UsageError(f"{service.provider} takes no key here; its library reads only the environment")
        given[key] = service.key
    return given


def _make_client(takes: Parameters, timeout: float) -> Any:
    """A client that reads only so much, where the provider takes one; of the HTTP library that its SDK was made for."""
    parameter = takes.get("http_client")
    if parameter is None or "hf_client" in takes:  # Hugging Face's names it only to refuse it
        return None
    older = str(parameter.annotation).startswith(("httpx.", "AsyncClient"))
    return make_older_client(timeout) if older else make_client(timeout)


def _text(response: ModelResponse) -> str:
    details = response.provider_details or {}
    return response.text or str(details.get("refusal") or "")


def _finish(response: ModelResponse) -> Finish:
    details = response.provider_details or {}
    if "finish_reason" not in details and "refusal" not in details and response.provider_name != "xai":
        # The library takes a missing reason for a good end, except of xAI; we do not know.
        return "unknown"
    return FINISHES.get(response.finish_reason, "unknown") if response.finish_reason else "unknown"


@contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except ModelAPIError as error:
        raise Faulted(_fault(error)) from error
    except Exception as error:
        if type(error).__module__.startswith(CREDENTIALS):
            raise Faulted(RequestFault(detail=str(error))) from error
        # A body that is JSON but no completion breaks the libraries in ways of their own.
        oversized = _is_oversized(error)
        raise Faulted(RequestFault(oversized=oversized, garbled=not oversized)) from error


def _fault(error: ModelAPIError) -> RequestFault:
    status = _status(error)
    if status is None:
        early = isinstance(error, ModelConnectionError) and error.phase in ("connect", "pool")
        return RequestFault(
            detail=_connection_words(error),
            timed_out=isinstance(error, ModelTimeoutError) and not early,
            oversized=_is_oversized(error),
            garbled=not isinstance(error, ModelConnectionError),
        )
    return RequestFault(
        status=status,
        detail=find_message(error.body),
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
    return any(isinstance(cause, OversizedBody) for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__


def _connection_words(error: ModelAPIError) -> str:
    """The innermost informative cause: the SDKs' own text is only "Connection error."."""
    said = [str(cause) for cause in _causes(error) if str(cause)]
    return said[-1] if said else type(error).__name__
