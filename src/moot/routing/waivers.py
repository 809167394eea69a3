"""Whether a person's prompt waives debates: "just do it", in their own words and without a condition."""
# ruff: noqa: E501 - tables: one row a line

import re

from moot.routing.patterns import Lazy

BLOCKS = (
    Lazy(r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)"),
    Lazy(r"(?s)<!--.*?(?:-->|\Z)"),
    Lazy(r"(?s)<([A-Za-z][\w:-]*)\b[^<>]*>.*?(?:</\1\s*>|\Z)"),
)
"""Code, comments and tagged text: pasted into a prompt, not said in it."""
LINE = Lazy(r"[ \t]*(?:>|\||#|//|/\*|\*/|--|\+\S|-\S|@@|\d+[:|]\s)| {4,}|\t")
"""A line of a quotation, a table, a comment or a diff."""
LOG = Lazy(
    r"[ \t]*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d(?::\d\d)?\b|\[?(?:info|warn(?:ing)?|error|debug|trace|fatal|notice)\b\]?[:\s]|traceback\b|at \S+\(|[$%❯➜] )",
    re.IGNORECASE,
)
PASTED = "\n\n\x01\n\n"
QUOTED = Lazy(
    r"`[^`\n]*`|\"[^\"]*(?:\"|\Z)|“[^”]*(?:”|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|(?<!\w)'(?!\s)[^'\n]*?[^'\s]'(?!\w)|(?<!\w)‘[^\n]*?’(?!\w)"
)
"""Quoted words; an unclosed quotation continues to the end of its paragraph."""
SENTENCE = Lazy(r"[^.!?;\n…]+(?:\.(?=\w)[^.!?;\n…]*)*[.!?;…]*")
CLAUSE = Lazy(r",|\s[-–—]+\s|[()\[\]—–]|\s+(?:and|but|so|then|because|since|as)\s+(?!i\s+said)", re.IGNORECASE)
FILLER = (
    r"(?:ok(?:ay)?|yes|yeah|yep|no|nope|right|fine|alright|all right|sure|well|so|and|but|then|now|also|please|pls|plz|kindly|thanks|thank you|honestly|seriously|really|again|"
    r"go ahead|come on|you (?:can|may|should|could)|we can|let['’]?s|(?:as |like )?i(?: already| just)? (?:said|told you)(?: to)?|i (?:want|need|would like|['’]d like) you to|this time|for once|it['’]s (?:ok(?:ay)?|fine)|with this)"
)
TAIL = r"(?:please|pls|now|already|anyway|right away|immediately|at once|quickly|this time|for this(?: one| request| task)?|thanks|thank you|for me|then|today|again|on this(?: one)?|here|ok(?:ay)?)"
CERTAIN = r"(?:absolutely |very |quite |completely |100 ?% |totally |entirely )?"
WAIVERS = (
    r"just (?:do|run) (?:it|that|this|so)",
    r"(?:just )?skip (?:the |any |all |all the |every )?(?:confirmations?|debates?|questions|confirmation questions|confirmation step)",
    r"no (?:confirmations?|debates?|questions)(?: (?:is |are )?(?:needed|necessary|required|asked|please))?",
    r"(?:there(?:['’]s| is) )?no need (?:to (?:ask|confirm|debate|check with me|double[- ]check)|for (?:a |any )?(?:confirmations?|debates?|questions))(?: me| it| this| that| about it| about this| first)*",
    r"you (?:don['’]?t|do not) (?:need|have) to (?:ask|confirm|debate|check with me)(?: me| it| this| first| again)*",
    r"(?:do not|don['’]?t) (?:bother to )?(?:ask|debate)(?: me| it| this| that| again| any questions| questions| for (?:a )?confirmation| for permission| first)*",
    r"without (?:asking(?: me| first| again| for confirmation| any questions)*|(?:a |any )?confirmations?|(?:a |any )?debates?)",
    rf"i(?:['’]m| am) {CERTAIN}sure(?: about (?:this|it|that)| of (?:this|it|that))?",
    r"i know what i(?:['’]m| am) doing",
)
WAIVER = Lazy(rf"\W*(?:{FILLER}\W+)*(?:{'|'.join(WAIVERS)})(?:\W+{TAIL})*\W*", re.IGNORECASE)
WITHOUT = Lazy(rf"\W*(?:{FILLER}\W+)*(?P<verb>[a-z]+)\b[^:]*?\s(?:{WAIVERS[6]})(?:\W+{TAIL})*\W*", re.IGNORECASE)
"""`delete the cache without asking`: a requested action, with the waiver at its end."""
DEEDS = Lazy(
    r"(?:add|apply|build|bump|change|clean|clear|close|commit|continue|convert|copy|create|deploy|delete|disable|do|drop|edit|empty|enable|execute|finish|fix|format|go|install|kill|merge|migrate|move|proceed|"
    r"publish|pull|purge|push|rebase|refactor|release|remove|rename|replace|reset|restart|revert|rewrite|rotate|run|send|ship|start|stop|sync|tidy|truncate|uninstall|update|upgrade|upload|wipe|write)",
    re.IGNORECASE,
)
REPORTED = Lazy(
    r"\b(?:says?|said|saying|told|tells?|telling|wrote|writes?|written|asks?|asked|states?|stated|reads|reading|mentions?|mentioned|according to|claims?|claimed|means?|meant|meaning|called|titled|named|quotes?|quoted|"
    r"phrase|sentence|string|slogan|motto|message|documentation|comment|instructs?|instructed|suggests?|suggested|recommends?|insists?|thinks?|believes?|prints?|shows?|outputs?|contains?|e\.g\.?|i\.e\.?|example|translate|like)\b",
    re.IGNORECASE,
)
OWN_SPEECH = Lazy(r"\b(?:as |like )?i(?: already| just)? (?:said|told you)\b", re.IGNORECASE)
CONDITION = Lazy(
    r"\b(?:if|unless|when|whenever|once|until|till|after|before|as soon as|as long as|provided|assuming|in case|whether|while|should (?:it|they|the|this|that)|only|except|otherwise|depending|maybe|perhaps|almost|nearly|would|could have|might|wish|imagine|suppose)\b",
    re.IGNORECASE,
)
NEGATED = Lazy(
    r"\b(?:never|not|cannot|can['’]?t|won['’]?t|shouldn['’]?t|mustn['’]?t|isn['’]?t|wouldn['’]?t|didn['’]?t|doesn['’]?t|rather than|instead of|stop|avoid)\b",
    re.IGNORECASE,
)


