"""What the challenges need besides the product: JSON, SQL, HTTP and waiting for a state. Only the standard library."""

import json
import os
import re
import socket
import sqlite3
import sys
import time
import urllib.error
import urllib.request

PATIENCE = 120.0
PROXYLESS = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def json_value(path: str, expression: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except ValueError:
        sys.exit(f"{path} is not JSON: the command printed nothing usable")
    found = eval(expression, {"it": document})  # the challenge's own words
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def sql_rows(store: str, query: str) -> str:
    with sqlite3.connect(store, timeout=30) as database:
        return "\n".join("|".join("" if cell is None else str(cell) for cell in row) for row in database.execute(query))


def request(url: str, method: str, body: str) -> str:
    """The status, then the answer."""
    headers = {"Authorization": f"Bearer {os.environ['MOOT_TOKEN']}", "Content-Type": "application/json"}
    asked = urllib.request.Request(url, body.encode() or None, headers, method=method)
    try:
        # moot: ignore[python-ssrf] the scripts beside it name the address of the server that they started
        with PROXYLESS.open(asked, timeout=30) as answer:
            return f"{answer.status}\n{answer.read().decode()}"
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code}\n{error.read().decode()}"


def wait_for(store: str, query: str) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if sql_rows(store, query).strip() == "1":
                return "1"
        except sqlite3.OperationalError:
            pass  # not made yet, or being written
        time.sleep(0.05)
    sys.exit(f"it did not come to this within {PATIENCE:g} s: {query}")


def find_token(base: str, log: str, process: int) -> str:
    """The token that the server prints, once it answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        os.kill(process, 0)
        with open(log, encoding="utf-8") as file:
            found = re.search(r"token=([\w.~-]+)", file.read())
        try:
            with PROXYLESS.open(f"{base}/readyz", timeout=5):
                return found[1] if found else os.environ["MOOT_TOKEN"]
        except (OSError, KeyError):
            time.sleep(0.05)
    sys.exit("the server does not answer")


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


ACTIONS = {"json": json_value, "sql": sql_rows, "http": request, "wait": wait_for, "port": free_port}

if __name__ == "__main__":
    action, *words = sys.argv[1:]
    found = find_token(words[0], words[1], int(words[2])) if action == "ready" else ACTIONS[action](*words)
    sys.stdout.write(f"{found}\n")
