"""What `echo`, `printf` and `cat <<EOF` print into a pipe, if the script contains it."""

from moot.routing.patterns import Lazy
from moot.routing.script import Command
from moot.routing.web import find_started_file

HIDING = Lazy(r"\\(?:x[0-9A-Fa-f]|u[0-9A-Fa-f]|U[0-9A-Fa-f]|0?[0-7]{2})")
"""Escapes that spell letters as numbers hide the output from the reader."""
FORMAT = Lazy(r"%[-+ #0]*\d*(?:\.\d+)?[sbqcdiuxXof]")


def find_printed_text(command: Command) -> str | None:
    """The text; None if unknown or obfuscated."""
    name = command.words[0].text if command.words else ""
    if name in ("echo", "printf"):
        words = [word.text for word in command.words[1:]]
        if HIDING.search(" ".join(words)):
            return None
        return (
            format_printf(words) if name == "printf" else unescape(" ".join(w for w in words if w not in ("-e", "-n")))
        )
    documents = [r.document.body for r in command.redirects if r.document is not None]
    return "\n".join(documents) if name == "cat" and documents and len(command.words) == 1 else None


def unescape(text: str) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t").replace("\\c", "")


def format_printf(words: list[str]) -> str:
    """printf repeats the format until no argument is left."""
    words = words[1:] if words[:1] in (["--"], ["-v"]) else words
    if not words:
        return ""
    form, rest = unescape(words[0]), words[1:]
    places = len(FORMAT.findall(form))
    if not places:
        return form.replace("%%", "%")
    printed = []
    for at in range(0, max(len(rest), 1), places):
        given = iter(rest[at : at + places])
        printed.append(FORMAT.sub(lambda _, given=given: next(given, ""), form))  # type: ignore[misc]
    return "".join(printed).replace("%%", "%")


def scripts_written_and_run(commands: tuple[Command, ...]) -> list[str | None]:
    """Scripts that the same command line writes and then runs; None for one with unknown text."""
    files: dict[str, str | None] = {}
    found = []
    for command in commands:
        texts = [word.text for word in command.words]
        name = find_started_file(texts)
        if name in files and not any(text.startswith(OTHER_LANGUAGES) for text in texts[:2]):
            found.append(files[name])
        targets = [r.target.text for r in command.redirects if r.sign in (">", ">>", ">|")]
        printer = command
        if texts[:1] == ["tee"] and command.fed_by:
            targets, printer = texts[1:], command.fed_by[-1]
        files.update({target.rsplit("/", 1)[-1]: find_printed_text(printer) for target in targets})
    return found


OTHER_LANGUAGES = ("python", "node", "perl", "ruby", "php")
