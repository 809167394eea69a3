"""Whether a challenge's evidence can be checked: an actual quote, an existing part, a missing thing."""

import re
from functools import lru_cache

from moot.evidence.artefacts.requirement_ids import ids_in
from moot.evidence.artefacts.values import ArtefactFault
from moot.text.markdown import normalise, words_of

NONE = re.compile(
    r"\W*+(?:n/?a|none|nothing|not applicable|not available|no evidence(?: (?:given|provided|available))?|unknown|tbd"
    r"|see (?:above|concern)|as above|obvious(?:ly)?|self[- ]evident|common sense)?\W*",
    re.IGNORECASE,
)
QUOTE = re.compile(
    r"\"([^\"\n]{3,400})\"|“([^”\n]{3,400})”|`([^`\n]{3,400})`|«([^»\n]{3,400})»|(?<!\w)'([^'\n]{8,400})'(?!\w)"
)
PART = re.compile(
    r"\b(?:phase|task|requirement|section|line|row|step|truth|criterion|plan)\s+#?\d+(?:\.\d+)*\b", re.IGNORECASE
)
ABSENT = re.compile(
    r"\bmissing\b|\black(?:s|ing)?\b|\bwithout\b|\babsent\b|\bnowhere\b|\bomit(?:s|ted)?\b|\bnothing\b|\bnone of\b"
    r"|\bunspecified\b|\bundefined\b|\bno\b (?:\w+ ){0,3}\w+"
    r"|\b(?:does|do|did|is|are|was|were|has|have)(?: not|n't) (?:\w+ ){0,1}?(?:mention|include|defin|specif|stat|say"
    r"|said|cover|list|address|describ|explain|contain|provid|show|name|check|test|have|give|given|detail|mapped|present"
    r"|set)"
    r"|\bnever (?:mention|say|said|state|check|test|define|specif)",
    re.IGNORECASE,
)
RUN = 4
"""This many consecutive words of the artefact are a quote, with or without marks."""


def flaw_in_evidence(concern: str, evidence: str, material: str) -> str:
    """Why this evidence does not count; empty if it can be checked against `material`."""
    said = normalise(evidence)
    if NONE.fullmatch(evidence) or not said:
        return "no evidence was given"
    if said == normalise(concern):
        return "the evidence only repeats the concern"
    shown, absent = _normal(material), bool(ABSENT.search(evidence))
    quotes = [next(filter(None, match)) for match in QUOTE.findall(evidence)]
    if any(_is_quoted(quote, shown) for quote in quotes):
        return ""
    if quotes and not absent:
        return f"it quotes what is not there: {_short(quotes[0])!r}"
    known = set(ids_in(material))
    named = ids_in(evidence)
    if named and not absent and not known & set(named):
        return f"it names {named[0]}, which is not there"
    parts = [part[0].lower() for part in PART.finditer(evidence)]
    if absent or known & set(named) or _shares_a_run(evidence, shown) or any(_is_quoted(part, shown) for part in parts):
        return ""
    return "nothing in the evidence can be checked"


def _is_quoted(quote: str, shown: str) -> bool:
    """Verbatim, except for what an ellipsis left out."""
    pieces = [normalise(piece) for piece in re.split(r"\.{3,}|…|\[[^\]]*\]", quote)]
    return any(pieces) and all(f" {piece} " in shown for piece in pieces if piece)


def _shares_a_run(evidence: str, shown: str) -> bool:
    words = words_of(evidence)
    runs = (" ".join(words[at : at + RUN]) for at in range(len(words) - RUN + 1))
    return any(f" {run} " in shown for run in runs) or f" {' '.join(words)} " in shown


@lru_cache(maxsize=8)
def _normal(text: str) -> str:
    return f" {normalise(text)} "


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


STEM, SHARE = 4, 0.6
"""Letters by which two forms of a word are equal, and the share of a finding that a challenge must repeat."""
TERM = re.compile(r"[a-z]{4,}")


def repeats_fault(said: str, fault: ArtefactFault) -> bool:
    """Whether a challenge repeats a structural finding: the same ids and most of its words."""
    named, wanted = set(ids_in(said)), set(ids_in(fault.what))
    if not wanted <= named or (wanted and named - wanted):
        return False
    terms = _terms(fault.what)
    return bool(terms) and len(terms & _terms(said)) >= SHARE * len(terms)


def _terms(text: str) -> set[str]:
    return {word[:STEM] for word in TERM.findall(text.lower())}
