"""Review beyond its descriptor: planning folders, revised files, STATE.md and `--fail-on`."""

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.protocol import CUT_SHORT, Option
from moot.core.report import count_things
from moot.core.types import Severity, Source, Value, Vulnerability
from moot.edge.files.dismissals import PLACE, DismissalFile
from moot.edge.files.outputs import check_output, write_output
from moot.edge.files.plans import HEAD_CHARACTERS, HEAD_LINES, MOST_ARTEFACTS, ORDER, FoundArtefact, read_planning
from moot.edge.files.plans import ReviewMaterial as ArtefactDesk
from moot.edge.files.sources import read_code, replace_file, write_code
from moot.edge.models.catalog import find_provider
from moot.evidence.artefacts.checkpoints import checkpoint
from moot.evidence.artefacts.kinds import guess
from moot.evidence.artefacts.state import with_decision
from moot.evidence.artefacts.values import GRAVITIES, Artefact, ArtefactType, Gravity, Neighbour
from moot.protocols.review import PROTOCOL
from moot.protocols.review.changes import Dismissal, ReviewComment
from moot.protocols.review.exit_code import UNSURE
from moot.protocols.review.script import ArtefactReview, Reviewed, ReviewInput, ReviewResult, last_word
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Delivery, Extension
from moot.surfaces.history.result_files import FORCE
from moot.surfaces.session.conversations import Conversation
from moot.surfaces.session.plans import Request, make_plan, origin_notes, origins_of
from moot.surfaces.session.request_bodies import Files, Long, check_path, check_text, code_of
from moot.surfaces.session.settings import Settings
from moot.text.sarif import sarif
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending
    from moot.surfaces.cli.session_flags import SessionFlags

TYPES: tuple[ArtefactType, ...] = get_args(ArtefactType)
GRAVE: dict[str, tuple[Severity, ...]] = {
    "critical": ("critical",),
    "significant": ("critical", "high"),
    "minor": ("critical", "high", "medium", "low"),
}
BUILT_IN = ("quality", "balanced", "budget")


class ReviewBody(Value):
    artefacts: Files = Field(default={}, description="planning documents")
    files: Files = Field(default={}, description="or code after a change")
    base: Files = Field(default={}, description="the code before it")
    types: dict[str, ArtefactType] = Field(default={}, description="path -> type; default: by name and content")
    context: Long = Field(default="", description="what the project is about: the head of its PROJECT.md")


class ReviewOptions(Value):
    paths: Annotated[
        tuple[str, ...],
        Option(positional=True, help="Planning documents of one project, or a folder such as .planning."),
    ] = ()
    diff: Annotated[str | None, Option(help="Review code: what changed since this commit.")] = None
    type: Annotated[
        str | None, Option(short="-t", help="requirements, roadmap, plan or verification; default: detected.")
    ] = None
    context: Annotated[str | None, Option(help="What the project is about; default: its PROJECT.md.")] = None
    defend: Annotated[str | None, Option(help="Model of the defender; off: only list challenges.")] = None
    write: Annotated[
        bool, Option(short="-w", after=True, help="Write the revised document back; default: show a diff.")
    ] = False
    sarif: Annotated[str | None, Option(after=True, help="Write the comments on a change as SARIF 2.1.0.")] = None
    force: Annotated[bool, Option(after=True, help=FORCE)] = False
    fail_on: Annotated[Gravity | None, Option(help="Exit with 1 if a challenge or finding this serious remains.")] = (
        None
    )
    profile: Annotated[
        str | None, Option(help="Model profile of the adversary: quality, balanced, budget or your own.")
    ] = None


