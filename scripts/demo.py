"""The main job, shown: attack and patch the examples, with no key and no network service."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = ["service.py", "store.go", "app.js", "client.ts"]


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "examples"
        shutil.copytree(ROOT / "examples", work)
        env = {**os.environ, "MOOT_STORE": str(Path(folder) / "moot.db"), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "moot", "harden", "--no-llm", *FILES]
        if shutil.which("bwrap"):
            command += ["--tests", "tests"]
        say(f"$ cd examples && moot {' '.join(command[3:])}")
        code = subprocess.run(command, cwd=work, env=env).returncode
        say("")
        say("Nothing was written, and this session is not kept. --write puts the patch into the files.")
        say("Try it on your own code: .venv/bin/moot harden FILE (with -m PROVIDER:MODEL, a model takes part).")
        return 0 if code in (0, 1) else code


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
