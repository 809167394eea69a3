"""Try every provider of the model library on a loopback server, through `moot decide`: for the table in docs/models.md.

Run it with the Python of an environment that has `moot[all]`; name providers to try only those.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/edge/models"))
from fake_provider import EveryProvider, serving

from moot.edge.models.library import TABLE

REASON = "the loopback server says so"
TEXT = json.dumps({"analysis": {"A": "small"}, "reasons": REASON, "option": "A", "confidence": "HIGH"})
KEY = "sk-loopback-0123456789"
QUESTION = ("--ask", "Do we need offline mode?", "--option", "A: no", "--option", "B: yes")
MODELS = {"openrouter": "openai/gpt-5", "bedrock-mantle": "openai.gpt-oss-120b"}
SETTINGS = {"AWS_DEFAULT_REGION": "eu-west-1", "OPENAI_API_VERSION": "2024-10-21", "SNOWFLAKE_ACCOUNT": "org-account"}
"""What an account has beside its key."""


def main() -> int:
    failed = 0
    for name in sys.argv[1:] or ["anthropic", *TABLE, "bedrock-mantle"]:
        problem = try_provider(name)
        failed += bool(problem)
        sys.stdout.write(f"{name:18}{problem or 'ok'}\n")
        sys.stdout.flush()
    return 1 if failed else 0


def try_provider(name: str) -> str:
    """What went wrong; empty where the answer of the loopback server was used."""
    with serve(name) as (url, asked), tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "config" / "moot"
        own.mkdir(parents=True)
        model = MODELS.get(name, "m")
        address = f'[models.mine]\nprovider = "{name}"\nmodel = "{model}"\nbase_url = "{url}"\nkey = "MINE_API_KEY"\n'
        env = {**SETTINGS, "PATH": os.environ["PATH"], "HOME": folder, "XDG_CONFIG_HOME": str(own.parent)}
        env |= {"XDG_DATA_HOME": folder, "MINE_API_KEY": KEY, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
        if name == "bedrock":  # its SDK sends a key over https only; it signs requests to any address
            env |= {"AWS_ENDPOINT_URL_BEDROCK_RUNTIME": url, "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": KEY}
            named = f"bedrock:{model}"
        else:
            (own / "moot.toml").write_text(address)
            named = "mine"
        command = [sys.executable, "-m", "moot", "decide", *QUESTION, "-m", named, "--json", "--quiet"]
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    if ran.returncode or REASON not in ran.stdout:
        return f"exit code {ran.returncode}: {(ran.stderr or ran.stdout).strip()[:400]}"
    if ran.stderr:
        return f"it printed: {ran.stderr.strip()[:400]}"
    return "" if any(KEY in line for line in asked) else "asked without its key"


@contextmanager
def serve(name: str) -> Iterator[tuple[str, list[str]]]:
    """The address of a server, and the headers that it was sent, as text."""
    asked: list[str] = []
    if name == "xai":
        with serve_grpc(asked) as url:
            yield url, asked
        return
    with serving(EveryProvider(TEXT)) as server:
        yield server.url, asked
        asked += [json.dumps(dict(each.headers)) for each in server.asked]


@contextmanager
def serve_grpc(asked: list[str]) -> Iterator[str]:
    """xAI is asked by gRPC; without TLS only by the name of localhost."""
    import grpc
    from xai_sdk.proto import chat_pb2, chat_pb2_grpc, sample_pb2

    class Chat(chat_pb2_grpc.ChatServicer):
        def GetCompletion(self, request: object, context: grpc.ServicerContext) -> object:
            asked.append(str(context.invocation_metadata()))
            message = chat_pb2.CompletionMessage(content=TEXT, role=chat_pb2.ROLE_ASSISTANT)
            output = chat_pb2.CompletionOutput(message=message, finish_reason=sample_pb2.REASON_STOP)
            return chat_pb2.GetChatCompletionResponse(id="1", model="m", outputs=[output])

    server = grpc.server(futures.ThreadPoolExecutor())
    chat_pb2_grpc.add_ChatServicer_to_server(Chat(), server)
    port = server.add_secure_port("localhost:0", grpc.local_server_credentials())
    server.start()
    yield f"http://localhost:{port}"
    server.stop(0).wait()


if __name__ == "__main__":
    sys.exit(main())
