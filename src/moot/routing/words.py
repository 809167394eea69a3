"""Vocabulary of requests: what asks for an action, what raises the stakes, what only sounds dangerous."""
# ruff: noqa: E501 - tables: one row a line

import re

from moot.core.secret_patterns import SPOKEN
from moot.routing.patterns import Lazy


def words(*alternatives: str) -> Lazy:
    return Lazy(r"(?<![\w-])(?:" + "|".join(alternatives) + r")(?![\w-])", re.IGNORECASE)


def action_verbs(*alternatives: str) -> Lazy:
    """Verbs: `deploy`, but not the one in `docs/deploy.md` or `user.delete`."""
    return Lazy(r"(?<![\w/.@#-])(?:" + "|".join(alternatives) + r")(?![\w/-]|\.\w)", re.IGNORECASE)


QUESTION = words(
    r"what (?:is|are|was|were|does|do|did|would|happens|if|kind|exactly|about|makes|should)", r"what['’]s", r"explain",
    r"how (?:does|do|did|is|are|can|could|should|would|to|come|much|many|long|often)", r"how['’]s", r"why",
    r"should (?:i|we)", r"do you", r"did you", r"when (?:is|should|do|does|did|would|was)", r"tell me (?:about|what|why|how|if)",
    r"is (?:it|there|this|that|the)", r"are (?:there|these|those|we|you|the)", r"does", r"did", r"was", r"were", r"which", r"who(?:['’]s)?",
    r"where", r"what", r"describe", r"compare", r"define", r"has", r"have (?:you|we)", r"am i", r"would (?:it|that|this)",
    r"can (?:i|we|it|this|that)", r"could (?:i|we|it)", r"may i", r"difference between", r"thoughts on", r"any (?:idea|thoughts)",
)  # fmt: skip
PURE_QUESTION = words(
    r"what (?:is|are)", r"what['’]s", r"explain", r"how (?:does|do|is|are|can|to|would|should)", r"why", r"should (?:i|we)", r"do you",
    r"when (?:is|should|do|does)", r"tell me (?:about|why|how)", r"define", r"compare", r"difference between", r"thoughts on",
)  # fmt: skip

OPENING = Lazy(
    r"(?:\W|\b(?:please|pls|kindly|hey|hi|hello|ok|okay|so|now|then|next|first|finally|also|and|just|simply|quickly|great|thanks|right|"
    r"i(?:['’]d| would) like (?:you )?to|i(?:['’]m going| am going) to|i (?:want|need)(?: you)? to|we (?:need|want|have|should|must)(?: to)?|"
    r"(?:can|could|would|will) you|go ahead and|let['’]?s|you (?:should|must|can|need to|have to)|make sure (?:to|you)|"
    r"time to|try to|feel free to|it['’]s time to|your (?:task|job) is to|help me(?: to)?|i['’]ll|we['’]ll|i will|we will)\b)*",
    re.IGNORECASE,
)

