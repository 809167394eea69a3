"""SQL and other code inside commands, and what its statements would do."""
# ruff: noqa: E501 - tables: one row a line

import re

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy

NOISE = Lazy(r"(--[^\n]*|/\*.*?(?:\*/|$)|#[^\n]*)|'(?:[^']|'')*'|\$\$.*?\$\$", re.DOTALL)
QUERY = Lazy(
    r"\s*(?:select|show|explain|describe|desc|pragma|values|table|with|help|use|\\[dlzi?q]\w*|\.(?:tables|schema|headers|mode|indexes|databases|dump|width|quit|exit))",
    re.IGNORECASE,
)
CHANGES: tuple[tuple[str, str, str, str], ...] = (
    (r"\bdrop\s+(?:table|database|schema|view|index|column|user|role|materialized|function|trigger|type|sequence|keyspace|collection|constraint|owned|tablespace|extension|procedure|if)\b", "high", "destructive", "drops"),
    (r"\btruncate\b", "high", "destructive", "empties a table"),
    (r"\bdelete\s+from\b", "high", "destructive", "deletes rows"),
    (r"\bdelete\b(?=.*\bfrom\b)", "high", "destructive", "deletes rows"),
    (r"^\s*(?:grant|revoke)\b|\b(?:create|alter|drop)\s+(?:user|role|login)\b|\bset\s+password\b|\balter\s+default\s+privileges\b", "high", "security", "changes who may do what"),
    (r"\bcopy\b.*\b(?:from|to)\s+program\b|\binto\s+(?:out|dump)file\b|\bxp_cmdshell\b|^\s*\\!|^\s*\.(?:shell|system)\b|\blo_export\b|\bload_extension\b", "high", "security", "leaves the database for the machine"),
    (r"\bpg_terminate_backend\b|^\s*kill\s+\d|^\s*shutdown\b|\balter\s+system\b|\bpg_(?:reload_conf|cancel_backend)\b|\bset\s+global\b", "high", "process", "stops or changes the server"),
    (r"\bupdate\b.*\bset\b.*\b(?:roles?|is_?(?:admin|superuser|staff|root)|admin|super_?user|privileges?|permissions?|access_level|passw(?:or)?d\w*)\b[\w\"`\]]*\s*=", "high", "security", "changes who may do what"),
    (r"\bupdate\b(?!.*\bwhere\b).*\bset\b", "high", "destructive", "changes every row"),
    (r"\bupdate\b.*\bset\b", "medium", "change", "changes rows"),
    (r"\balter\b", "medium", "change", "changes a table"),
    (r"^\s*(?:replace|merge|rename|load|import|call|exec|execute|do|vacuum|reindex|cluster|lock|copy|restore|attach|detach|\.(?:read|import|restore|open|save|backup))\b", "medium", "change", "changes the database"),
    (r"^\s*(?:insert|create|comment|analyze|begin|commit|rollback|start|set|savepoint|end|upsert)\b", "low", "", ""),
)  # fmt: skip

LOOKS_SQL = Lazy(
    r"\s*(?:drop\s+(?:table|database|schema|index|view|user|role)\b|truncate\s+(?:table\s+)?\w+\s*(?:;|$|cascade)|delete\s+from\s+[\w.\"`]+\s*(?:;|$|where\b|using\b)|update\s+[\w.\"`]+\s+set\s+\w+\s*=|"
    r"insert\s+into\s+[\w.\"`]+\s*(?:\(|values\b|select\b)|alter\s+(?:table|database|user|role)\s+\w+\s|create\s+(?:table|index|unique|view|database|user|role)\s+\w+\s*(?:\(|;|$|on\b|as\b|with\b|if\b)|grant\s+.+\s+to\s+|revoke\s+.+\s+from\s+|"
    r"select\s+.+\s+from\s+[\w.\"`]+\s*(?:;|$|where\b|limit\b|order\b|group\b|join\b|inner\b|left\b)|select\s+(?:count\(|\*|\d+\s*;)|with\s+\w+\s+as\s*\(|explain\s+(?:analyze\s+)?(?:select|delete|update|insert)\b)",
    re.IGNORECASE | re.DOTALL,
)
LONGEST = 50_000


