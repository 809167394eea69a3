"""Go rules for what a server sends, reads and adds to its files."""

import re

from moot.core.secret_patterns import SECRET_BESIDE
from moot.scan.engine.rulebook import Sink, Site, When
from moot.scan.engine.values import BUILT
from moot.scan.go.rules import flaws as flaw
from moot.scan.go.rules import patterns as known
from moot.scan.go.rules.claims import HANDLES
from moot.scan.go.rules.when import SURE, is_const, number, sink
from moot.scan.rules.when import finds, is_dated_line

PRIVATE = re.compile(SECRET_BESIDE)
BOUNDED = re.compile(r"MaxBytesReader|ContentLength\s*[<>]|[<>]=?\s*[\w.]*ContentLength")


LOG = re.compile(
    r"[aA]udit|[jJ]ournal|(?<![A-Za-z])log(?:ger|[fF]ile|s)?(?![a-z])|(?<!Cata)(?<!Dia)Log(?:ger|[fF]ile|s)?(?![a-z])"
)
"""In the head of a function: its name, its receiver, its parameters."""


def _is_location(site: Site) -> bool:
    return is_const(site.arg(0), "Location", "location") and "Header" in site.name


def _is_entry(site: Site) -> bool:
    """A line of a log that is written by hand, whatever its file is called."""
    built = any(BUILT in value.marks for place in (0, 1) if (value := site.arg(place)) is not None)
    return (built or site.name.startswith("fmt.")) and is_dated_line(site.text(), site.around())


def _is_log_line(site: Site) -> bool:
    """A line with values in it, written by a function that says that it is about a log."""
    values = [value for place in (0, 1) if (value := site.arg(place)) is not None]
    around = site.around()
    built = site.name.startswith("fmt.") or any(BUILT in value.marks for value in values)
    return built and r"\n" in around and LOG.search(around.partition("{")[0]) is not None


def _is_readable(place: int) -> When:
    def check(site: Site) -> bool:
        mode = number(site.arg(place))
        about = f"{site.text()} {site.words()}"
        return mode is not None and bool(mode & 0o044) and not mode & 0o022 and PRIVATE.search(about) is not None

    return check


def _makes_secret(site: Site) -> bool:
    """`os.Create` lets everybody read."""
    return PRIVATE.search(f"{site.text()} {site.words()}") is not None


def _reads_whole_body(site: Site) -> bool:
    body = site.arg(0)
    named = body is not None and body.name.endswith("Request.Body")
    around = site.around()
    return named and finds(HANDLES, around) and not finds(BOUNDED, around)


LIMITS = tuple(
    f"{first}{rest}" for first in ("max", "Max") for rest in ("Body", "Request", "Payload", "Upload", "JSON")
)
"""With which the name of a limit begins that a file has."""


def _decodes_beyond_limit(site: Site) -> bool:
    """The file says how long a body may be, and the function does not ask."""
    body, around = site.arg(0), site.around()
    named = body is not None and body.name.endswith("http.Request.Body") and "http.ResponseWriter" in around
    return named and any(site.contains(word) for word in LIMITS) and re.search(r"[lL]imit|Max", around) is None


SINKS: tuple[Sink, ...] = (
    sink(known.REDIRECT, "redirect", ".Set .Add", 1, when=_is_location, floor=SURE),
    sink(flaw.LOG, "log", "fmt.Fprintf fmt.Fprintln fmt.Fprint", 1, 2, 3, 4, when=_is_entry, floor=SURE),
    sink(flaw.LOG, "log", ".WriteString io.WriteString", 0, 1, when=_is_entry, floor=SURE),
    sink(flaw.LOG, "log", ".WriteString .Write io.WriteString", 0, 1, when=_is_log_line, floor=SURE),
    sink(flaw.LOG, "log", "fmt.Fprintf fmt.Fprint", 1, 2, 3, 4, 5, when=_is_log_line, floor=SURE),
    sink(flaw.READABLE, "mode", "os.WriteFile io/ioutil.WriteFile os.OpenFile", when=_is_readable(2)),
    sink(flaw.READABLE, "mode", "os.Create", when=_makes_secret),
    sink(flaw.UNLIMITED, "size", "io.ReadAll io/ioutil.ReadAll", when=_reads_whole_body),
    sink(flaw.UNLIMITED, "size", "encoding/json.NewDecoder encoding/xml.NewDecoder", when=_decodes_beyond_limit),
)  # fmt: skip
