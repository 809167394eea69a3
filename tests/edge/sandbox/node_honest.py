# ruff: noqa: E501
"""Ordinary JavaScript tests of honest code, of all the kinds that people write; the verdict must not depend on the way."""

CODE = """
export const double = (number) => 2 * number;
export default function greet(name = 'you') { return `hello ${name}`; }
export const later = async (value, ms = 1) => { await new Promise((go) => setTimeout(go, ms)); return value; };
export const fail = (text) => { throw new TypeError(text); };
export const failLater = async (text) => { await null; throw new RangeError(text); };
export class ShopError extends Error { constructor(text, code) { super(text); this.name = 'ShopError'; this.code = code; } }
export const buy = (amount) => { if (amount > 10) throw new ShopError('too much', 'E_MUCH'); return amount; };
export const throwText = () => { throw 'a text'; };
export const same = (value) => value;
export const nested = () => ({ list: [1, { two: [2, null] }], none: undefined, deep: { map: new Map([['a', new Set([1])]]) } });
export const numbers = () => [NaN, -0, 0, Infinity, -Infinity, 1e308, 5e-324, Number.MAX_SAFE_INTEGER];
export const big = () => 2n ** 80n;
export const dates = () => [new Date(0), new Date(NaN)];
export const bytes = () => [new Uint8Array([1, 2, 255]), Buffer.from('hi'), new Float64Array([0.5]), new Uint8Array([7]).buffer];
export const pattern = () => /a(b+)/gi;
export const holes = () => [1, , 3];
export const nothing = () => {};
export const loop = () => { const ring = { name: 'ring' }; ring.self = ring; return ring; };
export const bare = () => Object.assign(Object.create(null), { a: 1 });
export const link = () => new URL('https://example.org/a?b=1');
export const sortInPlace = (list) => { list.sort((a, b) => a - b); return list; };
export const addTo = (map, key, value) => { map.set(key, value); };
export const clear = (object) => { for (const key of Object.keys(object)) delete object[key]; };
export const pushLater = async (list, item) => { await later(); list.push(item); };
export const pushStrict = (list) => { list.push(1); };
export const map = (list, change) => list.map((item) => change(item));
export const each = (list, see) => { for (const item of list) see(item); };
export const compose = (...all) => (value) => all.reduce((now, next) => next(now), value);
export const adder = (one) => (other) => one + other;
export function* count(to) { for (let n = 1; n <= to; n += 1) yield n; }
export async function* countLater(to) { for (let n = 1; n <= to; n += 1) { await null; yield n; } }
export function* naturals() { let n = 0; while (true) yield n++; }
export const range = (from, to) => ({ *[Symbol.iterator]() { for (let n = from; n < to; n += 1) yield n; } });
let total = 0;
export let calls = 0;
export const add = (n) => { calls += 1; total += n; return total; };
export const reset = () => { total = 0; calls = 0; };
const todos = [];
export const addTodo = (title) => { const todo = { title, done: false }; todos.push(todo); return todo; };
export const finish = (todo) => { todo.done = true; };
export const allTodos = () => todos;
export const copyOfTodos = () => todos.map((todo) => ({ ...todo }));
export const startTicking = () => { const clock = { ticks: 0 }; const timer = setInterval(() => { clock.ticks += 1; if (clock.ticks > 50) clearInterval(timer); }, 2); return clock; };
export class Account {
  #secret = 1;
  static opened = 0;
  static of(amount) { return new Account(amount); }
  constructor(balance = 0) { this.balance = balance; Account.opened += 1; }
  deposit(amount) { if (amount <= 0) throw new ShopError('no amount'); this.balance += amount; return this; }
  get isRich() { return this.balance > 100; }
  set owner(name) { this._owner = name.toUpperCase(); }
  async save() { await later(); return { saved: this.balance, secret: this.#secret }; }
  toString() { return `Account(${this.balance})`; }
  toJSON() { return { balance: this.balance }; }
  valueOf() { return this.balance; }
}
export class Savings extends Account { constructor(balance, rate) { super(balance); this.rate = rate; } interest() { return this.balance * this.rate; } }
export const createStack = () => { const items = []; return { push(item) { items.push(item); return this; }, pop: () => items.pop(), get size() { return items.length; }, isEmpty: () => items.length === 0, has: (item) => items.includes(item) }; };
export const createUser = (name) => new (class User { constructor() { this.name = name; } get initial() { return name[0]; } })();
export const makeAccount = (balance) => new Account(balance);
export const frozen = () => Object.freeze({ a: 1 });
export const describe = (value) => Object.prototype.toString.call(value);
export const wait = (ms) => new Promise((go) => setTimeout(go, ms));
export const readText = async (path) => (await import('node:fs')).readFileSync(path, 'utf8');
export const now = () => Date.now();
export const shout = (text) => { console.log(text); return text.toUpperCase(); };
export const Color = { RED: 'red', mix(a, b) { return [a, b].sort().join('+'); } };
export const total100 = Array.from({ length: 100 }, (_, n) => n);
export const wrong = (number) => number + 1;
const cache = new WeakMap();
export const strange = () => ({ name: 'kept', cache, proxy: new Proxy({ n: 3 }, {}), id: Symbol('id'), call: () => 3, when: Promise.resolve(3) });
export const count3 = (kept) => (kept.cache === cache && typeof kept.id === 'symbol' && kept.call() === 3 ? kept.proxy.n : 0);
export const leak = () => todos;
"""

