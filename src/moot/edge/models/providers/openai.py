"""`openai:gpt-5.4-mini`: OpenAI and compatible servers."""

from types import MappingProxyType

from moot.edge.models.hosted import Wire
from moot.edge.models.provider import HostedProvider, ModelOpening
from moot.edge.models.services import Service


class OpenAIProvider(HostedProvider):
    name = "openai"
    example = "openai:gpt-5.4-mini"
    default = "gpt-5.4-mini"
    profiles = MappingProxyType({"quality": "gpt-5.4", "balanced": "gpt-5.4-mini", "budget": "gpt-5.4-nano"})
    key_variables = ("OPENAI_API_KEY",)
    url = "https://api.openai.com/v1"
    url_variable = "OPENAI_BASE_URL"

    def connect(self, service: Service, opening: ModelOpening) -> Wire:
        from moot.edge.models.chat import ChatWire

        return ChatWire(service, opening)


PROVIDER = OpenAIProvider()