def sql_sights(text: str) -> list[Sight]:
    """One sight per statement; unknown statements do not count as harmless."""
    if len(text) > LONGEST:
        return [Sight("high", "unclear", "long SQL", "the statements are too long to be read")]
    sights = []
    for statement in NOISE.sub(lambda m: " " if m[1] else " '' ", text).split(";"):
        one = " ".join(statement.split())
        if one:
            sights.append(_statement(one))
    return sights or [Sight("low")]


PLAN = Lazy(
    r"\s*(?:explain|describe|desc)\s+(?:\(([^)]*)\)\s*|((?:(?:analy[sz]e|verbose|extended|partitions|query\s+plan|plan\s+for|format\s*=\s*\w+)\s+)*))"
    r"(?=(?:select|delete|update|insert|replace|merge|with|values|table|execute|create|declare)\b)",
    re.IGNORECASE,
)
"""EXPLAIN only plans a statement; with ANALYZE the statement runs."""
ANALYZES = Lazy(r"\banaly[sz]e\b(?!\s+(?:false|off|0)\b)", re.IGNORECASE)


def _statement(one: str) -> Sight:
    if plan := PLAN.match(one):
        if not ANALYZES.search(plan[0]):
            return Sight("read")
        one = one[plan.end() :]
    for pattern, level, group, why in CHANGES:
        if re.search(pattern, one, re.IGNORECASE):
            return Sight(level, group, one[:60], why and f"`{one[:60]}` {why}")  # type: ignore[arg-type]
    if re.search(r"\bselect\b.*\binto\b(?!.*\bfrom\b.*\binto\b)", one, re.IGNORECASE):
        return Sight("low")
    if QUERY.match(one):
        return Sight("read")
    return Sight("medium", "unclear", one[:60], f"what `{one[:60]}` does is not known")


