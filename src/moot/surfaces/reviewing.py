"""`review` as every surface offers it: artefacts in, a session, a result, and the files it may be written to."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.edge.files.plans import Desk, Found
from moot.edge.files.sources import replace_file, write_code
from moot.evidence.artefacts.checkpoints import checkpoint
from moot.evidence.artefacts.state import with_decision
from moot.evidence.artefacts.values import GRAVITIES, Artefact, Neighbour
from moot.protocols.review.script import ArtefactReview, Reviewed, ReviewInput, ReviewResult, last_word
from moot.runtime.runner import Plan
from moot.surfaces.hardening import CUT_SHORT, INTERRUPTED, origins_of
from moot.surfaces.setup import Settings
from moot.text.secrets import Vault

UNSURE = ("inconclusive", "timed_out", "budget_exhausted")


def review_plan(settings: Settings, desk: Desk, vault: Vault, notes: Mapping[str, JsonValue]) -> Plan:
    """The session to run. Secrets in the artefacts are masked here, before anything else sees them."""
    vault.learn(desk.context, *(found.text for found in desk.found), *(near.text for near in desk.around))
    context, problems = vault.hide(desk.context), dict[str, None]()
    items = []
    for found in desk.found:
        wanted = checkpoint(desk.config, found.type)
        problems |= dict.fromkeys(wanted.problems)
        told = settings.resolved["review.max_rounds"].source == "flag"
        rounds = None if told else wanted.max_rounds
        off = "" if wanted.enabled else wanted.why
        items.append(Reviewed(artefact=_artefact(found, context, vault), max_rounds=rounds, off=off))
    given = ReviewInput(
        artefacts=tuple(items),
        around=tuple(Neighbour(path=n.path, type=n.type, text=vault.hide(n.text)) for n in desk.around),
        notes=tuple(problems),
        left_out=desk.left_out,
    )
    names = [found.path for found in desk.found]
    origins: JsonValue = {shown: list(origin) for shown, origin in desk.origins.items()}
    seats = _seats(settings)
    return Plan(
        protocol="review",
        topic=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        input=given.model_dump(mode="json"),
        rules=settings.rules("review"),
        limits=settings.limits(),
        gates=settings.gates("review"),
        seats=seats,
        notes={**notes, "origins": origins, "state": desk.state, **settings.endpoint_notes(seats)},
    )


def _artefact(found: Found, context: str, vault: Vault) -> Artefact:
    return Artefact(
        path=found.path, type=found.type, guessed=found.guessed, text=vault.hide(found.text), context=context
    )


def _seats(settings: Settings) -> dict[str, tuple[str, ...]]:
    """Who sits where: a profile chooses the adversary unless a flag does; without a defence nobody defends."""
    seats = settings.seats("review")
    profile = str(settings["review.profile"])
    if profile:
        key = f"review.profiles.{profile}"
        if key not in settings.resolved:
            raise UsageError(f"there is no profile {profile!r}: set {key} to the adversary's model, e.g. in moot.toml")
        chosen = settings.resolved.get("seats.adversary")
        if chosen is None or chosen.source != "flag":
            seats["adversary"] = tuple(settings[key])
    if not settings["review.defend"]:
        seats.pop("defender", None)
    return seats


def exit_code(result: ReviewResult, plan: Plan, written: frozenset[str] = frozenset()) -> int:
    """Advice ends with 0. Under `--fail-on` 1: such a challenge or finding stands; 2: nobody can say."""
    if result.outcome == "cancelled":
        return INTERRUPTED
    if result.outcome == "rejected":
        return CUT_SHORT
    gravity = plan.notes.get("fail_on")
    if not gravity:
        return 0
    if any(stands(r, str(gravity), saved=r.revised is None or r.path in written) for r in result.artefacts):
        return 1
    unsure = any(
        r.outcome in UNSURE or (r.outcome == "structural_only" and not plan.notes.get("no_llm"))
        for r in result.artefacts
    )
    return CUT_SHORT if unsure or result.left_out else 0


def stands(review: ArtefactReview, gravity: str, *, saved: bool) -> bool:
    """Whether something at least so grave is left in the file. What only an unsaved revision mends is left."""
    grave = GRAVITIES[: GRAVITIES.index(gravity) + 1]
    faults = review.faults_left if saved else review.faults
    open_ones = [v for v in review.challenges if not v.confirmed or (v.state == "addressed" and not saved)]
    return any(f.severity in grave for f in faults) or any(v.challenge.severity in grave for v in open_ones)


def write_revisions(result: ReviewResult, plan: Plan, vault: Vault) -> tuple[list[str], list[str]]:
    """Revised artefacts to their files: those that were written, and why others were not.
    A review that can be carried on is not at its end, and writes nothing."""
    origins, written, problems = origins_of(plan), list[str](), list[str]()
    for review in result.artefacts if not result.resumable else ():
        if review.revised is None or review.path not in origins:
            continue
        text = vault.reveal(review.revised)
        if _holds(origins[review.path][0], text):  # a resumed session that had written it already
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


def record_decisions(result: ReviewResult, plan: Plan, written: frozenset[str]) -> str:
    """The last word on each artefact into STATE.md, once however often a session is ended; gives its path."""
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
