// Stand-ins for the code's exports in the tests' sandbox: a call goes over as data, and data comes back.
'use strict';
const { types } = require('node:util');
const { BY_NAME, Graph, Nonsense } = require('./in_node_wire.cjs');
const { Reader } = require('./in_node_read.cjs');
const { Link } = require('./in_node_link.cjs');
const { Foul, current, file, foul, limits, need, running } = require('./in_node_marks.cjs');
const { guard, house, isUsed, isWalk, lend, lendInside, origins, walkAgain } = require('./in_node_methods.cjs');
const { reasonToShare } = require('./in_node_shared.cjs');

const ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const ASYNC_ITERATOR = Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf((async function* () {})())));

const promises = new Map();
const replies = new Map();
const names = new WeakMap();
const later = new WeakMap();
const thrown = new WeakSet();
const strange = new WeakMap();
const stands = new WeakSet();
const bound = [];
let link;
let files = [];
let state = 'none'; // none, begun (nothing is loaded yet), ready, lost (it hangs, or talks nonsense), gone (there will be no other)
let ended = 0;
let number = 0;
let last = file;
let origin = {};
let graph;
let reader;

/** Connects to the code's sandbox and has these files loaded there. */
function open(wanted) {
  files = wanted;
  link = new Link(Number(process.env.MOOT_LINK), { take, hello, stray: () => lose("the code's process sent nonsense"), gone });
  delete process.env.MOOT_LINK;
  return prepare();
}

function renew() {
  graph = new Graph(2, { odd: handOver, tells: false });
  const ours = (make) => (id, body) => {
    const object = make(id, body);
    stands.add(object);
    return object;
  };
  const objects = { f: ours(standIn), p: ours(promise), g: ours(generator), M: ours(() => new Module()), q: (_, what) => odd(what) };
  reader = new Reader(graph, { ...objects, odd, names: (_, module, pairs) => module.set(pairs), computed, wire });
}

/** Only what the test made itself shows that it needs more than data; what the code gave does not. */
function handOver(value, what) {
  if (graph.isScanning) throw new Nonsense(what);
  if (isOurs(value)) throw foul(`the code gave ${strange.get(value) ?? 'more objects than can be kept track of'}, not plain data`);
  throw need(`the test hands over ${what}`);
}

const isOurs = (value) => strange.has(value) || stands.has(value) || (isPlain(value) && stands.has(Object.getPrototypeOf(value)));

class Module {
  values = new Map();
  bind = null;

  set(pairs) {
    this.values = new Map(pairs);
    this.bind?.(this.values);
  }
}

function hello() {
  if (state === 'ready') {
    abandon('the code ended its process');
    if (replies.size === 0) blame('the code ended its process');
  }
  state = 'begun';
}

function gone() {
  abandon('the code has no process any more');
  state = 'gone';
}

function blame(why, status = 'error') {
  const record = last.isOver ? file : last;
  if (!(record.mark instanceof Foul)) record.mark = new Foul(why, status);
}

/** Whoever waits for an answer of that process waits for nothing. */
function abandon(why, status = 'error') {
  ended += 1;
  for (const { reject, record } of promises.values()) {
    const error = new Foul(why, status);
    if (!(record.mark instanceof Foul)) record.mark = error;
    reject(error);
  }
  promises.clear();
  link.listen(false);
}

function lose(why, status = 'error') {
  blame(why, status);
  abandon(why, status);
  state = 'lost';
  link.isAstray = true;
  link.send({ op: 'reset' }, [], performance.now() + 100);
}

function take(text) {
  if (state !== 'ready') return;
  try {
    const frame = JSON.parse(text);
    if (frame === null || typeof frame !== 'object' || Array.isArray(frame)) throw new Nonsense('no frame');
    if (typeof frame.printed === 'string' && frame.printed) process.stderr.write(frame.printed);
    if (frame.tooMuch !== undefined) throw new Nonsense(`the code gave ${String(frame.tooMuch).slice(0, 100)}`);
    reader.take(frame.told);
    if (!Array.isArray(frame.values)) throw new Nonsense('no values');
    deliver(frame, frame.values.map((value) => reader.value(value)));
  } catch (error) {
    lose(error instanceof Nonsense ? error.message : "the code's process sent nonsense");
  }
}

function deliver(frame, values) {
  if (frame.op === 'reply' && replies.get(frame.n) === null) replies.set(frame.n, { frame, values });
  else if (frame.op === 'settled' && promises.has(frame.id)) settle(promises.get(frame.id), frame, values[0]);
  else if (frame.op === 'crashed') crash(values[0]);
  else if (frame.op !== 'changed') throw new Nonsense("the code's process answered what nobody asked");
}

