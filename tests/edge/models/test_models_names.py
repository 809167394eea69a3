import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from asking import KEY
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import UsageError
from moot.edge.models import ModelOpening, find_problem, find_provider, knows_price, list_status, open_model, parse_name
from moot.edge.models.services import Service


def find_service(provider: str, env: dict[str, str]) -> Service:
    service = find_provider(provider).find_server(ModelOpening(f"{provider}:x", "x", env, 1.0))
    assert service is not None
    return service


HEAVY = ("pydantic_ai", "openai", "anthropic", "genai_prices", "httpx", "httpx2", "xllamacpp", "yaml")


def test_importing_the_models_loads_no_heavy_library() -> None:
    script = f"import sys, moot.edge.models as m; print([n for n in {HEAVY!r} if n in sys.modules])"
    opened = "; m.open_model('openai:gpt-4o', env={'OPENAI_API_KEY': 'k'}, timeout=1); m.list_status({})"
    for code in (script, script.replace("; print", f"{opened}; print")):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"


def test_a_name_is_split_at_its_first_colon() -> None:
    name = parse_name("ollama:qwen3:8b")
    assert (name.provider.name, name.model, str(name)) == ("ollama", "qwen3:8b", "ollama:qwen3:8b")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt-4o", ["'gpt-4o'", "provider:model", "openai:", "cmd:"]),
        ("opnai:gpt-4o", ["'opnai'", "did you mean 'openai'?"]),
        ("Anthropic:x", ["did you mean 'anthropic'?"]),
        ("zzz:x", ["'zzz'", "anthropic, cmd, local, ollama, openai, recorded, script, simulated"]),
        ("openai:", ["after the colon", "openai:gpt"]),
        ("openai:gpt-4o", ["OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        ("anthropic:claude-sonnet-4-6", ["ANTHROPIC_API_KEY"]),
        ("cmd:no-such-command-here -p", ["'no-such-command-here'", "PATH"]),
        ("cmd:echo 'x", ["quotes"]),
        ("cmd:''", ["names no command"]),
        ("script:/no/such/file.yaml", ["/no/such/file.yaml", "No such file"]),
        ("local:/no/such/file.gguf", ["/no/such/file.gguf", "No such file"]),
    ],
)
def test_a_model_that_cannot_be_opened_says_what_to_do(name: str, said: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        open_model(name, env={"PATH": os.environ["PATH"]}, timeout=1.0)
    for words in said:
        assert words in str(caught.value)
    assert find_problem(name, {"PATH": os.environ["PATH"]}) == str(caught.value)


@given(st.text(max_size=40))
def test_any_name_is_parsed_or_a_usage_error(text: str) -> None:
    try:
        assert parse_name(text).model
    except UsageError as error:
        assert str(error)


def test_weights_that_are_none_are_refused_at_open(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK..")
    assert "not a GGUF file" in (find_problem(f"local:{path}", {}) or "")


def test_a_server_of_ones_own_needs_no_key() -> None:
    env = {"OPENAI_BASE_URL": "http://user:secret@127.0.0.1:8091/v1/"}
    service = find_service("openai", env)
    assert (service.base_url, service.own, service.key) == ("http://user:secret@127.0.0.1:8091/v1", False, "none")
    assert service.address == "127.0.0.1:8091"
    assert find_problem("openai:local", env) is None


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x/v1", "http://", "http://x:notaport/v1", "http://[::1"])
def test_an_address_that_is_none_names_its_variable(url: str) -> None:
    said = find_problem("openai:x", {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": KEY})
    assert said is not None and "OPENAI_BASE_URL" in said


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://localhost:11434/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box:1234", "http://box:1234/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("https://box.example/", "https://box.example/v1"),
        ("http://box:1/v1", "http://box:1/v1"),
    ],
)
def test_ollama_host_in_all_its_forms(host: str, url: str) -> None:
    assert find_service("ollama", {"OLLAMA_HOST": host}).base_url == url


def test_providers_say_what_is_usable_and_never_show_a_key() -> None:
    env = {"OPENAI_API_KEY": KEY, "PATH": ""}
    listed = {provider.name: provider for provider in list_status(env)}
    assert list(listed)[:8] == ["anthropic", "cmd", "local", "ollama", "openai", "recorded", "script", "simulated"]
    assert listed["openai"].usable and listed["openai"].key_present
    assert not listed["anthropic"].usable and "set ANTHROPIC_API_KEY" in listed["anthropic"].note
    assert listed["ollama"].usable and "localhost:11434" in listed["ollama"].note
    assert listed["local"].usable is (find_spec("xllamacpp") is not None)
    assert listed["local"].usable is ('pip install "moot[local]"' not in listed["local"].note)
    assert KEY not in repr(listed) and KEY not in repr(find_service("openai", env))


@pytest.mark.parametrize(
    ("name", "env", "known"),
    [
        ("openai:gpt-4o", {}, True),
        ("openai:gpt-4o", {"OPENAI_API_KEY": KEY}, True),
        ("openai:gpt-4o", {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, False),
        ("openai:no-such-model-9", {"OPENAI_API_KEY": KEY}, False),
        ("anthropic:claude-sonnet-4-6", {}, True),
        ("anthropic:nothing", {}, False),
        ("ollama:qwen3:8b", {}, True),
        ("cmd:claude -p", {}, True),
        ("script:x.yaml", {}, True),
        ("local:x.gguf", {}, True),
    ],
)
def test_whether_a_limit_in_dollars_can_be_kept(name: str, env: dict[str, str], known: bool) -> None:
    assert knows_price(name, env) is known
