"""Attacks on a JavaScript function, written as tests of Node."""

import json
import re
from collections.abc import Iterator, Sequence

from moot.core.types import SourceFile, Vulnerability
from moot.evidence.attacks.payloads import OUTSIDE, OWNED, SECRET, AttackClass, find_class, name_stand_in

COMMON = """const { test } = require("node:test");
const assert = require("node:assert");
"""
MODERN = """import { test } from "node:test";
import assert from "node:assert";
import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
"""
HEAD = f"""const childProcess = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

function recorder(said) {{
  return new Proxy(function () {{}}, {{
    get: (_, name) => (name === "then" ? undefined : (...given) => {{
      said.push(String(given[0]));
      const callback = given.at(-1);
      if (typeof callback === "function") callback(null, {{}});
      return recorder(said);
    }}),
  }});
}}

function isSlow(file, name, given) {{
  const script = `import(${{JSON.stringify(file)}}).then((all) => (all.default?.[${{JSON.stringify(name)}}] ?? all[${{
    JSON.stringify(name)}}])(...${{JSON.stringify(given)}}))`;
  const run = childProcess.spawnSync(process.execPath, ["--input-type=module", "-e", script], {{ timeout: 3000 }});
  return run.error?.code === "ETIMEDOUT";
}}

async function attack(subject, given, wanted) {{
  const top = fs.mkdtempSync(path.join(os.tmpdir(), "moot-"));
  const base = path.join(top, "base");
  fs.mkdirSync(path.join(base, "sub"), {{ recursive: true }});
  const outside = path.join(top, "{OUTSIDE}");
  fs.writeFileSync(outside, "{SECRET}");
  const said = [];
  const fill = (value) => {{
    if (value === "<base>") return base;
    if (value === "<recorder>") return recorder(said);
    return typeof value === "string" ? value.replaceAll("{{base}}", base).replaceAll("{{made}}", top) : value;
  }};
  const log = console.log;
  console.log = (...shown) => said.push(shown.join(" "));
  let answer;
  try {{
    answer = await subject(...given.map(fill));
  }} catch {{
  }} finally {{
    console.log = log;
  }}
  const text = typeof answer === "object" ? JSON.stringify(answer) ?? "" : String(answer);
  const harmed = !fs.existsSync(outside) || fs.readFileSync(outside, "utf8") !== "{SECRET}";
  return {{
    leak: text.includes("{SECRET}") || harmed,
    made: fs.existsSync(path.join(top, "{OWNED}")),
    shown: wanted.some((mark) => text.includes(mark)),
    query: wanted.some((mark) => said.some((entry) => entry.includes(mark))),
    line: wanted.some((mark) => [...said, text].some((entry) => entry.includes(mark))),
  }};
}}
"""
TEST = """
test("attack {id} {number}", async () => {{
  const seen = await attack({subject}, {given}, {wanted});
  assert.ok(!seen.{effect});
}});
"""
SLOW = """
test("attack {id} {number}", () => {{
  assert.ok(!isSlow(file, {name}, {given}));
}});
"""
FUNCTION = re.compile(r"^(?:export\s+)?(?:async\s+)?function\s+(\w+)\s*\(([^()]*)\)", re.MULTILINE)
EXPORTS = re.compile(r"module\.exports\s*=\s*\{[^}]*\}|exports\.\w+\s*=|^export[^\n]*", re.MULTILINE)
ARROW = re.compile(r"^(?:export\s+)?const\s+(\w+)\s*=\s*(?:async\s*)?\(([^()]*)\)\s*=>", re.MULTILINE)


def write_attacks(file: SourceFile, findings: Sequence[Vulnerability]) -> tuple[str, tuple[str, ...]]:
    modern = re.search(r"^(?:export|import)\s", file.text, re.MULTILINE) is not None
    name = json.dumps(f"./{file.path.rpartition('/')[2]}")
    url = f"const file = new URL({name}, import.meta.url).href;\n"
    if modern:
        head = f"{MODERN}import * as subject from {name};\n{url}"
    else:
        head = f"{COMMON}const subject = require({name});\nconst file = require.resolve({name});\n"
    tests: list[str] = []
    attacked: list[str] = []
    for finding in findings:
        kind = find_class(finding.cwe, "javascript")
        found = find_function(file.text, finding.line)
        if kind is None or found is None or not is_exported(file.text, found[0]):
            continue
        made = list(_write_tests(finding.id, *found, kind))
        tests += made
        attacked += [finding.id] if made else []
    return (head + HEAD + "".join(tests) if tests else ""), tuple(attacked)


def find_function(text: str, line: int) -> tuple[str, list[str]] | None:
    """The last function of the top level that begins at or before this line, and its parameters."""
    begun = [m for m in (*FUNCTION.finditer(text), *ARROW.finditer(text)) if text.count("\n", 0, m.start()) < line]
    if not begun:
        return None
    last = max(begun, key=lambda m: m.start())
    names = [part.split(":")[0].strip() for part in last[2].split(",") if part.strip() and "=" not in part]
    return (last[1], names) if all(re.fullmatch(r"\w+", name) for name in names) else None


def is_exported(text: str, name: str) -> bool:
    exports = "\n".join(
        re.findall(r"module\.exports\s*=\s*\{[^}]*\}|exports\.\w+\s*=|^export[^\n]*", text, re.MULTILINE)
    )
    return re.search(rf"\b{name}\b", exports) is not None


def _write_tests(finding: str, function: str, names: list[str], kind: AttackClass) -> Iterator[str]:
    number = 0
    for place, name in enumerate(names):
        if name_stand_in(name, kind):
            continue
        for payload in kind.payloads:
            given = [
                payload if index == place else name_stand_in(other, kind) or "moot" for index, other in enumerate(names)
            ]
            number += 1
            yield (SLOW if kind.effect == "slow" else TEST).format(
                name=json.dumps(function),
                id=finding.lower().replace("-", " "),
                number=number,
                subject=f"subject.{function}",
                given=json.dumps(given),
                wanted=json.dumps(kind.marks or (payload,)),
                effect=kind.effect,
            )