function crash(error) {
  const words = error instanceof Error ? String(error.stack ?? error.message) : typeof error;
  if (last.isOver) process.stderr.write(`the code failed after its test: ${words}\n`);
  else blame(`the code failed outside of a call: ${words}`, 'failed');
}

function settle(waiting, frame, value) {
  promises.delete(frame.id);
  link.listen(promises.size > 0);
  running.run(waiting.record, () => {
    if (frame.ok === true) waiting.resolve(lend(value, waiting.origin));
    else waiting.reject(caught(value));
  });
}

function caught(error) {
  if (error !== null && typeof error === 'object') thrown.add(error);
  return lend(error, {});
}

/** Waits for a process of the code. One that hangs is ended by its own shell, a little later than we lose patience. */
function recover() {
  return link.wait(() => state === 'begun', performance.now() + limits.seconds * 1000 + 5000);
}

/** When its time is up, a test that still waits for the code ends, and so does the code's process: it may hang. */
function expire(record) {
  if (record.isOver || ![...promises.values()].some((each) => each.record === record)) return;
  last = record;
  lose(`the code gave no answer within ${limits.seconds} s`, 'timeout');
  recover();
}

/** Has the files loaded in a process of the code; after one that was lost, in a new one. */
function prepare() {
  if (state === 'ready') return undefined;
  const began = performance.now();
  if (!recover()) throw foul('the code has no process any more', 'error');
  renew();
  state = 'ready';
  const reply = exchange({ op: 'load', files }, [], performance.now() + limits.seconds * 1000);
  current().deadline += performance.now() - began; // That is not the test's time.
  if (!reply || reply.frame.files?.length !== files.length || reply.values.length !== files.length) {
    throw current().mark ?? foul('the code ended its process while it was loaded', 'error');
  }
  graph.pin();
  return files.map((path, at) => adopt(path, reply.frame.files[at], reply.values[at], at));
}

function adopt(path, head, value, at) {
  const isWhole = head?.file === path && typeof head.ok === 'boolean' && typeof head.common === 'boolean';
  if (!isWhole || (head.ok && !head.common && !(value instanceof Module))) {
    throw foul("the code's process sent nonsense", 'error');
  }
  const pairs = value instanceof Module ? value.values : new Map(isPlain(value) ? Object.entries(value) : []);
  if (head.common) pairs.set('default', value);
  for (const [name, each] of pairs) {
    if (typeof each === 'function') names.set(each, name);
    house(each, name);
  }
  const before = bound[at];
  if (before) {
    for (const [name, each] of pairs) replace(before.pairs.get(name), each);
    if (value instanceof Module) value.bind = before.value.bind;
    value.bind?.(value.values);
  }
  bound[at] = { path, ok: head.ok, common: head.common, value, pairs };
  return bound[at];
}

const isPlain = (value) => typeof value === 'object' && value !== null && !strange.has(value);

/** The test may hold on to what it got of a process that has ended. */
function replace(before, after) {
  if (typeof before !== 'function' || typeof after !== 'function') return;
  later.set(before, after);
  before.prototype = after.prototype;
}

/** The reply, or null where none came. */
function exchange(head, told, deadline) {
  number += 1;
  const n = number;
  const before = ended;
  replies.set(n, null);
  const sent = link.send({ ...head, n }, told, deadline);
  if (!sent || !link.wait(() => replies.get(n) !== null || ended !== before, deadline)) {
    if (state === 'ready') lose(`the code gave no answer within ${limits.seconds} s`, 'timeout');
  }
  const reply = replies.get(n);
  replies.delete(n);
  return reply;
}

function ask(how, callee, self, given, from) {
  const record = current();
  if (record.mark) throw record.mark;
  last = record;
  if (performance.now() > record.deadline) throw foul(`the test took longer than ${limits.seconds} s`, 'timeout');
  const shared = reasonToShare();
  if (shared) throw need(shared);
  prepare();
  const target = later.get(callee) ?? callee;
  if (!graph.numbers.has(target)) throw foul('the process of the code that made this object has ended', 'error');
  const drop = graph.old();
  graph.forget(drop);
  const { values, told } = graph.encode([target, self, ...given]);
  drop.push(...graph.dropped.splice(0));
  origin = { ...from };
  const reply = exchange({ op: 'ask', how, values, drop }, told, Math.min(record.deadline, performance.now() + limits.seconds * 1000));
  for (const each of given) lendInside(each, {});
  if (!reply) {
    recover();
    throw record.mark ?? foul('the code ended its process', 'error');
  }
  if (reply.values.length !== 1) throw foul("the code's process sent nonsense", 'error');
  if (reply.frame.ok !== true) throw caught(reply.values[0]);
  return lend(reply.values[0], origin);
}