CODE: tuple[tuple[str, str, str], ...] = (
    (r"\brmtree\b|\bos\.(?:remove|unlink|rmdir|removedirs|truncate)\b|\.unlink\s*\(|\.rmdir\s*\(|\brm(?:dir)?Sync\b|\bunlinkSync\b|\bfs(?:\.promises)?\.(?:rm|unlink|rmdir)\b|\bFileUtils\.(?:rm|remove)\w*|\bFile\.delete\b|\bunlink\b|\brimraf\b|\bremove_tree\b|\bos\.RemoveAll\b|\btruncate\s*\(|\bDir\.(?:rmdir|delete)\b|\bDeno\.remove|\bfile\.remove\b|\bFile\.rm|\bdeleteDir\s*\(|\bFile\([^)]*\)\.delete\(|\bdelete-(?:file|directory)\b|\bfile delete\b|\bdeleteRecursively\b|\bfile:del|\b(?:delete|empty) (?:every|the|trash|folder|file|items?)\b|\brmdir\s*\(|\bremove_dir_all\b|\bemptyDir(?:Sync)?\b|\bfrom\s+(?:os|shutil)\s+import\s+[^;\n]*\b(?:remove|unlink|rmdir|removedirs|rmtree|truncate|move)\b|\bremove(?:File|Directory(?:Recursive)?|PathForcibly)\b", "destructive", "deletes files"),
    (r"\b(?:drop_all|drop_table|drop_database|dropDatabase|deleteMany|deleteOne|drop_collection|flushall|flushdb|delete_all|destroy_all|dropCollection|remove\s*\(\s*\{|findOneAndDelete|bulkDelete)\b|\.drop\s*\(|\.objects(?:\.\w+\(\))*\.delete\(|(?i:\bdrop\s+(?:table|database)\b|\btruncate\s+table\b|\bdelete\s+from\b)", "destructive", "throws data away"),
    (r"\bprocess\.env\b(?!\.\w)|\bos\.environ\b(?!\s*(?:\[|\.get))|\bENV\.to_h\b|\bprintenv\b", "security", "shows the environment"),
    (r"\.(?:env|pem)['\"]|id_rsa|/etc/shadow|\.aws/credentials|\.ssh/", "security", "opens secrets"),
    (r"\bb64decode\b|\bbase64\b.*\bexec\b|\bfromhex\b|\batob\b|\bunpack\s*\(\s*['\"]H|\bmarshal\b|\bcodecs\.decode\b|\bfromCharCode\b|__import__\s*\(\s*[^'\"]", "unclear", "hides what it runs"),
    (r"\bsocket\b.*\b(?:dup2|connect)\b|\bpty\.spawn\b", "security", "opens a way into the machine"),
    (r"\bexec\s*\(.*(?:urlopen|requests\.get|fetch)|\beval\s*\(.*(?:urlopen|requests\.get|fetch)", "security", "runs what the network sends"),
    (r"\b(?:requests|httpx|axios|session|client|http)\.delete\s*\(|method['\"]?\s*[:=]\s*['\"]DELETE", "destructive", "deletes something elsewhere"),
    (r"(?<![.\w])load(?:string)?\s*\(|\bgetattr\s*\(\s*(?:os|shutil|subprocess)\b|\bglobals\s*\(\)\s*\[|(?:\bchr\s*\(\s*\d+\s*\)\s*[+.]\s*){2}|string\.char\s*\(", "unclear", "builds what it runs"),
    (r"\bkeystroke\b|\bkey code\b", "process", "types into other programs"),
    (r"\bfrom\s+(?:os|subprocess)\s+import\s+[^;\n]*\b(?:system|popen|exec\w*|spawn\w*|run|call|Popen|check_\w+)\b", "process", "starts programs"),
    (r"\bos\.(?:kill|killpg)\b|\bprocess\.kill\b", "process", "ends processes"),
)  # fmt: skip
RUNS = Lazy(
    r"\b(?:os\.system|os\.popen|subprocess\.(?:run|call|Popen|check_\w+|get\w+)|subprocess as|child_process|exec(?:Sync|File)?|spawn(?:Sync)?|system|popen|shell_exec|passthru|qx|Kernel|Open3|exec\.Command|eval|os\.(?:execute|exec\w+|spawn\w+|posix_spawn\w*)|execv\w*|io\.popen|doShellScript|Deno\.(?:run|Command)|Bun\.spawn(?:Sync)?|do shell script|System\.(?:cmd|shell)|getRuntime|ProcessBuilder|shell-command|call-process|proc_open|pcntl_exec|posix\.exec|system2|run-process|processx)\b|:os\.cmd|[\"']\.execute\(\)|\bBun\.\$"
)
STRINGS = Lazy(r"\"((?:[^\"\\\n]|\\.){1,400})\"|'((?:[^'\\\n]|\\.){1,400})'|`((?:[^`\\\n]|\\.){1,400})`")
TARGETS = Lazy(
    r"open\s*\(\s*['\"]([^'\"\n]{1,200})['\"]\s*,\s*(?:mode\s*=\s*)?['\"][rbt]*[wax]|Path\s*\(\s*['\"]([^'\"\n]{1,200})['\"]\s*\)\.(?:write_|touch|open\s*\(\s*['\"][wax])|"
    r"(?:writeFile(?:Sync)?|writeTextFile(?:Sync)?|File\.write!?|file_put_contents|IO\.write|createWriteStream|truncateSync|file\.create|Bun\.write)\s*\(\s*['\"]([^'\"\n]{1,200})['\"]"
)


def code_sights(text: str) -> list[Sight]:
    """Judges code of any language; the caller judges strings that it passes to a shell."""
    if len(text) > LONGEST:
        return [Sight("medium", "unclear", "long code", "the code is too long to be read")]
    sights = [Sight("low")]
    for pattern, group, why in CODE:
        if found := re.search(pattern, text):
            sights.append(
                Sight(
                    "high" if group != "process" else "medium",
                    group,
                    found[0][:40],
                    f"the code {why}: {found[0][:40]!r}",
                )
            )
    return sights


def strings_in(text: str) -> list[str]:
    return [m[1] or m[2] or m[3] for m in STRINGS.finditer(text[:LONGEST])]


def targets_in(text: str) -> list[str]:
    """Files that code overwrites, if it names them."""
    return [m[1] or m[2] or m[3] for m in TARGETS.finditer(text[:LONGEST])]


def shell_strings(text: str, *, backticks: bool = True) -> list[str] | None:
    """The string literals of code that starts programs; None if it starts none.

    In Perl, Ruby and PHP backticks run their content; in JavaScript they are strings.
    """
    code = text[:LONGEST]
    if not RUNS.search(code) and not (backticks and "`" in code):
        return None
    return strings_in(text)