def waives(prompt: str) -> bool:
    """Whether a sentence of its own says that nothing needs to be debated or confirmed."""
    return any(_waives(found[0]) for found in SENTENCE.finditer(drop_quoted_text(prompt)))


def drop_quoted_text(prompt: str) -> str:
    """Drop what is pasted or quoted, and what a line ending with a colon introduces."""
    text = prompt.replace("\r\n", "\n")
    for pattern in BLOCKS:
        text = pattern.sub(PASTED, text)
    own: list[str] = []
    introduced = False
    for paragraph in re.split(r"\n[ \t]*\n", text):
        if not paragraph.strip():
            continue
        lines = paragraph.split("\n")
        skipped, introduced = introduced, paragraph.rstrip().endswith(":")
        if not skipped and not any(LOG.match(line) for line in lines):
            own.append(QUOTED.sub(" ''", "\n".join(_own_lines(lines))))
    return "\n".join(own)


def _own_lines(lines: list[str]) -> list[str]:
    """The lines of a paragraph up to the one that introduces another speaker."""
    introduces = next((n for n, line in enumerate(lines) if _introduces(line)), len(lines))
    return [line for line in lines[:introduces] if not LINE.match(line)]


def _introduces(line: str) -> bool:
    before, colon, _ = line.partition(":")
    return line.rstrip().endswith(":") or bool(colon and REPORTED.search(OWN_SPEECH.sub("", before)))


def _waives(sentence: str) -> bool:
    if sentence.rstrip().endswith("?") or CONDITION.search(sentence):
        return False
    before = ""
    for clause in _clauses(sentence):
        if _is_waiver(clause) and not _is_reported(before):
            return True
        before += clause + ", "
    return False


def _clauses(sentence: str) -> list[str]:
    """The parts of a sentence; after a colon nothing counts, unless the words before it are the waiver."""
    head, colon, _ = sentence.partition(":")
    return [part for part in CLAUSE.compiled.split(head if colon else sentence) if part.strip()]


def _is_waiver(clause: str) -> bool:
    plain = re.sub(r"^\s*(?:[*•-]|\d+[.)])\s+", "", clause)
    if WAIVER.fullmatch(plain):
        return "''" not in plain
    ending = WITHOUT.fullmatch(plain)
    return ending is not None and DEEDS.fullmatch(ending["verb"]) is not None and not NEGATED.search(plain)


def _is_reported(before: str) -> bool:
    return bool(REPORTED.search(OWN_SPEECH.sub("", before)) or NEGATED.search(before) or "''" in before)