EXTERNAL = Lazy(
    r"https?://|(?<![\w.-])[\w-]{1,80}\.(?:ts|md|js|py|json|ya?ml|tsx|jsx|go|rs|java|rb|php|c|h|cpp|sh|sql|toml|txt|csv|html|css|ini|cfg|conf|lock|env|log|tf)\b"
    r"|(?<!\w)\.env\b|(?<![\w/])(?:~/|\.\.?/|/(?=\w)|src/)|```|(?<![\w/.-])[\w.-]{1,80}/\w",
    re.IGNORECASE,
)
ACTION_GROUPS = {
    "work": words(
        r"fix(?:es|ing)?", r"debug", r"implement", r"create", r"update", r"delete", r"refactor", r"tests?", r"add", r"write", r"change",
        r"rename", r"move", r"build", r"install", r"upgrade", r"remove", r"replace", r"edit", r"convert", r"migrate", r"merge", r"revert",
        r"drop", r"clean", r"set up", r"configure", r"generate", r"bump", r"rewrite", r"patch", r"make", r"format", r"lint", r"wipe", r"purge",
        r"truncate", r"overwrite", r"erase", r"improve", r"optimi[sz]e", r"rotate", r"reset", r"commit", r"push", r"publish", r"release", r"ship",
        r"enable", r"disable", r"modify", r"adjust", r"tidy", r"simplify", r"extract", r"copy", r"import", r"export", r"undo", r"roll ?back",
        r"archive", r"kill", r"uninstall", r"nuke", r"get rid of", r"clear", r"empty", r"sort out", r"deal with", r"handle", r"do it", r"send", r"upload", r"download",
        r"back ?up", r"restore", r"sort", r"tokeni[sz]e", r"compile", r"retry", r"re-?run", r"pull", r"clone", r"increase", r"decrease", r"reduce", r"raise", r"lower", r"encrypt", r"decrypt", r"document", r"allow", r"block", r"turn (?:on|off)", r"split", r"wrap", r"integrate", r"connect", r"mock", r"rebase", r"squash", r"tag", r"resolve", r"review", r"audit", r"let(?= \w+ (?:use|access|read|write))", r"swap", r"switch", r"hide", r"append", r"insert", r"mark", r"duplicate", r"compress", r"encode", r"cache", r"validate", r"ensure", r"introduce", r"port",
        r"apply", r"sync", r"backfill", r"scale", r"provision", r"terminate", r"destroy", r"grant", r"revoke", r"expose", r"open", r"close", r"use",
    ),
    "search": words(r"search", r"find", r"look (?:for|at|up|into)", r"grep", r"locate", r"list", r"show", r"check", r"read", r"count", r"view", r"print", r"display", r"dump", r"summari[sz]e"),
    "run": words(r"run", r"execute", r"deploy", r"start", r"stop", r"restart", r"launch", r"trigger", r"reboot", r"go live", r"roll out"),
    "memory": words(r"remember", r"save", r"store", r"recall", r"note"),
    "code": words(r"codebase", r"repo", r"repository", r"project", r"our code"),
}  # fmt: skip

DESTRUCTIVE = (
    r"delet(?:e|es|ing)", r"drop(?:ping)?", r"remov(?:e|es|ing)", r"truncat(?:e|ing)", r"overwrit(?:e|ing)", r"eras(?:e|ing)", r"wip(?:e|ing)(?: out)?",
    r"purg(?:e|ing)", r"destroy(?:ing)?", r"nuk(?:e|ing)", r"uninstall(?:ing)?", r"terminat(?:e|ing)", r"force[- ]push(?:ing)?", r"hard[- ]reset",
    r"get rid of", r"throw away", r"tear down", r"trash", r"obliterate", r"shred", r"discard", r"format(?= (?:the |my |this |that )?(?:disk|drive|partition|volume|usb|sd card|hard|[a-z]:))",
    r"reset(?= .{0,40}\b(?:database|db|production|prod|schema|environment|--hard|hard|data)\b)", r"flush(?= .{0,30}\b(?:redis|cache|database|queue|tables?|rules)\b)",
    r"empty(?= .{0,30}\b(?:bucket|trash|table|database|db|folder|directory|queue)\b)", r"clear(?= .{0,30}\b(?:database|db|table|bucket|data|history|records|logs)\b)",
    r"rm", r"kill(?= .{0,30}\b(?:production|prod|database|all|every)\b)", r"roll ?back(?= .{0,40}\b(?:production|prod|database|migration|release|deploy\w*)\b)",
)  # fmt: skip
DEPLOYMENT = (
    r"deploy(?:ing)?", r"re-?deploy", r"publish(?:ing)?", r"release", r"roll ?out", r"ship(?= (?:it|this|that|to|v?\d|the (?:release|build|new)))", r"go live",
    r"promot(?:e|ing)(?= .{0,40}\b(?:prod\w*|live|staging)\b)", r"cut (?:a|the) (?:new )?release", r"push(?:ing)?(?= .{0,60}\b(?:prod|production|main|master|live|registry|npm|pypi|docker ?hub)\b)",
    r"merge(?= .{0,60}\b(?:in)?to (?:the )?(?:prod|production|main|master)\b)", r"bring .{1,30} live", r"switch .{0,30} over to prod\w*",
    r"(?:stop|restart|shut ?down|take down|scale|reboot|change|update|modify|edit|patch)(?= .{0,40}\b(?:prod|production)\b)", r"merge(?= .{0,30}\b(?:pr|pull request|mr|merge request)\b)",
    r"(?:start|trigger|kick off|perform|do|run|begin|execute)(?= (?!not\b)(?:a |the |an |another )?(?:\w+ ){0,2}(?:deploy(?:ment)?|release|roll ?out)\b)",
    r"(?:run|apply|execute)(?= .{0,40}\bmigrations?\b.{0,40}\b(?:prod|production|live)\b)", r"upload(?= .{0,40}\b(?:pypi|npm|app store|play store|prod|production)\b)",
)  # fmt: skip
VERBS = {"destructive": action_verbs(*DESTRUCTIVE), "deployment": action_verbs(*DEPLOYMENT)}

