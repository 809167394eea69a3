"""The entries of `moot --help`: command, panel and module. Imports next to nothing, so it loads at once."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.core.deprecation import Deprecation

PROTOCOL_COMMAND = "protocol_command"


@dataclass(frozen=True)
class MenuEntry:
    about: str
    home: str = ""
    """The module of `surfaces/cli` that registers the command; empty for a mere group."""
    inside: Mapping[str, "MenuEntry"] = field(default_factory=dict)
    short: str = ""
    """Its name at the top level and in its module, if different."""
    deprecated: Deprecation | None = None


JOBS = {
    "init": MenuEntry("Write the job for GitHub or GitLab.", "code.ci_jobs"),
    "summary": MenuEntry("Print findings as markdown, for the summary of a job.", "code.ci_jobs"),
    "comment": MenuEntry("Comment on a pull request: few findings, each once.", "code.ci_jobs"),
}
BENCH = {
    "quick": MenuEntry("Is a debate worth its cost on your models? A few tasks.", "code.bench", short="bench-quick"),
    "run": MenuEntry("Measure arms on a suite of tasks, at equal cost.", "code.bench", short="bench-run"),
    "compare": MenuEntry("Compare two runs, task by task.", "code.bench", short="bench-compare"),
    "report": MenuEntry("Show the report of a run again.", "code.bench", short="bench-report"),
    "export": MenuEntry("Export a run for Inspect.", "code.bench", short="bench-export"),
}
CODE = {
    "harden": MenuEntry("Attack code, patch it, and check every patch.", PROTOCOL_COMMAND),
    "scan": MenuEntry("Find flaws in code. Needs no model and keeps no session.", "code.scan"),
    "solve": MenuEntry("Write code for a task, test it, and retry with what failed.", PROTOCOL_COMMAND),
    "debate": MenuEntry("Several models draft, test, review and vote on a solution.", PROTOCOL_COMMAND),
    "check": MenuEntry(
        "Run tests on code, score it, or run your CI checks.",
        inside={
            "run": MenuEntry("Run code against its tests in the sandbox.", "code.run"),
            "quality": MenuEntry("Score code from 0 to 1: tests, coverage, lint, complexity.", "code.quality"),
            "ci": MenuEntry("Run the checks that a session runs at one of its points.", "code.ci", inside=JOBS),
        },
    ),
}
MEASURES = {"bench": MenuEntry("Measure debates against single answers and votes.", inside=BENCH)}
DECISIONS = {
    "decide": MenuEntry(
        "Put an open question to judges with fixed stances.",
        PROTOCOL_COMMAND,
        inside={
            "classify": MenuEntry("Name the class of a question, by its words alone.", "decisions.questions"),
            "choose": MenuEntry("Record your choice where the judges disagreed.", "decisions.questions"),
        },
    ),
    "review": MenuEntry(
        "Challenge planning documents, or a change of code.",
        PROTOCOL_COMMAND,
        inside={"dismiss": MenuEntry("Dismiss a comment on a change permanently.", "decisions.dismiss")},
    ),
    "vote": MenuEntry("Count ballots from a file, by one of six methods.", "decisions.vote"),
}
SAFETY = {
    "hook": MenuEntry("Check every tool call of a coding agent before it runs.", "safety.hook"),
    "vet": MenuEntry(
        "Challenge a risky action, or a task that keeps failing.",
        PROTOCOL_COMMAND,
        inside={
            "route": MenuEntry("Show the class and stakes of a request or command.", "safety.hook"),
            "stats": MenuEntry("Count earlier debates: what worked, what was escalated.", "safety.stats"),
        },
    ),
    "guard": MenuEntry("Run a command only if it passes vetting.", "safety.guard"),
    "track": MenuEntry("Record how tasks went; list those that keep failing.", "safety.track"),
}
SESSIONS = {
    "ui": MenuEntry("Open the page: start, watch and decide sessions in a browser.", "sessions.ui"),
    "list": MenuEntry("List sessions, newest first.", "sessions.history"),
    "show": MenuEntry("Show a session: its result, and what was said and done.", "sessions.history"),
    "watch": MenuEntry("Follow a session live, here or on a server.", "sessions.watch"),
    "resume": MenuEntry("Continue a session. Nothing recorded is paid for twice.", "sessions.history"),
    "export": MenuEntry("Export a session: JSON, Markdown, HTML, site or archive.", "sessions.history"),
}
RECORD = {
    "audit": MenuEntry("Show every entry of a record, or verify that none was changed.", "sessions.audit"),
    "replay": MenuEntry("Run a session again from its record and compare. Calls no model.", "sessions.audit"),
    "diff": MenuEntry("Show where two sessions differ first.", "sessions.audit"),
    "fork": MenuEntry("Start a new session from a step of another, with a change.", "sessions.fork"),
    "import": MenuEntry("Import a session from a signed archive.", "sessions.archive"),
    "delete": MenuEntry("Delete a session. Only a tombstone (id, final hash) remains.", "sessions.history"),
    "clean": MenuEntry("Delete sessions and logs older than the retention settings.", "sessions.clean"),
}
GATES = {
    "list": MenuEntry("List the gates waiting for a person, oldest first.", "sessions.gates", short="gates"),
    "approve": MenuEntry("Approve a gate: its session continues.", "sessions.gates"),
    "reject": MenuEntry("Reject a gate: its session ends, and its record is kept.", "sessions.gates"),
    "answer": MenuEntry("Answer the questions that a session is waiting for.", "sessions.gates"),
}
SET_UP = {
    "tutorial": MenuEntry("Walk through the six verbs in five minutes. Needs no model.", "set_up.tutorial"),
    "doctor": MenuEntry("Test the store, the sandbox and the configured models.", "set_up.doctor"),
    "models": MenuEntry("List model providers, and what each one still needs.", "set_up.doctor"),
    "config": MenuEntry("Show every setting, and where its value came from.", "set_up.doctor"),
    "team": MenuEntry("List roles; build a team for a task.", "set_up.team"),
    "tools": MenuEntry("List the tools that seats may use; try one.", "set_up.tools"),
    "lessons": MenuEntry("List, add, export what earlier sessions learnt.", "set_up.lessons"),
    "install": MenuEntry("Add Moot's MCP server to a coding client.", "set_up.install"),
    "uninstall": MenuEntry("Remove Moot's MCP server from a coding client.", "set_up.install"),
    "trust": MenuEntry("Trust the moot.toml of a project.", "set_up.trust"),
    "allow": MenuEntry("Allow one tool call that a hook stopped.", "safety.hook"),
    "mcp": MenuEntry("Serve MCP to a coding agent, which starts it.", "set_up.mcp"),
    "completion": MenuEntry("Print or install completion for bash, zsh or fish.", "set_up.completion"),
}
ADMIN = {
    "serve": MenuEntry("Serve the HTTP API and the page.", "admin.serve"),
    "acp": MenuEntry("Serve an editor that speaks the Agent Client Protocol.", "admin.acp"),
    "worker": MenuEntry("Run sessions from the queue of a fleet.", "admin.fleet"),
    "fleet": MenuEntry("Show the workers of a fleet, its queue, and stuck sessions.", "admin.fleet"),
    "store": MenuEntry("Migrate, check, back up, restore or copy the store.", "admin.store"),
    "token": MenuEntry("Create, list and revoke tokens of the server.", "admin.serve"),
    "key": MenuEntry("Show the key that signs your archives.", "sessions.archive"),
    "branch": MenuEntry("List, compare and clean the git branches of sessions.", "admin.branch"),
}
PANELS: Mapping[str, Mapping[str, MenuEntry]] = {
    "Code": CODE | MEASURES,
    "Decisions": DECISIONS,
    "Agent safety": SAFETY,
    "Sessions": SESSIONS
    | {"session": MenuEntry("Audit, replay, compare, fork, import, delete sessions.", inside=SESSIONS | RECORD)},
    "Approvals": {"gate": MenuEntry("List waiting gates; approve, reject or answer them.", inside=GATES)},
    "Set-up": SET_UP,
    "Administration": {"admin": MenuEntry("Server, workers, store, tokens, signing key, branches.", inside=ADMIN)},
}
LISTED = {name: entry for entries in PANELS.values() for name, entry in entries.items()}
"""Entries of the help, in order."""
SHORT = {
    entry.short or name: entry
    for group in LISTED.values()
    for name, entry in group.inside.items()
    if (entry.short or name) not in LISTED
}
"""Subcommands that also work without their group; not listed."""


def panel_of(name: str) -> str:
    return next(panel for panel, entries in PANELS.items() if name in entries)
