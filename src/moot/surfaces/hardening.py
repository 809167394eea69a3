"""`harden` as every surface offers it: code in, a session, a result, and the files it may be written to."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import JsonValue

from moot.core.types import Code, Tests
from moot.edge.files.sources import Gathered, Origins, read_tests, write_code
from moot.protocols.harden.script import HardenInput, HardenResult
from moot.runtime.runner import Plan
from moot.surfaces.setup import Settings
from moot.text.secrets import Vault

EXIT_CODES = {"hardened": 0, "risk_accepted": 0, "unresolved": 1}
CUT_SHORT = 2
INTERRUPTED = 130


def exit_code(result: HardenResult) -> int:
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES.get(result.outcome, CUT_SHORT)


def harden_plan(
    settings: Settings, gathered: Gathered, vault: Vault, tests: str | Tests | None, notes: Mapping[str, JsonValue]
) -> Plan:
    """The session to run. Secrets in the code are masked here, before anything else sees it."""
    asked = given_tests(tests) if tests else None
    learn_all(vault, gathered.code, asked)
    given = HardenInput(
        code=hidden(gathered.code, vault),
        tests=hidden_tests(asked, vault) if asked else None,
        left_out=gathered.left_out,
    )
    names = [file.path for file in given.code.files]
    origins: JsonValue = {shown: list(origin) for shown, origin in gathered.origins.items()}
    seats = settings.seats("harden")
    return Plan(
        protocol="harden",
        topic=names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more",
        input=given.model_dump(mode="json"),
        rules=settings.rules("harden"),
        limits=settings.limits(),
        gates=settings.gates("harden"),
        seats=seats,
        notes={**notes, "origins": origins, **settings.endpoint_notes(seats)},
    )


def hidden(code: Code, vault: Vault) -> Code:
    masked = (
        f.model_copy(update={"text": vault.hide(f.text), "base": f.base and vault.hide(f.base)}) for f in code.files
    )
    return code.model_copy(update={"files": tuple(masked)})


def learn_all(vault: Vault, code: Code | None, *tests: Tests | None) -> None:
    """All files first: what is a secret by its name in one is the same secret in another, where it has no name."""
    texts = [text for file in (code.files if code else ()) for text in (file.text, file.base or "")]
    vault.learn(*texts, *(text for each in tests if each for _, text in each.files))


def given_tests(tests: str | Tests) -> Tests:
    """Those at a path, or the tests themselves."""
    return read_tests(tests) if isinstance(tests, str) else tests


def hidden_tests(tests: Tests, vault: Vault) -> Tests:
    return tests.model_copy(update={"files": tuple((path, vault.hide(text)) for path, text in tests.files)})


def origins_of(plan: Plan) -> Origins:
    kept = plan.notes.get("origins")
    return (
        {str(k): (str(v[0]), str(v[1])) for k, v in kept.items() if isinstance(v, list)}
        if isinstance(kept, dict)
        else {}
    )


def learn_secrets(origins: Origins, vault: Vault) -> None:
    """On resume: the masked secrets are in no record, so they are looked up in the files again."""
    for path, _ in origins.values():
        if Path(path).is_file():
            text = Path(path).read_text(encoding="utf-8", errors="replace")
            vault.learn(text)
            vault.hide(text)


def write_result(result: HardenResult, plan: Plan, vault: Vault) -> list[str]:
    """Patched files back to disk, with their secrets; gives the paths that were written."""
    given = HardenInput.model_validate(plan.input).code
    changed = {f.path: result.final_files[f.path] for f in given.files if result.final_files.get(f.path) != f.text}
    origins = origins_of(plan)
    return write_code({path: vault.reveal(text) for path, text in changed.items() if path in origins}, origins)
