"""Providers of the model library (pydantic-ai): each works by its name once its extra is installed.

The table only helps: it says which extra and which key a provider needs. A name of a newer library works without it.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.ports import Model
from moot.edge.models.hosted import Wire
from moot.edge.models.provider import HostedProvider, ModelOpening
from moot.edge.models.services import Service

LIBRARY = "pydantic_ai"
MODULES = {
    "anthropic": "anthropic",
    "bedrock": "boto3",
    "cohere": "cohere",
    "google": "google.genai",
    "groq": "groq",
    "huggingface": "huggingface_hub",
    "mistral": "mistralai",
    "openai-sdk": "openai",
    "openrouter": "openai",
    "xai": "xai_sdk",
}
"""Extra -> the module it installs."""
GATEWAY = "gateway/"
GATEWAY_KEYS = ("PYDANTIC_AI_GATEWAY_API_KEY", "PAIG_API_KEY")


class LibraryProvider(HostedProvider):
    closed_schemas: bool = False
    """Whether a schema with open-ended objects is refused."""
    max_tokens: int | None = None
    """The limit for calls without one."""

    def __init__(
        self, name: str, extra: str = "", keys: tuple[str, ...] = (), *, default: str = "", hint: str = ""
    ) -> None:
        self.name = name
        self.hint = hint  # where its client cannot be made and its SDK does not say what to do
        self.extra = extra
        self.key_variables = keys
        self.default = default
        self.example = f"{name}:{default or 'MODEL'}"
        # A provider that is not in the table may do anything: only a person may name it, no client and no project.
        self.hosted = bool(extra)

    def open(self, opening: ModelOpening) -> Model:
        self.check_installed()
        return super().open(opening)

    def describe(self, env: Mapping[str, str]) -> str:
        self.check_installed()
        return super().describe(env)

    def check_installed(self) -> None:
        """`UsageError` with the command to type if a package is missing."""
        if is_installed(LIBRARY) and (not self.extra or is_installed(MODULES[self.extra])):
            return
        raise UsageError(f"{self.name} is not installed: pip install 'moot[{self.extra or 'all'}]'")

    def connect(self, service: Service, opening: ModelOpening) -> Wire:
        from moot.edge.models.wire import LibraryWire

        return LibraryWire(self, service, opening)


def _sdk(name: str, *keys: str) -> LibraryProvider:
    return LibraryProvider(name, "openai-sdk", keys)


TABLE: dict[str, LibraryProvider] = {
    provider.name: provider
    for provider in (
        LibraryProvider("bedrock", "bedrock", hint=" Set AWS_DEFAULT_REGION."),
        LibraryProvider("cohere", "cohere", ("CO_API_KEY",), default="command-r-plus-08-2024"),
        LibraryProvider("google", "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), default="gemini-flash-latest"),
        LibraryProvider("google-cloud", "google"),
        LibraryProvider("groq", "groq", ("GROQ_API_KEY",), default="openai/gpt-oss-120b"),
        LibraryProvider("huggingface", "huggingface", ("HF_TOKEN",)),
        LibraryProvider("mistral", "mistral", ("MISTRAL_API_KEY",), default="mistral-large-latest"),
        LibraryProvider("openrouter", "openrouter", ("OPENROUTER_API_KEY",), default="openrouter/auto"),
        LibraryProvider("xai", "xai", ("XAI_API_KEY",), default="grok-4.7"),
        _sdk("alibaba", "ALIBABA_API_KEY", "DASHSCOPE_API_KEY"),
        _sdk("azure", "AZURE_OPENAI_API_KEY"),
        _sdk("azure-responses", "AZURE_OPENAI_API_KEY"),
        _sdk("cerebras", "CEREBRAS_API_KEY"),
        _sdk("crusoe", "CRUSOE_API_KEY"),
        _sdk("deepseek", "DEEPSEEK_API_KEY"),
        _sdk("fireworks", "FIREWORKS_API_KEY"),
        _sdk("heroku", "HEROKU_INFERENCE_KEY"),
        _sdk("litellm"),
        _sdk("meta", "META_API_KEY"),
        _sdk("moonshotai", "MOONSHOTAI_API_KEY"),
        _sdk("nebius", "NEBIUS_API_KEY"),
        _sdk("openai-chat", "OPENAI_API_KEY"),
        _sdk("openai-responses", "OPENAI_API_KEY"),
        _sdk("ovhcloud", "OVHCLOUD_API_KEY"),
        _sdk("sambanova", "SAMBANOVA_API_KEY"),
        _sdk("snowflake", "SNOWFLAKE_TOKEN"),
        _sdk("together", "TOGETHER_API_KEY"),
        _sdk("vercel", "VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
        _sdk("vllm"),
        _sdk("zai", "ZAI_API_KEY"),
    )
}


def find_library_provider(name: str) -> LibraryProvider | None:
    """By its name in the installed library, without importing it."""
    if name in TABLE:
        return TABLE[name]
    if name.startswith(GATEWAY):
        return LibraryProvider(name, "", GATEWAY_KEYS) if is_installed(LIBRARY) else None
    found = find_spec(LIBRARY)
    if found is None or not found.submodule_search_locations or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        return None
    file = Path(found.submodule_search_locations[0]) / "providers" / f"{name.replace('-', '_')}.py"
    return LibraryProvider(name) if file.is_file() else None


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package is missing
        return False
