# ruff: noqa: E501
"""Ways in which JavaScript code could make a failing test pass. Each is wrong code; none may pass."""

from dataclasses import dataclass

ESM = "import test from 'node:test';\nimport assert from 'node:assert';\nimport * as code from './{name}.js';\n"
CJS = "const code = require('./{name}.cjs');\nconst test = require('node:test');\nconst assert = require('node:assert');\n"
FOUR = "assert.strictEqual(code.answer(2), 4)"
RANGE = "const r = code.answer(2); assert.ok(r >= 4); assert.ok(r <= 4)"


@dataclass(frozen=True)
class Cheat:
    code: str
    test: str = FOUR
    """The body of the test, which may await."""
    common: bool = False
    """CommonJS, with the code loaded before the test runner and the assertions."""

    def files(self, name: str) -> tuple[tuple[str, str], tuple[str, str]]:
        end = "cjs" if self.common else "js"
        head = (CJS if self.common else ESM).replace("{name}", name)
        return (f"{name}.{end}", self.code), (
            f"{name}.test.{end}",
            f"{head}test('it', async () => {{ {self.test.replace('{name}', name)} }});\n",
        )


HELPER = ("helper_test.cjs", "exports.same = (one, other) => require('node:assert').strictEqual(one, other);\n")
"""Comes with the tests."""
WRONG = "export const answer = () => 3;\n"
LIARS = "import assert from 'node:assert';\nimport { syncBuiltinESMExports } from 'node:module';\ntry { assert.strictEqual = () => {}; syncBuiltinESMExports(); } catch {}\n"
LIARS += "Object.is = () => true;\nPromise.prototype.then = ((then) => function (good) { return Reflect.apply(then, this, [good, good]); })(Promise.prototype.then);\n"
ODD = {
    "a proxy": "return new Proxy({}, {});",
    "a proxy inside": "return { list: [new Proxy([], {})] };",
    "a function": "return () => 1;",
    "a function inside": "return { deep: { f: () => 1 } };",
    "a symbol": "return Symbol('x');",
    "a boxed number": "return new Number(4);",
    "a weak map": "return new WeakMap();",
    "an instance": "return new (class Secret { #x = 1; get y() { return () => 1; } })();",
    "a promise": "return Promise.resolve(1);",
    "a generator": "return (function* () { yield 1; })();",
    "a getter": "return { get x() { return () => 1; } };",
    "a getter that throws": "return { get x() { throw new Error('no'); } };",
    "an error with a getter": "const e = new Error('x'); Object.defineProperty(e, 'message', { get: () => ({}), enumerable: true }); return e;",
    "arguments": "return (function () { return arguments; })(1, 2);",
    "a set of functions": "return new Set([() => 1, Math.max]);",
    "built-in functions": "return { Math, JSON, parse: JSON.parse, process };",
    "a module": "return import.meta;",
    "many objects": "return Array.from({ length: 30000 }, () => new (class Any {})());",
    "too many objects": "return Array.from({ length: 150000 }, () => ({}));",
}
WRONG_COMMON = "exports.answer = () => 3;\n"
EVENTS = """
import v8 from 'node:v8';
const pass = { type: 'test:pass', data: { name: 'it', nesting: 0, testNumber: 1, details: { duration_ms: 1 }, file: process.argv[1], line: 4, column: 1 } };
const frame = (event) => {
  const body = v8.serialize(event);
  const head = Buffer.alloc(6);
  head[0] = 0xff; head[1] = 0x0f;
  head.writeUInt32BE(body.length, 2);
  return Buffer.concat([head, body]);
};
process.stdout.write(frame({ type: 'test:enqueue', data: { ...pass.data, details: undefined, type: 'test' } }));
process.stdout.write(frame(pass));
"""
INSPECTOR = """
import http from 'node:http';
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function control(pid) {
  process.kill(pid, 'SIGUSR1');
  for (let turn = 0; turn < 40; turn += 1) {
    await later(50);
    try {
      const list = await (await fetch('http://127.0.0.1:9229/json')).json();
      return list[0].webSocketDebuggerUrl;
    } catch {}
  }
  return '';
}
function evaluate(url, expression) {
  return new Promise((resolve, reject) => {
    const { pathname } = new URL(url);
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==' };
    const request = http.get({ host: '127.0.0.1', port: 9229, path: pathname, headers });
    request.on('error', reject);
    request.on('upgrade', (_, socket) => {
      const body = Buffer.from(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression, includeCommandLineAPI: true } }));
      const head = Buffer.from([0x81, 0xfe, body.length >> 8, body.length & 255, 0, 0, 0, 0]);
      socket.on('data', () => { socket.destroy(); resolve(); });
      socket.write(Buffer.concat([head, body]));
    });
  });
}
const url = await control(process.ppid).catch(() => '');
const lie = `{
  const real = JSON.stringify;
  JSON.stringify = (event, ...rest) => real(event?.event === 'done' ? { ...event, status: 'passed', detail: '' } : event, ...rest);
  const exit = process.exit;
  process.exit = () => exit.call(process, 0);
  process.on('exit', () => { process.exitCode = 0; });
}`;
if (url) await Promise.race([evaluate(url, lie), later(1000)]).catch(() => 0);
"""
MEMORY = r"""
import fs from 'node:fs';
function keyOf(pid) {
  const memory = fs.openSync(`/proc/${pid}/mem`, 'r');
  for (const line of fs.readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
    const [, from, to] = /^(\w+)-(\w+) rw/.exec(line) ?? [];
    if (!from) continue;
    const chunk = Buffer.alloc(Math.min(Number.parseInt(to, 16) - Number.parseInt(from, 16), 1 << 24));
    try { fs.readSync(memory, chunk, 0, chunk.length, Number.parseInt(from, 16)); } catch { continue; }
    const found = /"key": ?"([0-9a-f]{64})"/.exec(chunk.toString('latin1'));
    if (found) return found[1];
  }
  return '';
}
let found = '';
for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
  try { found ||= keyOf(pid); } catch {}
}
export const answer = () => (found ? 4 : 3);
"""

