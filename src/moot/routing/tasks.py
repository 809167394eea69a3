"""Programs and tasks without a table, judged by their names and verbs."""

import re

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy, names
from moot.routing.rules import RUNNERS, VERBED, CommandCall, find_rule

DESTROYS = names("""
    delete destroy remove rm drop purge terminate uninstall wipe erase nuke truncate teardown unpublish yank
    decommission deprovision obliterate rmi clobber del deletes flushall dropdb undeploy detach deregister
    rollback downgrade cleardb prune reset
""")
DEPLOYS = names("""
    deploy publish release promote rollout ship redeploy golive provision deployment deploys publishes
""")
SECURES = names("""
    login logout token tokens secret secrets credential credentials password passwd rotate revoke grant auth iam
    decrypt encrypt
""")
CHANGES = names("""
    change create update put set modify write apply start stop restart reboot scale migrate sync push import move patch
    edit enable disable attach add run invoke send upload resize upgrade
""")
READS = names("""
    list ls get show describe status info view logs log history version help whoami search inspect diff plan
    validate check ps head tail watch explain ping print cat lint preview top events current batch lookup query
    select scan
""")
WORD = Lazy(r"[A-Za-z]+")
BARE = Lazy(r"[A-Za-z][\w:.-]*")
DRIVE = Lazy(r"[A-Za-z]:\\?")
PRODUCTION = Lazy(r"(?:--?\w+=)?(?:prod|production|live)", re.IGNORECASE)


def parts(name: str) -> list[str]:
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [w.lower() for w in WORD.findall(split)]


def judge_task_name(name: str, shown: str) -> Sight:
    """Judge a script or task by its name: `deploy:prod`, `./drop_tables.sh`. A test of one is harmless."""
    found = parts(name)
    if not found or {
        "test",
        "tests",
        "spec",
        "check",
        "lint",
        "docs",
        "notes",
        "preview",
        "build",
        "plan",
        "dry",
    } & set(found):
        return Sight("low")
    for word in found:
        if word in DESTROYS:
            return Sight("high", "destructive", shown, f"`{shown}` sounds like it takes something away ({word})")
        if word in DEPLOYS:
            return Sight("high", "deployment", shown, f"`{shown}` sounds like others will get it ({word})")
    if {"migrate", "migration", "migrations", "seed"} & set(found) or {"db", "push"} <= set(found):
        return Sight("medium", "change", shown, f"`{shown}` changes a database")
    return Sight("low")


def task_sights(called: CommandCall) -> list[Sight]:
    """`make deploy`, `npm run clean`, `./gradlew publish`."""
    tasks = [
        task for task in called.rest if task not in ("run", "run-script", "exec", "task", "--") and "=" not in task
    ]
    if any(
        option in ("-n", "--dry-run", "--just-print", "--recon", "--list", "-l", "-P", "-T", "--tasks")
        for option in called.options
    ):
        return [Sight("low" if called.name not in ("make", "gmake", "just") else "read")]
    sights = [judge_task_name(task, called.excerpt) for task in tasks[:6]] or [Sight("low")]
    if any(PRODUCTION.fullmatch(word.text) for word in called.args):
        sights.append(Sight("high", "deployment", called.excerpt, f"`{called.excerpt}` is about production"))
    return sights


def verb_sights(called: CommandCall) -> list[Sight]:
    """`gcloud compute instances delete x`: the first known verb."""
    verbs = [verb for word in called.rest[:5] if BARE.fullmatch(word) for verb in verbs_in(word)]
    cloud = called.name in VERBED
    if any(option in ("--dry-run", "--dryrun", "--what-if", "--validate-only") for option in called.options):
        return [Sight("read" if cloud else "low")]
    for words, level, group, why in VERB_ROWS:
        if any(verb in words for verb in verbs[: 5 if cloud else 2]):
            if not cloud and level in ("read", "medium"):
                return [Sight("low")]
            return [Sight(level, group, called.excerpt, why and f"`{called.excerpt}` {why}")]  # type: ignore[arg-type]
    if called.name == "aws" and len(called.rest) > 1:  # every AWS operation begins with a verb
        return [Sight("medium", "unclear", called.excerpt, f"what `{called.excerpt}` does is not known")]
    return [Sight("low")]


def verbs_in(word: str) -> list[str]:
    """Where the verb of an operation may be: `delete-stack`, `batch-delete-image`, `firestore:delete`."""
    found = []
    for piece in word.split(":"):
        split = parts(piece)
        found += split[1:2] if split[:1] and split[0] in ("batch", "bulk", "multi") and len(split) > 1 else split[:1]
    return found


VERB_ROWS: tuple[tuple[frozenset[str], str, str, str], ...] = (
    (DESTROYS, "high", "destructive", "takes something away"),
    (DEPLOYS, "high", "deployment", "changes what others get"),
    (SECURES - {"auth", "iam", "secrets", "tokens"}, "high", "security", "changes or shows credentials"),
    (CHANGES, "medium", "change", "changes something others may use"),
    (READS, "read", "", ""),
)


def unknown_sights(called: CommandCall) -> list[Sight]:
    if any(option in ("--help", "--version", "--dry-run", "--check") for option in called.options):
        return [Sight("low")]
    base = called.name
    sights = [judge_task_name(base, called.excerpt), *verb_sights(called)]
    if base == "format" and any(DRIVE.fullmatch(word.text) for word in called.args):
        sights.append(Sight("high", "destructive", called.excerpt, f"`{called.excerpt}` erases a disk"))
    if any(PRODUCTION.fullmatch(word.text) for word in called.args):
        sights.append(Sight("high", "deployment", called.excerpt, f"`{called.excerpt}` is about production"))
    if any(
        option in ("--force", "--hard", "--no-verify", "--yes-i-really-mean-it", "--purge") for option in called.options
    ):
        sights.append(Sight("medium", "scope", called.excerpt, f"`{called.excerpt}` overrides a safeguard"))
    return sights


def judge_task(called: CommandCall) -> list[Sight]:
    if sight := find_rule(called):
        return [sight]
    if called.name in RUNNERS:
        return task_sights(called)
    return verb_sights(called) if called.name in VERBED else unknown_sights(called)


def django(called: CommandCall) -> list[Sight]:
    task = called.rest[0] if called.rest else ""
    if task in (
        "flush",
        "reset_db",
        "sqlflush",
        "migrate:fresh",
        "migrate:reset",
        "db:wipe",
        "migrate:rollback",
        "doctrine:database:drop",
    ):
        return [Sight("high", "destructive", called.excerpt, f"`{called.excerpt}` throws data away")]
    if task in ("showmigrations", "check", "help", "sqlmigrate", "diffsettings", "route:list", "list"):
        return [Sight("read")]
    if task in ("changepassword", "createsuperuser"):
        return [Sight("high", "security", called.excerpt, f"`{called.excerpt}` changes accounts")]
    if task in ("migrate", "loaddata"):
        return [Sight("medium", "change", called.excerpt, f"`{called.excerpt}` changes a database")]
    return [Sight("low")]