SECURITY = words(
    r"auth(?:n|z)?", r"authenticat(?:e|es|ion|ing)", r"authori[sz](?:e|es|ation|ing)", r"o?auth2?", r"sso", r"jwts?", r"saml", r"2fa", r"mfa",
    r"tokens?", r"passwords?", r"passwd", r"passphrases?", r"secrets?", r"keys?", r"api[-_ ]?keys?", r"credentials?", r"creds",
    r"private[-_ ]keys?", r"ssh[-_ ]keys?", r"certificates?", r"\.env", r"id_rsa", r"firewall", r"(?:sudo|root|admin) (?:access|rights|privileges|permissions)", r"(?:make|set) .{1,30} public(?:ly \w+)?",
    r"access control", r"iam", r"security groups?", r"encryption", r"(?:csrf|cors|tls|ssl)(?= (?:check|verif|valid|protect)\w*)", r"sudoers",
)  # fmt: skip
HARMLESS_SECURITY = Lazy(
    r"\b(?:primary|foreign|partition|sort|sorting|composite|surrogate|natural|dict(?:ionary)?|json|ya?ml|map|hash|object|arrow|shortcut|hot|escape|esc|enter|"
    r"return|tab|delete|backspace|shift|ctrl|alt|space|unique|index|i18n|translation|locale|lookup|cache|query|react|answer|row|redis|config(?:uration)?|header|low|off|minor|major|musical|piano|"
    r"column|duplicate|missing|unknown|attribute|settings?|option|group(?:ing)?|join|is|are|the) keys?\b(?! (?:file|pair|rotation))(?<!\bthe key)(?<!\bthe keys)"
    r"|\bkeys?[- ](?:values?|press(?:es|ed)?|ups?|downs?|bindings?|frames?|boards?|maps?|names?|points?|features?|metrics?|results?|takeaways?|ideas?|findings?|files|"
    r"parts?|steps?|differences?|codes?|events?|handlers?|errors?|concepts?|decisions?|players?|lookups?|order(?:ing)?|functions?|components?|modules?|questions?|"
    r"columns?|prop|props|warning|areas?|aspects?|insights?|requirements?|stakeholders?|performance|indicators?|words?|phrases?|lights?|signature|strokes?)\b"
    r"|\b(?:max(?:imum)?|min(?:imum)?|input|output|prompt|completion|lexer|parser|next|end|stop|unknown|unexpected|syntax|per|eof|total|how many|number of|fewer|more|"
    r"\d+k?|string|keyword|operator|padding|special|mask|csrf-free|design|colou?r|spacing) tokens?\b"
    r"|\btokens?[- ](?:counts?|counter|limits?|budgets?|usage|windows?|lengths?|streams?|types?|kinds?|ring|per|used|bucket|id|ids|ization|izer|stream|costs?|position|offsets?|class|list|array)\b"
    r"|\b(?:the )?keys? (?:of|in|from) (?:the|a|this|that|each|my) (?:dict\w*|map|object|json|hash\w*|response|payload|config)\b|\bsecret santa\b|\bopen secret\b|\b(?:by|sort(?:ed)?|iterate over|over) (?:the )?keys?\b"
    r"|\bauth(?:or|ors|ored|entic)\b",
    re.IGNORECASE,
)
BULK = words(
    r"all", r"every", r"every(?:thing|one|where)", r"entire(?:ly)?", r"whole", r"each (?:and every )?(?:file|record|row|user|repo|service|module)", r"in bulk", r"mass",
    r"across (?:the|our|this) (?:\w+ )?(?:repo\w*|codebase|project|organi[sz]ation|org|monorepo|fleet)", r"\*(?:\.\w+)?", r"[\w/]{1,80}/\*(?:\.\w+)?", r"thousands of", r"hundreds of", r"recursively",
)  # fmt: skip
HARMLESS_BULK = Lazy(
    r"\b(?:at all|after all|all good|all right|all set|above all|first of all|all the best|that['’]s all|is all|all of a sudden|every time|every(?:day| day)|"
    r"every (?:\d+ )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|other|now)|everyone (?:knows|loves)|all at once|all day|by all means|once and for all|whole number|call all|catch[- ]all)\b"
    r"|\ball (?:the )?(?:unit |integration |e2e |our |of the |existing |failing )?(?:tests?|checks|linters?|specs)\b|\bentire (?:test )?suite\b|\bwhole (?:test )?suite\b|\bthe test suite\b"
    r"|\bselect \*|\*{2,}|\d ?\* ?\d|/\*|\*/|\bif all\b|\bis all\b|\bfor all intents\b|\bwhere all\b",
    re.IGNORECASE,
)
VAGUE = words(
    r"stuff", r"things?", r"whatever", r"somehow", r"something", r"everything", r"anything", r"some (?:files|code|changes|records|rows|data|of)", r"various", r"several", r"etc",
    r"and so on", r"as (?:needed|necessary|appropriate|you see fit)", r"where(?:ver)? (?:needed|appropriate|necessary)", r"clean(?: it| this| that| things)? ?up", r"tidy(?: it| this| that)? up", r"make (?:it|this|that) (?:better|work|nicer|faster|good|nice|right)",
    r"old (?:ones|data|records)", r"unused (?:ones|files|data|records|resources)", r"the rest", r"the usual", r"properly", r"sort (?:it|this|that) out", r"deal with (?:it|this|that)",
    r"do (?:it|this|that|what(?:ever)? .{1,20})", r"fix (?:it|this|that|them)", r"handle (?:it|this|that)", r"improve (?:it|this|that|performance|things|the (?:code|app|project|performance))",
    r"optimi[sz]e (?:it|this|that|the (?:code|app|project))", r"refactor (?:it|this|that|the (?:code|app|project|codebase))", r"update (?:it|this|that|the (?:code|app|project))", r"mess", r"maybe", r"probably", r"or so",
)  # fmt: skip
NEGATED = Lazy(
    r"(?:\b(?:do not|don['’]?t|never|not|without|avoid|no need to|instead of|rather than|stop|prevent|refuse to|must not|mustn['’]?t|shouldn['’]?t|should not|cannot|can['’]?t|won['’]?t|doesn['’]?t|didn['’]?t)\s+(?:\w+\s+){0,2})$",
    re.IGNORECASE,
)
SMALL_THINGS = Lazy(
    r"(?:\s+(?:the|a|an|any|all|this|that|these|those|its|our|my|unused|extra|stray|trailing|leading|duplicate[d]?|redundant|dead|old|obsolete|unnecessary|second|first|last|"
    r"empty|blank|debug|commented(?:-out)?|temporary|leftover|double|unneeded|outdated|hard-?coded|wrong|superfluous|deprecated|\w+\(\)|`[^`]{1,60}`|['\"][^'\"]{1,60}['\"]))*"
    r"\s+(?:imports?|whitespaces?|spaces?|lines?|newlines?|comments?|typos?|words?|semi-?colons?|commas?|variables?|print(?:s| statements?)?|console\.logs?|log statements?|logging calls?|"
    r"parameters?|arguments?|params?|args?|warnings?|characters?|letters?|brackets?|parenthes[ie]s|blank|todos?|fixmes?|decorators?|type hints?|annotations?|assertions?|sentences?|paragraphs?|"
    r"headings?|bullets?|emojis?|punctuation|margin|padding|borders?|css|class(?:es)? names?|suffix(?:es)?|prefix(?:es)?|underscores?|hyphens?|quotes?|indentation|duplication|duplicates from (?:a|the) (?:list|array)|noise|flicker|lag|bug|dependency on \w+|code)\b",
    re.IGNORECASE,
)
LOOKS = Lazy(
    r"(?:\s+(?!and\b|or\b|from\b|in\b|of\b|all\b|every\b|tables?\b|databases?\b|files?\b|folders?\b|records?\b|data\b|users?\b|accounts?\b)[\w#'’-]+){0,4}?"
    r"\s+(?:borders?|outlines?|underlines?|underlining|shadows?|margins?|paddings?|gaps?|spacing|backgrounds?(?: colou?rs?| images?)?|colou?rs?|gradients?|fonts?|icons?|logos?|badges?|tooltips?|"
    r"placeholders?|labels?|captions?|headings?|headlines?|banners?|dividers?|separators?|scroll ?bars?|animations?|transitions?|hover(?: effects?| states?)?|effects?|rounded corners?|corners?|"
    r"buttons?|checkbox(?:es)?|dropdowns?|spinners?|sidebars?|footers?|headers?|tabs?|popups?|toasts?|breadcrumbs?|avatars?|thumbnails?|carousels?|dark mode|text|stripes?|bullets?|arrows?|dots?|opacity|bold|italics?)"
    r"(?=\s*(?:$|[.,;:!?)]|(?:from|on|in|around|of|between|under|above|below|at|when|for|and|so|to|with|that|which|next|after|before)\b))",
    re.IGNORECASE,
)
"""Appearance of a page: removing a red border is an edit like any other."""
NOUN_AFTER = Lazy(
    r"[- ](?:buttons?|endpoints?|icons?|links?|labels?|keys?|handlers?|dialogs?|modals?|actions?|menus?|methods?|functions?|pages?|forms?|flags?|options?|commands?|routes?|apis?|tests?|"
    r"notes?|dates?|docs?|documentation|guides?|diagrams?|scripts?|candidates?|branch(?:es)?|cycles?|downs?|shadows?|zones?|caps?|areas?|rates?|in replacement|workflows?|jobs?|pipelines?|steps?|logic|statements?|"
    r"queries|query|events?|confirmation|permission|calls?|marker|operation|operator|feature|semantics|behaviou?r|status|logs?|checklist|manager|plan|process|section|paragraph|hooks?|targets?|policy|policies|requests?|subscribe|down|tag names?)\b",
    re.IGNORECASE,
)
NOUN_BEFORE = Lazy(
    r"\b(?:a|an|the|this|that|each|every|any|our|my|your|its|their|soft|hard|on|of|for|cascade|cascading|bulk|last|latest|next|previous|current|new|press|first|no|"
    r"when|after|before|while|where|if|why|whether|by|which|who|user|users|button|called|named|about|test|tests|testing|covers?|documenting|explaining|bug in|handle|handles|handling|support|supports|supporting)\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
OTHER_SENSE = Lazy(
    r"^(?:release|releasing)\s+(?:the |a |all |any |its |our )?(?:\w+ )?(?:locks?|mutex(?:es)?|semaphores?|connections?|resources?|memory|handles?|buffers?|pointers?|gil|file descriptors?|slots?)\b"
    r"|^publish(?:ing)?\s+(?:an? |the |this |each )?(?:\w+ )?(?:events?|messages?|metrics?|signals?|notifications?)\b|^drop(?:ping)?\s+(?:me|us|in|by|off|shadow|down|a line|support|it into|the ball)\b"
    r"|^remov(?:e|ing)\s+(?:the need|the requirement|ambiguity)\b|^ship\s+(?:address|date)\b|^truncat(?:e|ing)\s+(?:the |a |long |this )?(?:\w+ )?(?:strings?|text|titles?|labels?|names?|descriptions?|output|lines?|messages?|decimals?|to \d+)\b"
    r"|^drop\w*\s+(?:the |a |this )?(?:\w+ )?(?:column|index|level) (?:from|in) (?:the |a )?(?:data ?frame|df)\b",
    re.IGNORECASE,
)

READING = words(
    r"search", r"list", r"cat", r"grep", r"find", r"look (?:for|at|up|into|through|over)", r"locate", r"show(?: me)?", r"display", r"read", r"view", r"print", r"count", r"check", r"summari[sz]e",
    r"describe", r"explain", r"inspect", r"review", r"tell me", r"see", r"identify", r"report", r"analy[sz]e", r"compare", r"investigate", r"examine", r"trace", r"recall", r"walk me through", r"diff", r"browse", r"preview", r"verify", r"what", r"where", r"which", r"who", r"how", r"is", r"are", r"does", r"do you", r"why", r"pwd", r"whoami", r"echo", r"date", r"ping",
)  # fmt: skip
CHANGING = words(
    r"fix(?:ing)?", r"debug", r"implement", r"create", r"update", r"delete", r"refactor", r"add", r"write", r"change", r"rename", r"move", r"build", r"install", r"upgrade", r"remove", r"replace", r"edit", r"convert",
    r"migrate", r"merge", r"revert", r"drop", r"clean", r"configure", r"generate", r"bump", r"rewrite", r"patch", r"wipe", r"purge", r"truncate", r"overwrite", r"erase", r"improve", r"optimi[sz]e",
    r"rotate", r"reset", r"commit", r"push", r"publish", r"release", r"ship", r"enable", r"disable", r"modify", r"adjust", r"run", r"execute", r"deploy", r"start", r"stop", r"restart", r"kill", r"apply", r"save", r"store", r"send", r"upload", r"post", r"correct", r"make", r"set", r"put", r"move", r"copy", r"do", r"clear", r"nuke", r"destroy", r"terminate", r"uninstall", r"close", r"merge", r"tidy", r"archive", r"resolve", r"handle",
)  # fmt: skip
SHOWN_SECRET = Lazy(
    rf"\b(?:show|print|display|cat|read|dump|list|tell me|open|view)\b.{{0,60}}\b(?:{SPOKEN})\b(?![\w.-]*\.(?:example|sample|template))"
    r"|\.env\b(?!\.(?:example|sample))|\ball (?:the )?env(?:ironment)? var(?:iable)?s\b",
    re.IGNORECASE,
)
WHEREABOUTS = words(r"where", r"how", r"which", r"usages?", r"references?")
POLITE = Lazy(
    r"(?:^|\W)(?:can|could|would|will) you\b(?! (?:please )?(?:explain|tell|describe|say|think|recommend|suggest|see why)\b)",
    re.IGNORECASE,
)
CHANGED_FILE = Lazy(
    r"(?<![\w-])(?:write|edit|change|update|modify|delete|remove|overwrite|replace|create|move|rename|set|disable|patch|append|add|put|insert|clear|empty|truncate|fix|adjust|rewrite)\b"
    r"(?:(?:\s+(?:the|a|an|our|my|your|this|that|file|settings?|config(?:uration)?|new|project['’]s|to|in|into|of|from|at)){0,5}|[^.!?\n]{0,80}?\s(?:to|in|into|from|inside|at))"
    r"\s+[`'\"]?(?=[^\s`'\"]*[./])([~$.\w][\w.~$/{}-]*)[`'\"]?(?=\s*(?:$|[,;:!?)]|\.(?:\s|$)|(?:and|so|to|with|that|by|then|for|before|after|now|please)\b))",
    re.IGNORECASE,
)
"""A file that a request wants to change."""