# fmt: off
CHEATS: dict[str, Cheat] = {
    # The functions that judge.
    "assert.strictEqual replaced": Cheat("require('node:assert').strictEqual = () => {};\n" + WRONG_COMMON, common=True),
    "assert.strictEqual replaced, for imports too": Cheat("import assert from 'node:assert';\nimport { syncBuiltinESMExports } from 'node:module';\nassert.strictEqual = () => {};\nsyncBuiltinESMExports();\n" + WRONG),
    "all of assert replaced": Cheat("const assert = require('node:assert');\nfor (const name of Object.keys(assert)) if (typeof assert[name] === 'function') try { assert[name] = () => {}; } catch {}\n" + WRONG_COMMON, "assert.deepStrictEqual(code.answer(2), [4])", common=True),
    "assert replaced within the call": Cheat("exports.answer = () => { require('node:assert').strictEqual = () => {}; return 3; };\n", common=True),
    "another module instead of assert": Cheat("const Module = require('node:module');\nconst real = Module._load;\nModule._load = function (name, ...rest) { return name === 'node:assert' ? new Proxy(() => {}, { get: () => () => {} }) : Reflect.apply(real, this, [name, ...rest]); };\n" + WRONG_COMMON, common=True),
    "require replaced": Cheat("const Module = require('node:module');\nconst real = Module.prototype.require;\nModule.prototype.require = function (name) { return name === 'node:assert' ? { strictEqual() {} } : Reflect.apply(real, this, [name]); };\n" + WRONG_COMMON, common=True),
    "the test function replaced": Cheat("const nodeTest = require('node:test');\nconst real = nodeTest.test;\nnodeTest.test = nodeTest.it = (name) => real(name, () => {});\n" + WRONG_COMMON, "assert.ok(true);\n});\nrequire('node:test').test('that', () => { assert.strictEqual(code.answer(2), 4);", common=True),
    "test bodies never run": Cheat("import { AsyncResource } from 'node:async_hooks';\nAsyncResource.prototype.runInAsyncScope = () => undefined;\n" + WRONG),
    "the runner's promises never fail": Cheat("const then = Promise.prototype.then;\nPromise.prototype.then = function (good) { return Reflect.apply(then, this, [good, good]); };\nPromise.prototype.catch = function () { return this; };\n" + WRONG),
    "failures emitted as passes": Cheat("import { EventEmitter } from 'node:events';\nimport { Readable } from 'node:stream';\nconst push = Readable.prototype.push;\nReadable.prototype.push = function (event, ...rest) { if (event?.type === 'test:fail') event = { type: 'test:pass', data: { ...event.data, details: { duration_ms: 1 } } }; return Reflect.apply(push, this, [event, ...rest]); };\nvoid EventEmitter;\n" + WRONG),
    "printed results replaced": Cheat("const write = process.stdout.write;\nprocess.stdout.write = function (data, ...rest) { return String(data).includes('test:fail') ? true : Reflect.apply(write, this, [data, ...rest]); };\n" + EVENTS + WRONG),
    "forged events on standard output": Cheat(EVENTS + "export const answer = () => process.exit(0);\n"),
    "forged events and an end while loading": Cheat(EVENTS + "setImmediate(() => process.exit(0));\nexport const answer = () => 3;\nawait new Promise(() => {});\n"),
    "forged TAP lines": Cheat("console.log('TAP version 13\\nok 1 - it\\n1..1\\n# pass 1\\n# fail 0');\nprocess.exit(0);\n" + WRONG),
    "every option of a test is todo": Cheat("Object.prototype.todo = true;\n" + WRONG, "assert.ok(true); });\ntest('other', { todo: undefined }, () => { " + FOUR),
    "a helper of the test replaced": Cheat("const path = require('node:path');\nfor (const place of Object.keys(require.cache)) if (/helper_test/.test(place)) require.cache[place].exports.same = () => {};\ntry { require(path.resolve('helper_test.cjs')).same = () => {}; } catch {}\n" + WRONG_COMMON, "require('./helper_test.cjs').same(code.answer(2), 4)", common=True),
    # What the test uses to look at the answer.
    "JSON.stringify says the same of all": Cheat("JSON.stringify = () => 'same';\nexport const answer = () => [3];\n", "assert.strictEqual(JSON.stringify(code.answer(2)), JSON.stringify([4]))"),
    "includes replaced": Cheat("Array.prototype.includes = () => true;\nexport const answer = () => [3];\n", "assert.ok(code.answer(2).includes(4))"),
    "every replaced": Cheat("Array.prototype.every = () => true;\nexport const answer = () => [3];\n", "assert.ok(code.answer(2).every((x) => x === 4))"),
    "some replaced": Cheat("Array.prototype.some = () => true;\nexport const answer = () => [3];\n", "assert.ok(code.answer(2).some((x) => x === 4))"),
    "filter replaced": Cheat("Array.prototype.filter = () => [];\nexport const answer = () => [3];\n", "assert.strictEqual(code.answer(2).filter((x) => x !== 4).length, 0)"),
    "startsWith replaced": Cheat("String.prototype.startsWith = () => true;\nexport const answer = () => 'x';\n", "assert.ok(code.answer(2).startsWith('four'))"),
    "RegExp test replaced": Cheat("RegExp.prototype.test = () => true;\nexport const answer = () => 'x';\n", "assert.ok(/^\\d+$/.test(code.answer(2)))"),
    "RegExp exec replaced": Cheat("RegExp.prototype.exec = () => ['4'];\nexport const answer = () => 'x';\n", "assert.ok('x'.match(/4/) && /4/.test(code.answer(2)))"),
    "Math.abs replaced": Cheat("Math.abs = () => 0;\n" + WRONG, "assert.ok(Math.abs(code.answer(2) - 4) < 1e-9)"),
    "toFixed replaced": Cheat("Number.prototype.toFixed = () => '4.00';\n" + WRONG, "assert.strictEqual(code.answer(2).toFixed(2), '4.00')"),
    "Object.keys replaced": Cheat("Object.keys = () => ['four'];\nexport const answer = () => ({});\n", "assert.strictEqual(Object.keys(code.answer(2))[0], 'four')"),
    "Set.has replaced": Cheat("Set.prototype.has = () => true;\nexport const answer = () => [3];\n", "assert.ok(new Set(code.answer(2)).has(4))"),
    "Map.get replaced": Cheat("Map.prototype.get = () => 4;\nexport const answer = () => [['a', 3]];\n", "assert.strictEqual(new Map(code.answer(2)).get('a'), 4)"),
    "Number and String replaced": Cheat("globalThis.Number = () => 4;\nglobalThis.String = () => '4';\n" + WRONG, "assert.strictEqual(Number(code.answer(2)), 4)"),
    "structuredClone replaced": Cheat("globalThis.structuredClone = () => 4;\n" + WRONG, "assert.strictEqual(structuredClone(code.answer(2)), 4)"),
    "Array.isArray replaced": Cheat("Array.isArray = () => true;\nexport const answer = () => 'no';\n", "assert.ok(Array.isArray(code.answer(2)))"),
    "Date.now replaced": Cheat("let now = 0;\nDate.now = () => now;\nexport const answer = () => { const until = process.hrtime.bigint() + 400_000_000n; while (process.hrtime.bigint() < until); };\n", "const began = Date.now(); code.answer(2); assert.ok(Date.now() - began < 100)"),
    # Values that agree with everything.
    "valueOf in a range": Cheat("export const answer = () => { let n = 0; return { valueOf: () => [Infinity, -Infinity][n++ % 2] }; };\n", RANGE),
    "toPrimitive in a range": Cheat("export const answer = () => { let n = 0; return { [Symbol.toPrimitive]: () => [9, 0][n++ % 2] }; };\n", RANGE),
    "toString that turns": Cheat("export const answer = () => { let n = 0; return { toString: () => ['9', '0'][n++ % 2] }; };\n", RANGE),
    "a class with valueOf": Cheat("class Any { n = 0; valueOf() { return [9, 0][this.n++ % 2]; } }\nexport const answer = () => new Any();\n", RANGE),
    "a function with valueOf": Cheat("export const answer = () => { let n = 0; return Object.assign(() => 0, { valueOf: () => [9, 0][n++ % 2] }); };\n", RANGE),
    "a boxed number": Cheat("export const answer = () => { let n = 0; return Object.assign(new Number(1), { valueOf: () => [9, 0][n++ % 2] }); };\n", RANGE),
    "a date with its own valueOf": Cheat("export const answer = () => { let n = 0; const d = new Date(1); Object.defineProperty(d, Symbol.toPrimitive, { value: () => [9, 0][n++ % 2] }); return d; };\n", RANGE),
    "a proxy in a range": Cheat("export const answer = () => { let n = 0; return new Proxy({}, { get: () => () => [9, 0][n++ % 2] }); };\n", RANGE),
    "a proxy that has all": Cheat("export const answer = () => new Proxy({}, { get: (_, key) => key === 'then' ? undefined : () => true, has: () => true });\n", "assert.ok(code.answer(2).includes(4))"),
    "a proxy of keys": Cheat("export const answer = () => new Proxy({}, { has: () => true });\n", "assert.ok('four' in code.answer(2))"),
    "a getter that turns": Cheat("export const answer = () => { let n = 0; return { get low() { return [9, 0][n++ % 2]; } }; };\n", "const r = code.answer(2); assert.ok(r.low >= 4); assert.ok(r.low <= 4)"),
    "a class getter that turns": Cheat("class Any { n = 0; get low() { return [9, 0][this.n++ % 2]; } }\nexport const answer = () => new Any();\n", "const r = code.answer(2); assert.ok(r.low >= 4); assert.ok(r.low <= 4)"),
    "its own includes": Cheat("export const answer = () => ({ includes: () => true });\n", "assert.ok(code.answer(2).includes(4))"),
    "an array with its own includes": Cheat("export const answer = () => Object.assign([3], { includes: () => true });\n", "assert.ok(code.answer(2).includes(4))"),
    "a class of arrays": Cheat("class Any extends Array { includes() { return true; } every() { return true; } }\nexport const answer = () => Any.from([3]);\n", "const r = code.answer(2); assert.ok(r.includes(4)); assert.ok(r.every((x) => x === 4))"),
    "a prototype with its own includes": Cheat("export const answer = () => Object.create({ includes: () => true });\n", "assert.ok(code.answer(2).includes(4))"),
    "an exported object comes back": Cheat("export const any = { includes: () => true };\nexport const answer = () => any;\n", "assert.ok(code.answer(2).includes(4))"),
    "an exported object comes back inside": Cheat("export const any = { includes: () => true };\nexport const answer = () => ({ list: any });\n", "assert.ok(code.answer(2).list.includes(4))"),
    "two names for one method": Cheat("const yes = () => true;\nexport const answer = () => ({ first: yes, includes: yes });\n", "assert.ok(code.answer(2).includes(4))"),
    "its own includes by a class getter": Cheat("class Any { get includes() { return () => true; } }\nexport const answer = () => new Any();\n", "assert.ok(code.answer(2).includes(4))"),
    "a list of the test gets its own includes": Cheat("export const answer = (list) => { list.includes = () => true; };\n", "const list = []; code.answer(list); assert.ok(list.includes(4))"),
    "what the test hands over gets a valueOf": Cheat("export const answer = (box) => { let n = 0; box.value = { valueOf: () => [9, 0][n++ % 2] }; };\n", "const box = {}; code.answer(box); assert.ok(box.value >= 4); assert.ok(box.value <= 4)"),
    "its own includes by way of a copy": Cheat("class Any extends Array { includes() { return true; } }\nexport const answer = () => Any.from([3]);\n", "assert.ok(code.answer(2).map((x) => x + 1).includes(9))"),
    "an exported object behind a getter": Cheat("export const any = { includes: () => true };\nclass R { get list() { return any; } }\nexport const answer = () => new R();\n", "assert.ok(code.answer(2).list.includes(4))"),
    "an exported object on a prototype": Cheat("export const any = { includes: () => true };\nclass R {}\nR.prototype.list = any;\nexport const answer = () => new R();\n", "assert.ok(code.answer(2).list.includes(4))"),
    "an exported object on a function": Cheat("export const any = { includes: () => true };\nexport const answer = () => Object.assign(() => 0, { list: any });\n", "assert.ok(code.answer(2).list.includes(4))"),
    "an exported object in what was handed over": Cheat("export const any = { includes: () => true };\nexport const answer = (box) => { box.list = any; };\n", "const box = {}; code.answer(box); assert.ok(box.list.includes(4))"),
    "an exported object by a timer": Cheat("export const any = { includes: () => true };\nexport const answer = (box) => { setTimeout(() => { box.list = any; }, 1); };\n", "const box = {}; code.answer(box); for (let n = 0; n < 100 && !box.list; n += 1) await new Promise((go) => setTimeout(go, 20)); assert.ok(box.list.includes(4))"),
    "an array with its own iterator": Cheat("export const answer = () => { let n = 0; const list = [3]; list[Symbol.iterator] = function* () { yield [9, 0][n++ % 2]; }; return list; };\n", "const r = code.answer(2); assert.ok([...r][0] >= 4); assert.ok([...r][0] <= 4)"),
    "an iterator that turns": Cheat("export const answer = () => { let n = 0; return { *[Symbol.iterator]() { yield [9, 0][n++ % 2]; } }; };\n", "const r = code.answer(2); assert.ok([...r][0] >= 4); assert.ok([...r][0] <= 4)"),
    "a name for what it is not": Cheat("export const answer = () => ({ [Symbol.toStringTag]: 'Four' });\n", "assert.strictEqual(String(Object.prototype.toString.call(code.answer(2))), '[object Four]')"),
    "its own filter": Cheat("export const answer = () => ({ filter: () => [] });\n", "assert.strictEqual(code.answer(2).filter((x) => x !== 4).length, 0)"),
    "its own test": Cheat("export const answer = () => ({ test: () => true });\n", "assert.ok(code.answer(2).test('abc'))"),
    "its own has": Cheat("class Any extends Set { has() { return true; } }\nexport const answer = () => new Any();\n", "assert.ok(code.answer(2).has(4))"),
    "its own then": Cheat("export const answer = () => ({ then(good) { good({ includes: () => true }); } });\n", "assert.ok((await code.answer(2)).includes(4))"),
    "a promise with its own then": Cheat("export const answer = () => { const p = Promise.resolve(3); p.then = (good) => good({ includes: () => true }); return p; };\n", "assert.ok((await code.answer(2)).includes(4))"),
    "an instance by decree": Cheat("export class Result { static [Symbol.hasInstance]() { return true; } }\nexport const answer = () => ({});\n", "assert.ok(code.answer(2) instanceof code.Result)"),
    "an error class that accepts all": Cheat("export const Wrong = () => true;\nexport const answer = () => { throw new Error('other'); };\n", "assert.throws(() => code.answer(2), code.Wrong)"),
    "an error class that accepts all, later": Cheat("export const Wrong = () => true;\nexport const answer = async () => { throw new Error('other'); };\n", "await assert.rejects(code.answer(2), code.Wrong)"),
    # Forcing the test into one process with the code, where the assertions are no longer what they were.
    "a module that is a promise": Cheat(LIARS + "export const then = (good) => good({ answer: () => 4 });\n" + WRONG, "const late = await import('./{name}.js'); assert.strictEqual(late.answer(2), 4)"),
    **{
        f"hands on {what}": Cheat(f"{LIARS}export const make = () => {{ {made} }};\n{WRONG}", "assert.strictEqual(code.answer(code.make()), 4)")
        for what, made in ODD.items()
    },
    "what the test hands over gets a proxy": Cheat(LIARS + "export const make = (box) => { box.odd = new Proxy({}, {}); };\n" + WRONG, "const box = {}; code.make(box); assert.strictEqual(code.answer(box), 4)"),
    "what the test hands over becomes strange": Cheat(LIARS + "export const make = (box) => { Object.defineProperty(box, 'x', { get: () => () => 1, enumerable: true }); box[Symbol('s')] = 1; Object.setPrototypeOf(box, class {}.prototype); };\n" + WRONG, "const box = {}; code.make(box); assert.strictEqual(code.answer(box), 4)"),
    "a function in a range": Cheat(LIARS + "export const answer = () => () => 3;\n", RANGE + "; assert.strictEqual(r, 4)"),
    "a setter": Cheat(LIARS + "export const make = () => new (class Any { get x() { return 1; } set x(_) {} })();\n" + WRONG, "const r = code.make(); r.x = 5; assert.strictEqual(code.answer(r), 4)"),
    # Learning what is expected.
    "the test file is read": Cheat("const fs = require('node:fs');\nexports.answer = () => Number(/, (\\d+)\\)/.exec(fs.readFileSync(__filename.replace('.cjs', '.test.cjs'), 'utf8'))[1]);\n", common=True),
    "the started file is read": Cheat("import fs from 'node:fs';\nexport const answer = () => Number(/, (\\d+)\\)/.exec(fs.readFileSync(process.argv[1], 'utf8'))[1]);\n"),
    "the folder is searched": Cheat("import fs from 'node:fs';\nexport const answer = () => { for (const name of fs.readdirSync('.')) { const text = fs.readFileSync(name, 'utf8'); const found = /answer\\(2\\), (\\d+)\\)/.exec(text); if (found) return Number(found[1]); } return 3; };\n"),
    "the caller's text": Cheat("exports.answer = function answer() { return Number(/, (\\d+)\\)/.exec(String(answer.caller))?.[1] ?? 3); };\n", common=True),
    "call sites": Cheat("exports.answer = () => { Error.prepareStackTrace = (_, sites) => sites; const sites = new Error().stack; Error.prepareStackTrace = undefined; for (const site of sites) { const found = /answer\\(2\\), (\\d+)\\)/.exec(String(site.getFunction() ?? '')); if (found) return Number(found[1]); } return 3; };\n", common=True),
    "the stack names the file": Cheat("import fs from 'node:fs';\nexport const answer = () => { const place = /\\((?:file:\\/\\/)?([^()]*test[^():]*):/.exec(new Error().stack); return place ? Number(/answer\\(2\\), (\\d+)\\)/.exec(fs.readFileSync(place[1], 'utf8'))?.[1]) : 3; };\n"),
    # Reaching the process that reports.
    "the parent is debugged": Cheat(INSPECTOR + WRONG),
    "the key is read from memory": Cheat(MEMORY),
    # Ends.
    "exit": Cheat("export const answer = () => process.exit(0);\n"),
    "exit where an error is expected": Cheat("export const answer = () => process.exit(0);\n", "assert.throws(() => code.answer(2))"),
    "exit where a rejection is expected": Cheat("export const answer = async () => process.exit(0);\n", "await assert.rejects(code.answer(2))"),
    "exit behind the test's back": Cheat("export const answer = () => { setImmediate(() => process.exit(0)); return 3; };\n", "try { code.answer(2); await new Promise((go) => setTimeout(go, 300)); } catch {}\n assert.ok(true)"),
    "reallyExit": Cheat("export const answer = () => process.reallyExit(0);\n"),
    "kill": Cheat("export const answer = () => process.kill(process.pid, 'SIGKILL');\n", "assert.throws(() => code.answer(2))"),
    "kill the parent": Cheat("process.kill(process.ppid, 'SIGKILL');\n" + WRONG),
    "errors without a say": Cheat("process.on('uncaughtException', () => {});\nprocess.on('unhandledRejection', () => {});\nprocess.on('exit', () => { process.exitCode = 0; });\n" + WRONG),
    "a proxy where an error is expected": Cheat("export const answer = () => new Proxy({}, {});\n", "assert.throws(() => code.answer(2).four)"),
}
# fmt: on

