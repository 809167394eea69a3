// Whose methods a test may rely on. Data has methods too (`includes`, `map`, `toString`): where a test calls one of those on
// what the code returned, an object that brings its own would judge itself. Only a test that uses it as an object lets it.
'use strict';
const { types } = require('node:util');
const { current, file, foul, need } = require('./in_node_marks.cjs');
const { isBuiltIn } = require('./in_node_wire.cjs');

const PLAIN = [Object, Array, String, Number, BigInt, Boolean, Map, Set, Date, RegExp, Promise, Error, ArrayBuffer, Uint8Array];
const LENDERS = [...PLAIN.map((each) => each.prototype), Object.getPrototypeOf(Uint8Array.prototype)];
const OF_DATA = new Set(LENDERS.flatMap((each) => Object.getOwnPropertyNames(each)));
for (const name of ['constructor', 'next', 'return', 'throw']) OF_DATA.delete(name);
for (const name of ['toJSON', Symbol.toPrimitive]) OF_DATA.add(name);
const CHANGING = new Set(['push', 'pop', 'shift', 'unshift', 'splice', 'fill', 'set', 'add', 'delete', 'clear']);
const CONVERTING = new Set(['valueOf', Symbol.toPrimitive]);

const SHUNNED = new Set(['arguments', 'caller', 'callee', 'constructor', 'prototype', 'toString', '__proto__']);

const origins = new WeakMap();
const homes = new WeakMap();
const passed = new WeakMap();
let objects = new Set();
let text = '';

/** Program text without comments, and with empty strings: what is said there is not done. */
function stripped(source) {
  const either = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return source.replace(either, (found) => (found[0] === '/' ? ' ' : "''"));
}

function usedAsObjects(source) {
  const found = new Set();
  for (const [, name, method] of source.matchAll(/([\w$]+)\s*\??\.\s*([\w$]+)\s*\(/g)) {
    if (!OF_DATA.has(method) || CHANGING.has(method)) found.add(name);
  }
  return found;
}

/** Which functions give objects that the test files use as such: they call methods on them that no data has, or that change it. */
function study(texts) {
  text = stripped(texts.join('\n'));
  objects = new Set();
  // A name is one variable within one test; what stands before the first test is there for all.
  const parts = text.split(/(?=\b(?:test|it)\s*(?:\.\s*\w+\s*)?\()/);
  for (const [number, part] of parts.entries()) {
    const used = usedAsObjects(number === 0 ? text : part);
    for (const [, name, callee] of part.matchAll(/([\w$]+)\s*=\s*(?:await\s+)?(?:[\w$]+\s*\.\s*)*([\w$]+)\s*\(/g)) {
      if (used.has(name)) objects.add(callee);
    }
  }
  for (const [, callee] of text.matchAll(/([\w$]+)\s*\([^()]*\)\s*\.\s*(?:push|pop|shift|unshift|set|add|delete|clear)\s*\(/g)) objects.add(callee);
  for (const [, name, alias] of text.matchAll(/([\w$]+)\s+as\s+([\w$]+)/g)) if (objects.has(alias)) objects.add(name);
  for (const [, name, other] of text.matchAll(/import\s+([\w$]+)|([\w$]+)\s*=\s*require\s*\(/g)) {
    if (objects.has(name ?? other)) objects.add('default');
  }
}

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Remembers where a value came from; objects inside of it came from there too. */
function lend(value, origin) {
  if (!isObject(value)) return value;
  const found = new Set([value]);
  for (const each of found) {
    // What was handed out by name may come back as a result: from then on it is one.
    if (!origins.get(each)?.isMade) origins.set(each, origin);
    for (const inner of parts(each)) if (isObject(inner)) found.add(inner);
    if (found.size > 100_000) break;
  }
  return value;
}

function parts(value) {
  if (types.isProxy(value)) return []; // Stands for what is no data; it is not to be looked at.
  const found = [];
  if (types.isMap(value)) found.push(...[...Map.prototype.entries.call(value)].flat());
  if (types.isSet(value)) found.push(...Set.prototype.values.call(value));
  if (ArrayBuffer.isView(value)) return found;
  for (let at = value; at && !isBuiltIn(at); at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) if (typeof key === 'string' && !SHUNNED.has(key)) found.push(value[key]);
  }
  return found;
}

/** The same for what lies in an object that the test handed over: the code may have put it there. */
function lendInside(value, origin) {
  if (!isObject(value) || typeof value === 'function') return;
  for (const inner of parts(value)) if (typeof inner !== 'function') lend(inner, origin);
}

/** An object that can be had by the name of an export, or lies inside of one. */
function house(value, name) {
  const found = new Set([value].filter(isObject));
  for (const each of found) {
    homes.set(each, (homes.get(each) ?? new Set()).add(name));
    for (const inner of parts(each)) if (isObject(inner)) found.add(inner);
    if (found.size > 10_000) break;
  }
}

/** Whether the test files name one of the exports that this object is part of. */
const isNamed = (self) => [...(homes.get(self) ?? [])].some((name) => name === 'default' || mentions(name));

function mentions(name) {
  const word = name.replace(/[^\w]/g, '\\$&');
  return new RegExp(`[{,]\\s*${word}\\s*(?:[,}:]|as\\b)|\\.\\s*${word}(?![\\w$])`).test(text);
}

/** The name of data's methods under which an object has this one; it may have others too. */
function nameOn(self, method) {
  for (let at = self; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) if (OF_DATA.has(key) && self[key] === method) return key;
  }
  return undefined;
}

function isUsed(self) {
  const origin = origins.get(self) ?? {};
  if (origin.isMade || origin.isUsed || objects.has(origin.name)) return true;
  const own = Object.getPrototypeOf(self);
  return current().made.has(own) || file.made.has(own);
}

const isAsked = (name) =>
  (name === 'toString' && /\.\s*toString\s*\(|\bString\s*\(/.test(text)) || (name === 'toJSON' && /\bJSON\s*\.\s*stringify\b/.test(text));

/** Throws where the code's own method must not answer. `isFar`: the code has had its hands on this object, since when
 * its exports were loaded (`isExport`) or later. */
function guard(method, self, isFar, isExport) {
  if (!isObject(self) || !(origins.has(self) || isFar)) return;
  if (isExport && !origins.has(self) && isNamed(self)) return;
  const name = nameOn(self, method);
  if (name === undefined) return;
  if (!isUsed(self)) {
    if (isAsked(name)) return;
    throw foul(`the code gave an object with its own ${String(name)}(), not plain data`);
  }
  if (CONVERTING.has(name)) throw need(`the code's own ${String(name)}() decides what the object is equal to`, true);
}

/** Whether this is the way through what an object holds. Data has its own; there the code's has no say. */
function isWalk(method, self) {
  if (!isObject(self) || types.isProxy(self) || self[Symbol.iterator] !== method) return false;
  if (isUsed(self)) return false;
  if (Array.isArray(self) || types.isMap(self) || types.isSet(self) || ArrayBuffer.isView(self)) {
    throw foul('the code gave data with its own way through it, not plain data');
  }
  return true;
}

/** What comes of a walk is the same each time, for a result that is not used as an object. */
function* walkAgain(self, start) {
  if (!passed.has(self)) passed.set(self, { items: [], source: start() });
  const { items, source } = passed.get(self);
  for (let at = 0; ; at += 1) {
    if (at === items.length) items.push(source.next());
    if (items[at].done) return items[at].value;
    yield items[at].value;
  }
}

module.exports = { guard, house, isUsed, isWalk, lend, lendInside, origins, study, walkAgain };
