"""What `moot --help` lists: every command by its panel, and the module that holds it. Words only: it loads at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class MenuEntry:
    about: str
    """One line for the list of commands."""
    home: str = ""
    """The module of `surfaces/cli` that registers the command; empty for a group that has none of its own."""
    inside: Mapping[str, "MenuEntry"] = field(default_factory=dict)
    """Its subcommands."""
    short: str = ""
    """Its name at the top level and in its module, where that is another one."""


CODE = {
    "harden": MenuEntry("Attack code, patch it, and check every patch.", "harden"),
    "scan": MenuEntry("Find flaws in code. Needs no model and keeps no session.", "scan"),
    "solve": MenuEntry("Write code for a task, test it, and retry with what failed.", "solve"),
    "debate": MenuEntry("Several models draft, test, review and vote on a solution.", "debate"),
    "check": MenuEntry(
        "Check code yourself: run its tests, score it, run CI checks.",
        inside={
            "run": MenuEntry("Run code against its tests in the sandbox.", "run"),
            "quality": MenuEntry("Score code from 0 to 1: tests, coverage, lint, complexity.", "quality"),
            "ci": MenuEntry("Run the checks that a session runs at one of its points.", "ci"),
        },
    ),
}
DECISIONS = {
    "decide": MenuEntry(
        "Put an open question to judges with fixed stances.",
        "decide",
        inside={
            "classify": MenuEntry("Name the class of a question, by its words alone.", "decide"),
            "choose": MenuEntry("Record your choice where the judges disagreed.", "decide"),
        },
    ),
    "review": MenuEntry("Challenge planning documents before anyone builds on them.", "review"),
    "vote": MenuEntry("Count ballots from a file, by one of six methods.", "vote"),
}
SAFETY = {
    "hook": MenuEntry("Check every tool call of a coding agent before it runs.", "hook"),
    "vet": MenuEntry(
        "Challenge a risky action, or a task that keeps failing.",
        "vet",
        inside={"route": MenuEntry("Show the class and stakes of a request or command.", "hook")},
    ),
    "guard": MenuEntry("Run a command only if it passes vetting.", "guard"),
    "track": MenuEntry("Record how tasks went; list those that keep failing.", "track"),
}
SESSIONS = {
    "ui": MenuEntry("Open the page: start, watch and decide sessions in a browser.", "ui"),
    "list": MenuEntry("List sessions, newest first.", "history"),
    "show": MenuEntry("Show a session: its result, and what was said and done.", "history"),
    "resume": MenuEntry("Continue a session. Nothing recorded is paid for twice.", "history"),
    "export": MenuEntry("Export a session: JSON, Markdown, HTML, site or archive.", "history"),
}
RECORD = {
    "audit": MenuEntry("Show every entry of a record, or verify that none was changed.", "audit"),
    "replay": MenuEntry("Run a session again from its record and compare. Calls no model.", "audit"),
    "diff": MenuEntry("Show where two sessions differ first.", "audit"),
    "fork": MenuEntry("Start a new session from a step of another, with a change.", "fork"),
    "import": MenuEntry("Import a session from a signed archive.", "archive"),
    "delete": MenuEntry("Delete a session. Only a tombstone (id, final hash) remains.", "history"),
    "clean": MenuEntry("Delete sessions and logs older than the retention settings.", "clean"),
}
GATES = {
    "list": MenuEntry("List the gates that wait for a person, oldest first.", "gates", short="gates"),
    "approve": MenuEntry("Approve a gate: its session goes on.", "gates"),
    "reject": MenuEntry("Reject a gate: its session ends, and its record is kept.", "gates"),
    "answer": MenuEntry("Answer the questions that a session waits with.", "gates"),
}
SET_UP = {
    "doctor": MenuEntry("Test the store, the sandbox and the configured models.", "doctor"),
    "models": MenuEntry("List model providers, and what each one still needs.", "doctor"),
    "config": MenuEntry("Show every setting, and where its value came from.", "doctor"),
    "team": MenuEntry("List roles; build a team for a task.", "team"),
    "tools": MenuEntry("List the tools that seats may use; try one.", "tools"),
    "lessons": MenuEntry("List, add, export what earlier sessions learnt.", "lessons"),
    "trust": MenuEntry("Trust the moot.toml of a project.", "trust"),
    "allow": MenuEntry("Allow one tool call that a hook stopped.", "hook"),
    "completion": MenuEntry("Print or install completion for bash, zsh or fish.", "completion"),
}
ADMIN = {
    "serve": MenuEntry("Serve the HTTP API and the page.", "serve"),
    "worker": MenuEntry("Run sessions from the queue of a fleet.", "fleet"),
    "fleet": MenuEntry("Show the workers of a fleet, its queue, and stuck sessions.", "fleet"),
    "store": MenuEntry("Migrate, check, back up, restore or copy the store.", "store"),
    "token": MenuEntry("Create, list and revoke tokens of the server.", "serve"),
    "key": MenuEntry("Show the key that signs your archives.", "archive"),
    "branch": MenuEntry("List, compare and clean the git branches of sessions.", "branch"),
}
PANELS: Mapping[str, Mapping[str, MenuEntry]] = {
    "Code": CODE,
    "Decisions": DECISIONS,
    "Agent safety": SAFETY,
    "Sessions": SESSIONS
    | {"session": MenuEntry("Audit, replay, compare, fork, import, delete sessions.", inside=SESSIONS | RECORD)},
    "Approvals": {"gate": MenuEntry("List the gates that wait; approve, reject or answer them.", inside=GATES)},
    "Set-up": SET_UP,
    "Administration": {"admin": MenuEntry("Server, workers, store, tokens, signing key, branches.", inside=ADMIN)},
}
LISTED = {name: entry for entries in PANELS.values() for name, entry in entries.items()}
"""Command -> what the help lists, in its order."""
SHORT = {
    entry.short or name: entry
    for group in LISTED.values()
    for name, entry in group.inside.items()
    if (entry.short or name) not in LISTED
}
"""Subcommands that also work without the name of their group; the help does not list them."""


def panel_of(name: str) -> str:
    return next(panel for panel, entries in PANELS.items() if name in entries)