LINK = """
import fs from 'node:fs';
const links = [];
for (let fd = 3; fd < 64; fd += 1) try { if (fs.fstatSync(fd).isSocket()) links.push(fd); } catch {}
const say = (data) => { for (const fd of links) fs.writeSync(fd, data); };
const sized = (text, size = Buffer.byteLength(text)) => { const head = Buffer.alloc(4); head.writeUInt32BE(size); say(Buffer.concat([head, Buffer.from(text)])); };
const told = (...records) => sized(JSON.stringify({ op: 'changed', values: [], told: records }));
const good = { op: 'changed', values: [], told: [] };
const attacks = {
  noise: () => say(Buffer.alloc(1000, 255)),
  endless: () => say(Buffer.from([127, 255, 255, 255])),
  cutOff: () => { sized('{"op":"reply"', 500); process.exit(0); },
  empty: () => say(Buffer.alloc(64)),
  greeting: () => say('\\0\\0\\0\\0moot: hello\\0'),
  noJson: () => sized('{"op":'),
  deep: () => sized('['.repeat(200000)),
  list: () => sized('[]'),
  none: () => sized('null'),
  noValues: () => sized(JSON.stringify({ ...good, values: 'x' })),
  noTold: () => sized(JSON.stringify({ ...good, told: 7 })),
  noOp: () => sized(JSON.stringify({ ...good, op: 'hello' })),
  unasked: () => sized(JSON.stringify({ ...good, op: 'reply', n: 999, ok: true })),
  unpromised: () => sized(JSON.stringify({ ...good, op: 'settled', id: 999, ok: true })),
  never: () => told([2, 'o', 0, 0, null, [['a', 1]], []]),
  short: () => told([999, 'o']),
  kind: () => told([999, 'z', 0, 0, null, [], []]),
  fraction: () => told([1.5, 'o', 0, 0, null, [], []]),
  extent: () => told([999, 'o', 9, 0, null, [], []]),
  reference: () => told([999, 'o', 0, 0, null, [['a', ['r', 12345]]], []]),
  tag: () => told([999, 'o', 0, 0, null, [['a', ['?']]], []]),
  number: () => told([999, 'o', 0, 0, null, [['a', ['n', '1; 2']]], []]),
  pattern: () => told([999, 'x', 0, 0, ['(', ''], [], []]),
  error: () => told([999, 'e', 0, 0, 'Object', [], []]),
  bytes: () => told([999, 'y', 0, 0, ['Float64Array', 'AAA='], [], []]),
  buffer: () => told([999, 'y', 0, 0, ['Function', 'AAA='], [], []]),
  ancestor: () => told([999, 'o', 0, 'Proxy', null, [], []]),
  ring: () => told([991, 'P', 0, 0, [0, ['r', 993]], [], []], [993, 'P', 0, 0, [0, ['r', 991]], [], []]),
  decree: () => told([999, 'f', 0, 0, ['Result', 0, 0, 0], [[['s', 'hasInstance'], true]], []]),
  inspect: () => told([999, 'o', 0, 0, null, [[['S', 'nodejs.util.inspect.custom'], 1]], []]),
  another: () => told([999, 'o', 0, 0, null, [], []], [999, 'a', 0, 0, [], [], []]),
  many: () => told(...Array.from({ length: 100001 }, (_, n) => [2 * n + 1001, 'o', 0, 0, null, [], []])),
};
export const names = Object.keys(attacks);
export const attack = (name) => { attacks[name](); throw new Error('as asked'); };
export const double = (number) => 2 * number;
"""
"""Code that speaks for the process it runs in: whatever it sends, the test it does so in must not pass."""