class ReviewExtension(Extension):
    body = ReviewBody
    options = ReviewOptions

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        gravity, defend = said.get("fail_on"), said.pop("defend", None)
        if gravity is not None and gravity not in GRAVITIES:
            raise UsageError(f"unknown --fail-on {gravity!r}; known are {', '.join(GRAVITIES)}")
        said["no_llm"] = flags.no_llm
        paths, diff = said.pop("paths", []), said.pop("diff", None)
        if diff or said.get("triage"):
            self._read_change(said, paths, diff)
        else:
            if not paths:
                raise UsageError("say what to review: planning documents, or --diff COMMIT for a change of code")
            if idle := next((flag for flag in ("sarif", "force") if said.get(flag)), ""):
                raise UsageError(f"--{idle} is for a change of code: use it with --diff or --triage")
            kind, context = parse_type(said.pop("type", None)), said.pop("context", None)
            said["planning"] = read_planning(paths, kind, context)
        return {
            "review.profile": said.pop("profile", None),
            "review.defend": False if defend == "off" else None,
            "seats.defender": (defend,) if defend and defend != "off" else None,
        }

    def read_body(self, body: ReviewBody, request: Request) -> dict[str, Any]:
        if bool(body.artefacts) == bool(body.files):
            raise UsageError("give either `artefacts` (planning documents) or `files` (code after a change)")
        if not body.files:
            return {"planning": planning_of(body)}
        code = code_of(body.files, None)
        before = tuple(file.model_copy(update={"base": body.base.get(file.path)}) for file in code.files)
        return {"change": code.model_copy(update={"files": before})}

    def _read_change(self, said: dict[str, Any], paths: Sequence[str], diff: str | None) -> None:
        if idle := next((flag for flag in ("type", "context", "write") if said.get(flag)), ""):
            raise UsageError(f"--{idle} is for planning documents, and this is a review of code")
        check_output(said.get("sarif"), force=bool(said.get("force")), flag="--sarif")
        gathered = read_code(list(paths) or ["."], None, diff, sys.stdin.buffer.read)
        said |= {"change": gathered.code, "left_out": gathered.left_out}
        found = DismissalFile(Path.cwd(), Dismissal, os.environ).read_counted(diff or "HEAD")
        said["dismissals"] = found.counted
        if found.brought:
            what = count_things(found.brought, "dismissal")
            said["notes"] = (f"{what} in {PLACE} not counted: not there before the change, and not written by you",)

    def plan_change(self, request: Request) -> SessionPlan:
        given = {name: value for name, value in request.given.items() if name in ReviewInput.model_fields}
        notes = {key: request.given[key] for key in ("fail_on", "no_llm") if key in request.given}
        seats = _seats(request)
        found = replace(request, given={**given, "artefacts": ()}, notes={**request.notes, **notes}, seats=seats)
        plan = make_plan(found)
        runs = any(file.language == "python" for file in given["change"].files)
        return plan.model_copy(update={"notes": {**plan.notes, "runs_code": runs}})

    def read_chat(self, talk: Conversation, body: type[Value]) -> dict[str, Any]:
        """Documents are the blocks with a file name; without any, the whole message."""
        return {"artefacts": talk.read_files() or {"document.md": talk.asked}, "context": talk.earlier}

    def plan(self, request: Request) -> SessionPlan:
        """`planning`: the artefacts, or `change`: the code under review; `fail_on`: the severity that makes the exit
        code 1."""
        if "change" in request.given:
            return self.plan_change(request)
        planning, settings = request.given["planning"], request.settings
        given = {"artefacts": (), "around": planning.around, "left_out": planning.left_out}
        items, problems = list[Reviewed](), dict[str, None]()
        for found in planning.found:
            wanted = checkpoint(planning.config, found.type)
            problems |= dict.fromkeys(wanted.problems)
            is_stated = settings.resolved["review.max_rounds"].source == "flag"
            rounds = None if is_stated else wanted.max_rounds
            off = "" if wanted.enabled else wanted.why
            items.append(Reviewed(artefact=_artefact(found, planning.context), max_rounds=rounds, off=off))
        given |= {"artefacts": tuple(items), "notes": tuple(problems)}
        names = [found.path for found in planning.found]
        notes = {key: request.given[key] for key in ("fail_on", "no_llm") if key in request.given}
        seats = _seats(request)
        plan = make_plan(replace(request, given=given, notes={**request.notes, **notes}, seats=seats))
        topic = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        kept = {**plan.notes, "origins": origin_notes(planning.origins), "state": planning.state}
        return plan.model_copy(update={"topic": topic, "notes": kept})

    def deliver(self, result: ReviewResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> Delivery:
        if result.change is not None:
            if ending.sarif:
                report = sarif([as_finding(comment) for comment in result.change.comments])
                write_output(ending.sarif, f"{json.dumps(report, indent=2)}\n".encode(), force=ending.force)
            return Delivery(exit_code(result, plan))
        notes = list[str]()
        if ending.write and result.resumable and any(r.revised for r in result.artefacts):
            notes.append("nothing was written: the review has not ended")
        written, problems = write_revisions(result, plan, vault) if ending.write else ([], [])
        if written:
            notes.append(f"written: {', '.join(written)}")
        if noted := record_decisions(result, plan, frozenset(written)):
            notes.append(f"decision recorded in {noted}")
        return Delivery(exit_code(result, plan, frozenset(written)), tuple(notes), "; ".join(problems))


EXTENSION = ReviewExtension()


def parse_type(kind: str | None) -> ArtefactType | None:
    if kind is None:
        return None
    for known in TYPES:
        if kind.lower() in (known, f"{known}s"):
            return known
    raise UsageError(f"unknown type {kind!r}; known are {', '.join(TYPES)}")


def _artefact(found: FoundArtefact, context: str) -> Artefact:
    return Artefact(path=found.path, type=found.type, guessed=found.guessed, text=found.text, context=context)


def _seats(request: Request) -> dict[str, tuple[str, ...]]:
    """Seats and models: a profile chooses the adversary unless a flag does."""
    settings = request.settings
    seats = settings.seats("review")
    profile = str(settings["review.profile"])
    chosen = settings.resolved.get("seats.adversary")
    if profile and not request.given.get("no_llm") and (chosen is None or chosen.source != "flag"):
        seats["adversary"] = _models_of_profile(profile, settings, seats.get("adversary", ()))
    if not settings["review.defend"]:
        seats.pop("defender", None)
    return seats


def _models_of_profile(profile: str, settings: Settings, usual: Sequence[str]) -> tuple[str, ...]:
    """Your own profile of this name; else the one that the provider of the usual model brings."""
    key = f"review.profiles.{profile}"
    if key in settings.resolved:
        return tuple(settings[key])
    advice = f"set {key} to the adversary's model, e.g. in moot.toml"
    if profile not in BUILT_IN:
        raise UsageError(f"unknown profile {profile!r}: {advice}, or use {', '.join(BUILT_IN)}")
    provider, named, _ = usual[0].partition(":") if usual else ("", "", "")
    model = find_provider(provider).profiles.get(profile) if named else None
    if model is None:
        why = f"{provider} brings none" if provider else "no model says which provider you use"
        raise UsageError(f"no built-in profile {profile!r}: {why}; {advice}")
    return (f"{provider}:{model}",)


def exit_code(result: ReviewResult, plan: SessionPlan, written: frozenset[str] = frozenset()) -> int:
    """1 only with `--fail-on`: such a challenge or finding stands. 2: inconclusive or cut short."""
    gravity = plan.notes.get("fail_on")
    if not gravity or result.outcome in ("cancelled", "rejected"):
        return PROTOCOL.exit_code(result)
    if result.change is not None:
        if any(comment.severity in GRAVE[str(gravity)] for comment in result.change.comments):
            return 1
        unsure = result.outcome in UNSURE or (result.outcome == "structural_only" and not plan.notes.get("no_llm"))
        return CUT_SHORT if unsure or result.left_out else 0
    if any(stands(r, str(gravity), saved=r.revised is None or r.path in written) for r in result.artefacts):
        return 1
    unsure = any(
        r.outcome in UNSURE or (r.outcome == "structural_only" and not plan.notes.get("no_llm"))
        for r in result.artefacts
    )
    return CUT_SHORT if unsure or result.left_out else 0


def as_finding(comment: ReviewComment) -> Vulnerability:
    source: Source = "scan" if comment.evidence == "scan" else "executed" if comment.evidence == "test" else "model"
    return Vulnerability(
        id=comment.id,
        category="other",
        severity=comment.severity,
        description=comment.problem,
        evidence=comment.quote,
        file=comment.file,
        line=comment.line,
        fingerprint=comment.fingerprint,
        source=source,
        confidence={"test": 0.95, "scan": 0.8, "quote": 0.5}[comment.evidence],
        rule="review",
        fix=comment.suggestion,
    )


def stands(review: ArtefactReview, gravity: str, *, saved: bool) -> bool:
    """Whether something of this severity is left in the file. An unsaved revision fixes nothing."""
    grave = GRAVITIES[: GRAVITIES.index(gravity) + 1]
    faults = review.faults_left if saved else review.faults
    open_ones = [v for v in review.challenges if not v.confirmed or (v.state == "addressed" and not saved)]
    return any(f.severity in grave for f in faults) or any(v.challenge.severity in grave for v in open_ones)


def write_revisions(result: ReviewResult, plan: SessionPlan, vault: Vault) -> tuple[list[str], list[str]]:
    """Writes revised artefacts: returns those written, and why others were not. A resumable review writes nothing."""
    origins, written, problems = origins_of(plan), list[str](), list[str]()
    for review in result.artefacts if not result.resumable else ():
        if review.revised is None or review.path not in origins:
            continue
        text = vault.reveal(review.revised)
        if _holds(origins[review.path][0], text):  # a resumed session had written it already
            written.append(review.path)
            continue
        try:
            written += write_code({review.path: text}, origins)
        except UsageError as problem:
            problems.append(str(problem))
        except OSError as error:
            problems.append(f"{review.path} cannot be written: {error.strerror}")
    return written, problems


def _holds(path: str, text: str) -> bool:
    with contextlib.suppress(OSError):
        return Path(path).read_bytes() == text.encode("utf-8")
    return False


def record_decisions(result: ReviewResult, plan: SessionPlan, written: frozenset[str]) -> str:
    """Records the last decision on each artefact in STATE.md, once per session; returns its path."""
    place, decided = Path(str(plan.notes.get("state") or "")), [r for r in result.artefacts if r.decision]
    if result.resumable or not plan.notes.get("state") or not decided or not place.is_file():
        return ""
    try:
        before = text = place.read_bytes().decode("utf-8")
        for review in decided:
            saved = " (revised)" if review.path in written else " (revision not written)" if review.revised else ""
            decision = last_word(review.challenges, saved=review.path in written)
            line = f"[Review of {review.path}, {review.outcome.replace('_', ' ')}]: {decision}{saved}"
            text = with_decision(text, f"{result.session_id} {review.path}", line)
        if text != before:
            replace_file(place, text.encode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the decision could not be added to {place.name}: {error}") from None
    return str(place)


def planning_of(given: ReviewBody) -> ArtefactDesk:
    """The artefacts of a request as if from one planning folder."""
    if len(given.artefacts) > MOST_ARTEFACTS:
        raise UsageError(f"a session takes at most {MOST_ARTEFACTS} artefacts")
    if strange := [path for path in given.types if path not in given.artefacts]:
        raise UsageError(f"`types` names {strange[0]!r}, which is not among the artefacts")
    found = [_make_artefact(check_path(path), check_text(path, text), given) for path, text in given.artefacts.items()]
    found.sort(key=lambda each: ORDER.index(each.type))
    return ArtefactDesk(
        found=tuple(found),
        around=tuple(Neighbour(path=each.path, type=each.type, text=each.text) for each in found),
        context="\n".join(given.context.splitlines()[:HEAD_LINES])[:HEAD_CHARACTERS],
        config=None,
    )


def _make_artefact(path: str, text: str, given: ReviewBody) -> FoundArtefact:
    if path in given.types:
        return FoundArtefact(path, text, given.types[path], "as told by the request")
    guessed = guess(path, text)
    if guessed.type is None:
        raise UsageError(f"cannot tell what kind of artefact {path} is: {guessed.how}; set it in `types`")
    return FoundArtefact(path, text, guessed.type, guessed.how)
