"""Finds the option a judge names, however written; two options, none, or an unknown one are errors."""

import re
from collections.abc import Sequence

from moot.protocols.decide.questions.values import QuestionOption

MARKUP = re.compile(r"[*`~]+|(?<![^\W_])_+|_+(?![^\W_])")
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
CALLED = re.compile(
    r"\b(?:options?|choice|alternative|answer|variant)\b[\s:#=\-\"'“(\[]*([^\W_][\w-]{0,15})", re.IGNORECASE
)
AGAINST = r"\b(?:not|never|against|avoid|reject\w*|except|neither|n['’]t)\b(?:\W+\w+){0,3}?\W+(?:option\W+)?"
SHORT = re.compile(r"[^\W_]{1,2}")
BEFORE = r"and|or|over|than|not|vs\.?|versus|with|for|choose|pick|recommend|prefer|of"
LONGEST = 2000


def option_named(said: str, options: Sequence[QuestionOption]) -> str:
    """The id of the one option that `said` names; `ValueError` tells the model what is wrong."""
    text = MARKUP.sub("", said[:LONGEST]).strip()
    named = [option.id for option in options if _by_id(option.id, text)]
    named += [option.id for option in _by_label(options, text) if option.id not in named]
    unknown = [] if _is_label(options, text) else _unknown(text, options)
    listed = ", ".join(option.id for option in options)
    if unknown:
        raise ValueError(f"there is no option {unknown[0]!r}; the options are {listed}")
    if len(named) > 1:
        raise ValueError(f"it names {' and '.join(named)}; name one option only")
    if named and re.search(AGAINST + re.escape(named[0]) + r"\b", text, re.IGNORECASE):
        raise ValueError(f"it says what not to choose; write one of {listed}, and nothing else")
    if not named:
        raise ValueError(f"it names no option; write one of {listed}")
    return named[0]


def _by_id(wanted: str, text: str) -> bool:
    """`A`, `a`, `(a)`, `A)`, `A: the small one`, `Option A`, `I choose A.`; not the article in "a good plan"."""
    name = re.escape(wanted)
    if re.fullmatch(rf"\W*(?:{name})\W*", text, re.IGNORECASE):
        return True
    if re.match(rf"\W*(?:{name})\s*(?:[):.\]\n,;]|[-–—=>]+\s)", text, re.IGNORECASE):
        return True
    if any(found.casefold() == wanted.casefold() for found in CALLED.findall(text)):
        return True
    if re.search(rf"[(\[\"'“‘](?:{name})[)\]\"'”’]", text, re.IGNORECASE):
        return True
    if re.search(rf"\b(?:{BEFORE})\s+(?:{name})(?=\W*$|[.,;:!?)])", text):
        return True
    if re.search(rf"(?:^|[,;/&+])\s*(?:{name})\s*(?:[,;/&+]|(?:and|or)\b)", text):
        return True
    # A single capital letter names an option; "A" and "I" are words too.
    return wanted not in ("A", "I") and bool(re.search(rf"(?<![\w'’-]){name}(?![\w'’-])", text))


def _by_label(options: Sequence[QuestionOption], text: str) -> list[QuestionOption]:
    """Options whose label is in the text; a label inside a longer matching one does not count."""
    said = f" {_words(text)} "
    there = [option for option in options if _words(option.label) and f" {_words(option.label)} " in said]
    return [o for o in there if not any(o is not p and _words(o.label) in _words(p.label) for p in there)]


def _is_label(options: Sequence[QuestionOption], text: str) -> bool:
    return any(_words(option.label) == _words(text) for option in options)


def _unknown(text: str, options: Sequence[QuestionOption]) -> list[str]:
    """Named as an option but unknown: "Option D", or a bare letter that no option has."""
    known = {option.id.casefold() for option in options}
    first = [found for found in CALLED.findall(text) if SHORT.fullmatch(found) and (found.isupper() or found.isdigit())]
    sole = re.fullmatch(r"\W*([^\W_]{1,2})\W*", text)
    return [letter for letter in (*first, *([sole[1]] if sole else [])) if letter.casefold() not in known]


def _words(text: str) -> str:
    return " ".join(WORD.findall(MARKUP.sub("", text).casefold()))


FOR = r"\b(?:recommend|choose|pick|prefer|favou?r|support|go with|vote for)(?:s|ing)?\W+(?:(?:the|for)\W+)?{name}"
BEST = r"{name}(?:\W+\w+){{0,3}}?\W+(?:is|remains)\W+(?:\w+\W+){{0,2}}?(?:best|better|safest|safer|right|strongest)\b"
YIELDS = re.compile(r"\W*(?:although|though|even|while|whereas)\b", re.IGNORECASE)


def find_favoured(reasons: str, options: Sequence[QuestionOption]) -> str:
    """The one option that the reasons clearly recommend; empty if none or several."""
    text = MARKUP.sub("", reasons[:LONGEST])
    clauses = [clause for clause in re.split(r"[.;!?\n]", text) if clause.strip() and not YIELDS.match(clause)]
    found = [option.id for option in options if any(_recommends(clause, option) for clause in clauses)]
    return found[0] if len(found) == 1 else ""


def _recommends(clause: str, option: QuestionOption) -> bool:
    label = re.escape(option.label.strip())
    name = rf"(?:(?:option\W{{0,3}})?(?-i:{re.escape(option.id)})(?![\w'’-])" + (rf"|{label}\b)" if label else ")")
    if re.search(AGAINST + name, clause, re.IGNORECASE):
        return False
    return any(re.search(form.format(name=name), clause, re.IGNORECASE) for form in (FOR, BEST))
