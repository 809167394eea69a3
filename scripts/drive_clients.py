"""Drive real coding agents and their own hook runner against a fake model, and say whether a tool call ran.

    drive_clients.py --bin FOLDER                                        the table: client, mode, answer, ran or not
    drive_clients.py --bin FOLDER claude --answer ask --mode auto        one row
    drive_clients.py --bin FOLDER codex --hook "moot hook pre-tool-use" --command "git push --force origin main"
    drive_clients.py --bin FOLDER claude --install "moot hook install" --command "git push --force origin main"
    drive_clients.py --bin FOLDER claude --install "moot hook install --background" --mode bypassPermissions \
        --terminal --expect run --until "Moot reviewed the commit" --command \
        "echo 'import os; os.system(input())' > a.py; git add . && git -c user.name=t -c user.email=t commit -m a"

The clients must be installed (npm: @anthropic-ai/claude-code, @openai/codex, @google/gemini-cli, @github/copilot). Each
run gets a home and a project of its own in a temporary folder; the project is a git repository with a bare remote
beside it, so a command that does run harms nothing. No account is needed; nothing outside this machine is asked.
Exit code 1: a command ran although the answer was to stop it, or did not run although it was expected to,
or the client never asked the model.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from client_runs import PROOF, Outcome, Run, drive
from coding_agents import CLIENTS, Answer, Client, Start
from fake_models import ToolCall


def _decide(decision: str) -> str:
    said = {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": "REASON-7"}
    return json.dumps({"hookSpecificOutput": said})


ANSWERS = {
    "silence": Answer(),
    "allow": Answer(_decide("allow")),
    "deny": Answer(_decide("deny"), stops=True),
    "ask": Answer(_decide("ask"), stops=True),
    "defer": Answer(_decide("defer")),
    "flat-deny": Answer('{"permissionDecision": "deny", "permissionDecisionReason": "REASON-7"}', stops=True),
    "flat-ask": Answer('{"permissionDecision": "ask", "permissionDecisionReason": "REASON-7"}', stops=True),
    "decision-allow": Answer('{"decision": "allow", "reason": "REASON-7"}'),
    "decision-block": Answer('{"decision": "block", "reason": "REASON-7"}', stops=True),
    "decision-deny": Answer('{"decision": "deny", "reason": "REASON-7"}', stops=True),
    "decision-ask": Answer('{"decision": "ask", "reason": "REASON-7"}', stops=True),
    "continue-false": Answer('{"continue": false, "stopReason": "REASON-7"}', stops=True),
    "exit-2-text": Answer(stderr="REASON-7", code=2, stops=True),
    "exit-2": Answer(code=2, stops=True),
    "exit-2-deny": Answer(_decide("deny"), "REASON-7", code=2, stops=True),
    "deny-no-reason": Answer(
        '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}', stops=True
    ),
    "deny-unknown-key": Answer(_decide("deny")[:-1] + ', "moot": 1}', stops=True),
    "deny-message": Answer(_decide("deny")[:-1] + ', "systemMessage": "SHOWN-7"}', stops=True),
    "deny-every-shape": Answer(
        _decide("deny")[:-1] + ', "decision": "block", "reason": "REASON-7", "permission": "deny"}', stops=True
    ),
    "exit-1-text": Answer(stderr="REASON-7", code=1),
    "garbage": Answer("{not json"),
    "words": Answer("no thank you"),
    "timeout": Answer(_decide("deny"), sleep=6, timeout=2),
    "missing": Answer(missing=True),
}


def choose_runs(options: argparse.Namespace) -> Iterator[tuple[str, Run]]:
    real = options.hook or options.install
    answers = {"hook": Answer(hook=options.hook, stops=options.expect == "stop")} if real else ANSWERS
    for client in [CLIENTS[name] for name in options.client or CLIENTS]:
        for mode in options.mode or client.modes:
            start = Start(mode, options.terminal, options.prompt)
            for label in (not real and options.answer) or answers:
                yield label, Run(client, start, answers[label], options.install, options.bin, options.until)


def _call_shell(client: Client, command: str, _: Path) -> list[ToolCall]:
    return [client.shell(command)]


def describe(label: str, run: Run, outcome: Outcome) -> str:
    called = any(call["event"] == "before-tool" for call in outcome.calls)
    ran = "ran" if outcome.ran else "asked" if outcome.asked else "did not run" if outcome.started else "no session"
    hook = "own hooks" if run.install else "hook called" if called else "hook not called"
    told = outcome.told.replace("\n", " | ")[:300]
    return f"{run.client.name}\t{run.start.mode}\t{label}\t{ran}\t{hook}\t{told!r}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", nargs="*", help=f"of {', '.join(CLIENTS)}; default: all")
    parser.add_argument("--bin", default="", help="folder with the clients' programs")
    parser.add_argument("--mode", action="append", help="a mode of the client; default: all")
    parser.add_argument("--answer", action="append", choices=ANSWERS, help="default: all")
    parser.add_argument("--hook", default="", help="ask this command instead of giving canned answers")
    parser.add_argument("--install", default="", help="run this in the project instead, to set up hooks of its own")
    parser.add_argument("--expect", choices=("stop", "run"), default="stop", help="what --hook or --install should do")
    parser.add_argument("--prompt", default="do it", help="what the user says")
    parser.add_argument("--command", default="", help="what the model wants to run, after it has left its mark")
    parser.add_argument("--terminal", action="store_true", help="start the client on a terminal, as a person would")
    parser.add_argument("--until", default="", help="with --terminal: wait until the model is sent these words")
    parser.add_argument(
        "--show", action="store_true", help="also print what the hook was sent, and the client's output"
    )
    options = parser.parse_args()
    # Ended from outside, the client must end too: let the clean-up run.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    command = f"touch {PROOF}; {options.command}" if options.command else f"touch {PROOF}"
    bad = False
    for label, run in choose_runs(options):
        outcome = drive(run, partial(_call_shell, run.client, command))
        sys.stdout.write(describe(label, run, outcome))
        if options.show:
            sys.stdout.write("".join(json.dumps(one, indent=1) + "\n" for one in outcome.calls) + outcome.output + "\n")
        sys.stdout.flush()
        # A client that never came to the model has proved nothing.
        bad = (
            bad
            or not outcome.started
            or (outcome.ran and run.answer.stops)
            or (options.expect == "run" and not outcome.ran)
            or (bool(options.until) and not run.is_over(outcome.model))
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
