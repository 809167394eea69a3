"""`ollama:qwen3:8b`: models run by Ollama."""

from urllib.parse import urlsplit

from moot.edge.models.hosted import Wire
from moot.edge.models.provider import HostedProvider, ModelOpening
from moot.edge.models.services import Service, is_http


class OllamaProvider(HostedProvider):
    name = "ollama"
    example = "ollama:qwen3:8b"
    free = True
    start = "start it with `ollama serve`"
    url = "http://localhost:11434/v1"
    url_variable = "OLLAMA_HOST"

    def connect(self, service: Service, opening: ModelOpening) -> Wire:
        from moot.edge.models.chat import ChatWire

        return ChatWire(service, opening)

    def read_url(self, text: str) -> str:
        """OLLAMA_HOST is also the server's listen address: it may lack scheme and port, and be 0.0.0.0."""
        bare = "://" not in text
        url = (f"http://{text}" if bare else text).rstrip("/").removesuffix("/v1")
        if not is_http(url):
            return text
        parts = urlsplit(url)
        port = parts.port or (11434 if bare else None)
        name = "127.0.0.1" if parts.hostname == "0.0.0.0" else parts.hostname
        name = f"[{name}]" if name and ":" in name else name
        return f"{parts.scheme}://{name}{f':{port}' if port else ''}{parts.path}/v1"


PROVIDER = OllamaProvider()