function standIn(id, body) {
  const [name, length] = Array.isArray(body) ? body : [];
  if (typeof name !== 'string' || !Number.isInteger(length) || length < 0) throw new Nonsense('no function');
  function stub(...given) {
    if (new.target) return made(stub, new.target, given);
    if (given.length === 1 && thrown.has(given[0]) && /node:(internal\/)?assert/.test(new Error().stack.split('\n')[2])) {
      throw foul(`${names.get(stub) ?? 'what the test names'} is no class of errors`);
    }
    guard(stub, this, graph.numbers.has(this), graph.pinned.has(graph.numbers.get(this)));
    const self = types.isModuleNamespaceObject(this) ? undefined : this;
    const call = () => ask('call', stub, self, given, { name: names.get(stub), isUsed: origins.has(self) && isUsed(self) });
    return isWalk(stub, self) ? walkAgain(self, call) : call();
  }
  Object.defineProperty(stub, 'name', { value: name });
  Object.defineProperty(stub, 'length', { value: length });
  Object.defineProperty(stub, 'toString', { value: () => textOf(stub) });
  // Arrays and the like would make new ones by the code's class.
  Object.defineProperty(stub, Symbol.species, { value: null });
  return stub;
}

function textOf(stub) {
  // A result that is a function is not asked for its text, but taken for data.
  if (origins.has(stub) || !names.has(stub)) throw foul('the code gave a function, not plain data');
  throw need('the test reads the text of a function');
}

function made(stub, target, given) {
  if (target !== stub) throw need('the test makes a class of its own out of one of the code');
  const value = ask('new', stub, undefined, given, { isMade: true });
  if (!isPlain(value) && typeof value !== 'function') throw foul("the code's process sent nonsense", 'error');
  current().made.add(Object.getPrototypeOf(value));
  return value;
}

/** Classes: which prototype and which parent a function has, as far as the code says so. */
function wire(object, kind, body, reference) {
  if (!Array.isArray(body)) throw new Nonsense('no class');
  const [, , prototype, parent] = body;
  if (kind === 'f') {
    if (prototype) Object.defineProperty(object, 'prototype', { value: reference(prototype, 'P') });
    if (typeof parent === 'string') Object.setPrototypeOf(object, builtIn(parent));
    else if (parent) Object.setPrototypeOf(object, reference(parent, 'f'));
    return;
  }
  stands.add(object);
  const [maker, above] = body;
  if (maker) Object.defineProperty(object, 'constructor', { value: reference(maker, 'f'), writable: true, configurable: true });
  if (above === 1) Object.setPrototypeOf(object, null);
  else Object.setPrototypeOf(object, typeof above === 'string' ? builtIn(above).prototype : reference(above, 'P'));
}

function builtIn(name) {
  if (!BY_NAME.has(name)) throw new Nonsense('no class');
  return BY_NAME.get(name);
}

function promise(id) {
  const record = current();
  link.listen(true);
  return new Promise((resolve, reject) => promises.set(id, { resolve, reject, record, origin }));
}

function generator(id, body) {
  const isLate = body === 'async';
  const object = Object.create(isLate ? ASYNC_ITERATOR : ITERATOR);
  for (const how of ['next', 'return', 'throw']) {
    const value = (given) => step(ask(how, object, undefined, [given], {}), isLate);
    Object.defineProperty(object, how, { value });
  }
  return object;
}

function step(result, isLate) {
  if (isLate ? types.isPromise(result) : Array.isArray(result) && result.length === 2) {
    return isLate ? result : { done: result[0] === true, value: result[1] };
  }
  throw foul("the code's process sent nonsense", 'error');
}

function computed(object, pairs) {
  for (const [key, value] of pairs) {
    const set = (given) => ask('set', object, undefined, [key, given], {});
    Object.defineProperty(object, key, { get: () => value, set, enumerable: false, configurable: true });
  }
}

const TRAPS = Object.getOwnPropertyNames(Reflect).filter((name) => typeof Reflect[name] === 'function');

/** What is no data: whoever looks at it finds out. */
function odd(what) {
  if (typeof what !== 'string') throw new Nonsense('no word');
  const trap = () => { throw foul(`the code gave ${what.slice(0, 100)}, not plain data`); };
  const value = new Proxy({}, Object.fromEntries(TRAPS.map((name) => [name, trap])));
  strange.set(value, what.slice(0, 100));
  return value;
}

/** A file of the code that no test file names: it was not loaded. */
function refuse(path) {
  throw need(`the test loads ${path} by a name that is made up as it runs`);
}

module.exports = { bound, expire, open, refuse };