HEAD = """
import test, { describe, it, before, beforeEach, after, afterEach } from 'node:test';
import assert from 'node:assert';
import strict from 'node:assert/strict';
import greet, * as code from './shop.js';
import { Account, Savings, ShopError, calls } from './shop.js';
"""

# Each is one test: its name, its body, and the verdict. `*` before a name: it needs the code's objects themselves.
# fmt: off
TESTS: tuple[tuple[str, str, str], ...] = (
    ("sync", "assert.strictEqual(code.double(2), 4)", "passed"),
    ("sync wrong", "assert.strictEqual(code.wrong(2), 4)", "failed"),
    ("default export", "strict.equal(greet(), 'hello you'); strict.equal(greet('me'), 'hello me'); strict.equal(greet(undefined), 'hello you')", "passed"),
    ("async", "assert.strictEqual(await code.later(5), 5)", "passed"),
    ("async wrong", "assert.strictEqual(await code.later(5), 6)", "failed"),
    ("many at once", "assert.deepStrictEqual(await Promise.all([3, 1, 2].map((n) => code.later(n, n * 3))), [3, 1, 2])", "passed"),
    ("race", "assert.strictEqual(await Promise.race([code.later('slow', 400), code.later('fast', 1)]), 'fast')", "passed"),
    ("throws", "assert.throws(() => code.fail('no'), TypeError); assert.throws(() => code.fail('no'), /no/); assert.throws(() => code.fail('no'), { name: 'TypeError', message: 'no' })", "passed"),
    ("throws another", "assert.throws(() => code.fail('no'), RangeError)", "failed"),
    ("does not throw", "assert.throws(() => code.double(2))", "failed"),
    ("throws no error", "assert.throws(() => code.throwText(), (error) => error === 'a text')", "passed"),
    ("throws its own class", "assert.throws(() => code.buy(11), ShopError); assert.throws(() => code.buy(11), { code: 'E_MUCH', name: 'ShopError' }); try { code.buy(11); } catch (error) { assert.ok(error instanceof Error && error instanceof ShopError); assert.strictEqual(error.constructor, ShopError); }", "passed"),
    ("is not its own class", "assert.throws(() => code.fail('x'), ShopError)", "failed"),
    ("rejects", "await assert.rejects(code.failLater('x'), RangeError); await assert.rejects(() => code.failLater('x'), { message: 'x' })", "passed"),
    ("does not reject", "await assert.rejects(code.later(1))", "failed"),
    ("nested data", "assert.deepStrictEqual(code.nested(), { list: [1, { two: [2, null] }], none: undefined, deep: { map: new Map([['a', new Set([1])]]) } })", "passed"),
    ("nested data wrong", "assert.deepStrictEqual(code.nested(), { list: [1, { two: [2, undefined] }], none: undefined, deep: { map: new Map([['a', new Set([1])]]) } })", "failed"),
    ("numbers", "const found = code.numbers(); assert.deepStrictEqual(found, [NaN, -0, 0, Infinity, -Infinity, 1e308, 5e-324, Number.MAX_SAFE_INTEGER]); assert.ok(Object.is(found[1], -0)); assert.ok(Number.isNaN(found[0]))", "passed"),
    ("minus zero", "assert.deepStrictEqual(code.same(-0), 0)", "failed"),
    ("big numbers", "assert.strictEqual(code.big(), 1208925819614629174706176n)", "passed"),
    ("dates", "assert.deepStrictEqual(code.dates()[0], new Date(0)); assert.ok(Number.isNaN(code.dates()[1].getTime())); assert.strictEqual(code.dates()[0].toISOString(), '1970-01-01T00:00:00.000Z')", "passed"),
    ("bytes", "const [a, b, c, d] = code.bytes(); assert.deepStrictEqual(a, new Uint8Array([1, 2, 255])); assert.ok(Buffer.isBuffer(b)); assert.strictEqual(b.toString(), 'hi'); assert.deepStrictEqual(c, new Float64Array([0.5])); assert.strictEqual(new Uint8Array(d)[0], 7)", "passed"),
    ("regular expression", "assert.deepStrictEqual(code.pattern(), /a(b+)/gi); assert.ok(code.pattern().test('xABB'))", "passed"),
    ("holes", "assert.deepStrictEqual(code.holes(), [1, , 3]); assert.ok(!(1 in code.holes()))", "passed"),
    ("undefined", "assert.strictEqual(code.nothing(), undefined); assert.strictEqual(code.same(undefined), undefined); assert.strictEqual(code.same(null), null)", "passed"),
    ("ring", "const ring = code.loop(); assert.strictEqual(ring.self, ring); assert.strictEqual(ring.self.self.name, 'ring')", "passed"),
    ("no prototype", "assert.strictEqual(Object.getPrototypeOf(code.bare()), null); assert.deepStrictEqual({ ...code.bare() }, { a: 1 })", "passed"),
    ("no prototype, strictly", "assert.deepStrictEqual(code.bare(), { a: 1 })", "failed"),
    ("URL", "assert.strictEqual(code.link().searchParams.get('b'), '1')", "passed"),
    ("symbols", "assert.strictEqual(code.same(Symbol.for('x')), Symbol.for('x')); assert.strictEqual(code.same(Symbol.iterator), Symbol.iterator)", "passed"),
    ("mutates in place", "const list = [3, 1, 2]; const back = code.sortInPlace(list); assert.deepStrictEqual(list, [1, 2, 3]); assert.strictEqual(back, list)", "passed"),
    ("does not mutate", "const list = [3, 1, 2]; code.sortInPlace(list); assert.deepStrictEqual(list, [3, 1, 2])", "failed"),
    ("mutates a map", "const found = new Map(); code.addTo(found, 'a', [1]); assert.deepStrictEqual(found, new Map([['a', [1]]]))", "passed"),
    ("removes keys", "const found = { a: 1, b: { c: 2 } }; code.clear(found); assert.deepStrictEqual(found, {})", "passed"),
    ("mutates later", "const list = []; await code.pushLater(list, 'x'); assert.deepStrictEqual(list, ['x'])", "passed"),
    ("frozen argument", "assert.throws(() => code.pushStrict(Object.freeze([])), TypeError)", "passed"),
    ("frozen result", "assert.ok(Object.isFrozen(code.frozen())); assert.throws(() => { 'use strict'; code.frozen().a = 2; })", "passed"),
    ("the same object", "const one = {}; assert.strictEqual(code.same(one), one); assert.notStrictEqual(code.nested(), code.nested())", "passed"),
    ("*callback", "assert.deepStrictEqual(code.map([1, 2], (n) => n * 3), [3, 6])", "passed"),
    ("*callback wrong", "assert.deepStrictEqual(code.map([1, 2], (n) => n * 3), [3, 7])", "failed"),
    ("*mock", "const seen = test.mock.fn(); code.each([1, 2], seen); assert.strictEqual(seen.mock.callCount(), 2)", "passed"),
    ("functions of the code", "assert.strictEqual(code.compose(code.double, code.double)(3), 12); assert.strictEqual(code.adder(1)(2), 3)", "passed"),
    ("as a callback of ours", "assert.deepStrictEqual([1, 2, 3].map((n) => code.double(n)), [2, 4, 6]); assert.deepStrictEqual([1, 2].map(code.double), [2, 4])", "passed"),
    ("generator", "assert.deepStrictEqual([...code.count(3)], [1, 2, 3]); const it = code.naturals(); assert.deepStrictEqual([it.next().value, it.next().value, it.next()], [0, 1, { value: 2, done: false }])", "passed"),
    ("async generator", "const found = []; for await (const n of code.countLater(3)) found.push(n); assert.deepStrictEqual(found, [1, 2, 3])", "passed"),
    ("iterable", "assert.deepStrictEqual([...code.range(1, 4)], [1, 2, 3])", "passed"),
    ("module state", "code.reset(); code.add(2); assert.strictEqual(code.add(3), 5); code.reset(); assert.strictEqual(code.add(1), 1)", "passed"),
    ("live binding", "code.reset(); code.add(1); code.add(1); assert.strictEqual(calls, 2); assert.strictEqual(code.calls, 2)", "passed"),
    ("shared objects", "const todo = code.addTodo('a'); code.finish(todo); assert.strictEqual(code.allTodos().at(-1).done, true); assert.strictEqual(code.allTodos().at(-1), todo)", "passed"),
    ("what is shared changes", "const todo = code.addTodo('b'); code.finish(code.allTodos().at(-1)); assert.strictEqual(todo.done, true)", "passed"),
    ("a copy is a copy", "const before = code.copyOfTodos().length; code.copyOfTodos().push(1); assert.strictEqual(code.copyOfTodos().length, before)", "passed"),
    ("a leak is a leak", "const before = code.leak().length; code.leak().push({ title: 'x' }); assert.strictEqual(code.leak().length, before)", "failed"),
    ("changes by itself", "const clock = code.startTicking(); for (let n = 0; n < 200 && clock.ticks === 0; n += 1) await new Promise((go) => setTimeout(go, 20)); assert.ok(clock.ticks > 0)", "passed"),
    ("class", "const account = new Account(5); account.deposit(3).deposit(2); assert.strictEqual(account.balance, 10); assert.ok(account instanceof Account); assert.strictEqual(account.isRich, false); account.deposit(100); assert.strictEqual(account.isRich, true)", "passed"),
    ("class wrong", "assert.strictEqual(new Account(5).deposit(3).balance, 9)", "failed"),
    ("class throws", "assert.throws(() => new Account().deposit(-1), ShopError); assert.throws(() => Account(), TypeError)", "passed"),
    ("class async", "assert.deepStrictEqual(await new Account(7).save(), { saved: 7, secret: 1 })", "passed"),
    ("class static", "const before = Account.opened; assert.ok(Account.of(1) instanceof Account); assert.strictEqual(Account.opened, before + 1)", "passed"),
    ("subclass", "const savings = new Savings(100, 0.5); assert.strictEqual(savings.interest(), 50); savings.deposit(100); assert.strictEqual(savings.interest(), 100); assert.ok(savings instanceof Account); assert.strictEqual(savings.constructor.name, 'Savings')", "passed"),
    ("class set by the test", "const account = new Account(1); account.balance = 50; account.deposit(1); assert.strictEqual(account.balance, 51)", "passed"),
    ("class text", "assert.strictEqual(String(new Account(5)), 'Account(5)'); assert.strictEqual(new Account(5).toString(), 'Account(5)'); assert.strictEqual(JSON.stringify(new Account(5)), '{\"balance\":5}')", "passed"),
    ("class equal", "assert.deepStrictEqual(new Account(5), new Account(5)); assert.notDeepStrictEqual(new Account(5), new Account(6)); assert.deepEqual(new Account(5), { balance: 5 })", "passed"),
    ("class is no plain object", "assert.deepStrictEqual(new Account(5), { balance: 5 })", "failed"),
    ("*class compared", "assert.ok(new Account(5) < new Account(6))", "passed"),
    ("class setter", "const account = new Account(5); account.owner = 'ann'; assert.strictEqual(account._owner, 'ANN')", "passed"),
    ("*class of the test", "class Mine extends Account { twice() { return this.balance * 2; } } assert.strictEqual(new Mine(4).twice(), 8)", "passed"),
    ("*object of the test", "class Point { x = 1; } assert.strictEqual(code.describe(new Point()), '[object Object]'); assert.strictEqual(code.same(new Point()).x, 1)", "passed"),
    ("factory", "const stack = code.createStack(); assert.ok(stack.isEmpty()); stack.push(1).push(2); assert.strictEqual(stack.size, 2); assert.ok(stack.has(2)); assert.strictEqual(stack.pop(), 2)", "passed"),
    ("factory wrong", "const stack = code.createStack(); stack.push(1); assert.strictEqual(stack.pop(), 2)", "failed"),
    ("factory of a class", "const user = code.createUser('Ann'); assert.strictEqual(user.name, 'Ann'); assert.strictEqual(user.initial, 'A'); assert.strictEqual(code.makeAccount(3).deposit(1).balance, 4)", "passed"),
    ("exported object", "assert.strictEqual(code.Color.RED, 'red'); assert.strictEqual(code.Color.mix('red', 'blue'), 'blue+red'); assert.strictEqual(code.total100.length, 100); assert.ok(code.total100.includes(42))", "passed"),
    ("unexported name", "assert.strictEqual(code.nowhere, undefined); assert.strictEqual(typeof code.todos, 'undefined')", "passed"),
    ("name and length", "assert.strictEqual(code.double.name, 'double'); assert.strictEqual(code.double.length, 1); assert.strictEqual(typeof code.double, 'function')", "passed"),
    ("*text of a function", "assert.match(code.double.toString(), /2 \\* number/)", "passed"),
    ("*timers of the test", "test.mock.timers.enable({ apis: ['setTimeout'] }); try { const done = code.wait(1000); test.mock.timers.tick(1000); await done; } finally { test.mock.timers.reset(); }", "passed"),
    ("*clock of the test", "const real = Date.now; Date.now = () => 42; try { assert.strictEqual(code.now(), 42); } finally { Date.now = real; }", "passed"),
    ("*console of the test", "const said = []; const real = console.log; console.log = (text) => said.push(text); try { code.shout('a'); } finally { console.log = real; } assert.deepStrictEqual(said, ['a'])", "passed"),
    ("*files of the test", "const { mkdtempSync, writeFileSync } = await import('node:fs'); const place = mkdtempSync('/tmp/x') + '/a'; writeFileSync(place, 'text'); assert.strictEqual(await code.readText(place), 'text')", "passed"),
    ("error argument", "const error = new RangeError('x'); assert.strictEqual(code.same(error), error); assert.strictEqual(code.describe(new Error('a')), '[object Error]')", "passed"),
    ("bytes argument", "assert.strictEqual(code.describe(new Uint8Array(3)), '[object Uint8Array]'); assert.deepStrictEqual(code.same(new Map([[{ a: 1 }, 2]])), new Map([[{ a: 1 }, 2]]))", "passed"),
    ("long", "const many = Array.from({ length: 20000 }, (_, n) => ({ n })); assert.strictEqual(code.same(many).length, 20000)", "passed"),
    ("strange things come back", "const kept = code.strange(); assert.strictEqual(kept.name, 'kept'); assert.strictEqual(code.count3(kept), 3); kept.name = 'other'; assert.strictEqual(code.count3(kept), 3); assert.strictEqual(code.same(kept).name, 'other')", "passed"),
    ("gets a function after the call", "const options = { a: 1 }; code.same(options); options.done = () => 0; assert.strictEqual(code.double(1), 2); assert.strictEqual(code.same({ b: 1 }).b, 1)", "passed"),
    ("calls in a loop", "for (let n = 0; n < 500; n += 1) assert.strictEqual(code.double(n), 2 * n)", "passed"),
)
MORE = """
describe('a group', () => {
  let log;
  before(() => { log = []; });
  beforeEach(() => { code.reset(); log.push('each'); });
  afterEach(() => { code.reset(); });
  after(() => { assert.strictEqual(log.length, 3); });
  it('begins anew', () => assert.strictEqual(code.add(1), 1));
  it('begins anew again', () => assert.strictEqual(code.add(1), 1));
  it.skip('not now', () => assert.fail());
  it('for later', { todo: true }, () => assert.fail());
});
test('with parts', async (t) => {
  await t.test('one part', () => assert.strictEqual(code.double(1), 2));
  await t.test('another part', () => assert.strictEqual(code.wrong(1), 5));
});
test('with parts that need the code', async (t) => {
  await t.test('plain part', () => assert.strictEqual(code.double(1), 2));
  await t.test('part with a callback', () => assert.deepStrictEqual(code.map([1], (n) => n + 1), [2]));
});
for (const [given, wanted] of [[1, 2], [2, 4], [3, 7]]) test(`table ${given}`, () => assert.strictEqual(code.double(given), wanted));
test('with a callback at its end', (t, done) => { code.later(1).then((value) => { assert.strictEqual(value, 1); done(); }, done); });
test('with a callback at its end, wrong', (t, done) => { code.later(1).then((value) => done(value === 2 ? undefined : new Error('no'))); });
"""
# fmt: on

HOOKS = """
import test, { describe, it, before, beforeEach } from 'node:test';
import assert from 'node:assert';
import * as code from './shop.js';
describe('before', () => {
  let found;
  before(() => { found = code.map([1], (n) => n + 1); });
  it('has it', () => assert.deepStrictEqual(found, [2]));
  it('has it not', () => assert.deepStrictEqual(found, [3]));
});
describe('before each', () => {
  let account;
  beforeEach(() => { account = new code.Account(5); code.each([1], (n) => account.deposit(n)); });
  it('is rich', () => assert.strictEqual(account.balance, 6));
});
test('alone', () => assert.strictEqual(code.double(2), 4));
"""
"""Hooks that need the code's objects themselves: so do the tests they are for."""


def honest_test() -> str:
    bodies = [f"test({name.lstrip('*')!r}, async () => {{ {body}; }});\n" for name, body, _ in TESTS]
    return HEAD + "".join(bodies) + MORE
