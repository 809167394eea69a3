"""Endpoints of the user's own, providers of the library and of other packages, and the model of the only key."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from asking import KEY, a_call
from conftest import Cli
from fake_provider import Answer, EveryProvider, fake_provider, openai_answer, serving

from moot.core.errors import ConfigError, UsageError
from moot.core.types import Reply
from moot.edge.models import (
    Endpoint,
    catalog,
    find_provider,
    is_hosted,
    library,
    list_providers,
    open_model,
    parse_name,
    pick_model,
    read_endpoint,
)
from moot.edge.models.library import TABLE
from moot.surfaces.session.project_trust import SAID

CODE = "import os\nprint(os.getcwd())\n"
PLUGIN = """
from moot.edge.models import Provider
from moot.testing import ScriptedModel

class EchoProvider(Provider):
    name = "echo"
    example = "echo:loud"
    def open(self, opening):
        return ScriptedModel({}, name=opening.name)
    def describe(self, env):
        return "in this process"

PROVIDER = EchoProvider()
"""


def ask(endpoint: Endpoint, env: dict[str, str]) -> Reply:
    async def run() -> Reply:
        model = open_model("mine", env=env, timeout=20.0, endpoints={"mine": endpoint})
        try:
            return await model.reply(a_call())
        finally:
            await model.aclose()

    return asyncio.run(run())


@pytest.fixture(scope="module")
def everyone() -> Iterator[EveryProvider]:
    with serving(EveryProvider("fine")) as server:
        yield server


ELSEWHERE = ("bedrock", "cohere", "huggingface", "xai")
"""Not in this environment: `scripts/try_providers.py` tries them."""


@pytest.mark.parametrize("provider", ["openai", "anthropic", "github-copilot", *sorted({*TABLE} - {*ELSEWHERE})])
def test_a_provider_is_asked_at_its_endpoint_with_the_key_that_was_named(
    provider: str, everyone: EveryProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")  # azure
    monkeypatch.setenv("SNOWFLAKE_ACCOUNT", "org-account")
    env = {"MINE_API_KEY": KEY, "OPENAI_API_KEY": "another"}
    everyone.asked.clear()
    reply = ask(Endpoint(provider=provider, model="a/m", base_url=everyone.url, key="MINE_API_KEY"), env)
    assert (reply.text, reply.model, reply.finish) == ("fine", "mine", "stop")
    [asked] = everyone.asked
    assert KEY in json.dumps(dict(asked.headers))


def test_a_client_that_cannot_be_made_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "nowhere.json")
    with pytest.raises(UsageError, match=r"google-cloud:m.*nowhere\.json"):
        asyncio.run(open_model("google-cloud:m", env={}, timeout=1.0).reply(a_call()))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "groq", "deepseek"])
def test_an_address_of_ones_own_never_gets_the_usual_key(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {name: KEY for name in find_provider(provider).key_variables}
    for name, value in usual.items():
        monkeypatch.setenv(name, value)
    with fake_provider(Answer("no", status=400)) as server, pytest.raises(Exception, match="400"):
        ask(Endpoint(provider=provider, model="m", base_url=server.url), usual)
    assert KEY not in json.dumps(dict(server.asked[0].headers))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"provider": "openai"}, "lacks 'model'"),
        ({"provider": "opnai", "model": "x"}, "did you mean 'openai'"),
        ({"provider": "openai", "model": "x", "key": "sk-verysecret-123"}, "environment variable"),
        ({"provider": "openai", "model": "x", "key": "HOME"}, "environment variable"),
        ({"provider": "openai", "model": "x", "base_url": "http://a:verysecret@x"}, "password"),
        ({"provider": "openai", "model": "x", "base_url": "x"}, "http"),
        ({"provider": "cmd", "model": "x", "key": "A_KEY"}, "takes no base_url"),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_refused_without_showing_a_secret(
    table: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_endpoint("fast", table)
    assert said in str(caught.value) and "verysecret" not in str(caught.value)


def test_two_endpoints_of_one_provider_answer_in_one_session_and_after_it(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAST_API_KEY", KEY)
    (tmp_path / "app.py").write_text(CODE)
    own = tmp_path / "config-home" / "moot"
    own.mkdir(parents=True)
    with fake_provider(Answer("no", status=401)) as one, fake_provider(Answer("no", status=401)) as two:
        (own / "moot.toml").write_text(
            f'[models.fast]\nprovider = "openai"\nmodel = "a"\nbase_url = "{one.url}/v1"\nkey = "FAST_API_KEY"\n'
            f'[models.slow]\nprovider = "openai"\nmodel = "b"\nbase_url = "{two.url}/v1"\n'
        )
        ran = cli("harden", "app.py", "-m", "fast", "-m", "slow", "--json")
        assert one.asked[0].body["model"] == "a" and two.asked[0].body["model"] == "b", ran.err
        assert KEY in one.asked[0].headers["authorization"] and "authorization" not in two.asked[0].headers
        listed = json.loads(cli("models", "--json").out)
        assert [each["name"] for each in listed["endpoints"]] == ["fast", "slow"]
        before = len(one.asked)
        (own / "moot.toml").unlink()  # the session knows by itself where its models are
        session = json.loads(cli("list", "--json").out)[0]["id"]
        resumed = cli("resume", session)
        assert "names no provider" not in resumed.err and len(one.asked) > before, resumed.err
        assert KEY not in (tmp_path / "data-home" / "moot" / "moot.db").read_bytes().decode("latin-1")


def test_a_checkout_cannot_send_a_key_elsewhere(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "app.py").write_text(CODE)
    SAID.clear()
    with fake_provider(openai_answer("x")) as server:
        (tmp_path / "moot.toml").write_text(
            f'model = "fast"\n[models.fast]\nprovider = "openai"\nmodel = "a"\nbase_url = "{server.url}/v1"\n'
            'key = "OPENAI_API_KEY"\n'
        )
        ran = cli("harden", "app.py")
        assert "ignored: model, models.fast.provider" in ran.err and not server.asked
        assert cli("harden", "app.py", "-m", "fast").code == 2 and not server.asked


def test_exactly_one_key_picks_a_model() -> None:
    assert pick_model({}) is None
    one = pick_model({"ANTHROPIC_API_KEY": KEY})
    assert one is not None and one.model == "anthropic:claude-sonnet-4-6"
    assert "because only ANTHROPIC_API_KEY is set" in one.reason and KEY not in one.reason
    two = pick_model({"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY})
    assert two is not None and not two.model and "ANTHROPIC_API_KEY and OPENAI_API_KEY are set" in two.reason
    assert pick_model({"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}) is None


def test_a_picked_model_is_said_and_no_llm_uses_none(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "app.py").write_text(CODE)
    assert "because only" not in cli("harden", "app.py").err
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")
    assert "because only ANTHROPIC_API_KEY is set" in cli("models").out.replace("\n", " ")
    assert "because only" not in cli("harden", "app.py", "--no-llm").err


def test_a_provider_without_its_extra_names_the_line_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "is_installed", lambda module: False)
    for provider in (find_provider("anthropic"), *TABLE.values()):
        with pytest.raises(UsageError, match=rf"pip install 'moot\[{provider.extra}\]'"):
            open_model(f"{provider.name}:x", env={}, timeout=1.0)


def test_the_usual_models_are_known_to_the_library() -> None:
    from pydantic_ai.models import known_model_names

    known = {str(name) for name in known_model_names()}
    usual = [each.example for each in list_providers() if each.default and each.name != "openrouter"]
    assert len(usual) >= 6 and [name for name in usual if name not in known] == []


def test_whatever_the_library_names_is_found() -> None:
    from pydantic_ai.models import known_model_names

    prefixes = {str(name).partition(":")[0] for name in known_model_names()} - {"test"}
    assert len(prefixes) > 20 and [find_provider(word).name for word in prefixes] == list(prefixes)
    assert not is_hosted("typesafe:jev-latest") and is_hosted("google:x") and not is_hosted("cmd:x")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package that brings a provider."""
    site = tmp_path / "site"
    info = site / "moot_echo-1.dist-info"
    info.mkdir(parents=True)
    (site / "moot_echo.py").write_text(PLUGIN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: moot-echo\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[moot.models]\necho = moot_echo:PROVIDER\nopenai = moot_echo:PROVIDER\n")
    monkeypatch.syspath_prepend(str(site))
    catalog._plugins.cache_clear()
    yield site
    catalog._plugins.cache_clear()


def test_an_installed_package_brings_a_provider_but_replaces_none(plugin: Path, cli: Cli) -> None:
    assert parse_name("echo:loud").provider.name == "echo"
    assert open_model("echo:loud", env={}, timeout=1.0).name == "echo:loud"
    assert "in this process" in cli("models").out
    assert type(find_provider("openai")).__name__ == "OpenAIProvider"
    assert not is_hosted("echo:loud")


def test_taking_a_function_of_the_library_loads_next_to_nothing() -> None:
    heavy = ("pydantic", "sqlalchemy", "rich")
    code = f"import sys; from moot import harden, debate; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
