// Values on the wire between tests and code: each object has a number, so that both sides keep what is the same object.
// A frame lists the objects that changed. The tests' side decodes strictly: whoever sends may be hostile.
'use strict';
const { types } = require('node:util');

const FRAME = 32 * 1024 * 1024;
const OBJECTS = 100_000;
const WINDOW = 64;
const SCAN = 500;
const KEPT = 20_000;

const ERRORS = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError, AggregateError];
const BYTES = [
  ...[Uint8Array, Int8Array, Uint8ClampedArray, Uint16Array, Int16Array, Uint32Array, Int32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array, ArrayBuffer, DataView, Buffer],
];
const CLASSES = [Object, Function, Array, Map, Set, Date, RegExp, Promise, URL, ...ERRORS, ...BYTES];
const NAMES = new Map(CLASSES.map((each) => [each.prototype, each.name]));
const isBuiltIn = (prototype) => NAMES.has(prototype);
const BY_NAME = new Map(CLASSES.map((each) => [each.name, each]));
const SYMBOLS = new Map(
  Object.getOwnPropertyNames(Symbol)
    .filter((name) => typeof Symbol[name] === 'symbol')
    .map((name) => [Symbol[name], name]),
);
// The only ones that an object may bring along: others would change what built-in functions make of it.
const KEYS = [Symbol.iterator, Symbol.asyncIterator, Symbol.toPrimitive];
const HIDDEN = ['message', 'stack', 'cause', 'errors'];
const FUNCTION_OWN = ['length', 'name', 'prototype', 'arguments', 'caller', 'toString', Symbol.hasInstance];
const EXTENT = [(x) => x, Object.preventExtensions, Object.seal, Object.freeze];

class Nonsense extends Error {}

const extent = (object) => {
  if (Object.isExtensible(object)) return 0;
  if (Object.isFrozen(object)) return 3;
  return Object.isSealed(object) ? 2 : 1;
};

function kindOf(object) {
  if (types.isProxy(object)) return 'q';
  if (typeof object === 'function') return 'f';
  if (Array.isArray(object)) return 'a';
  if (types.isDate(object)) return 'd';
  if (types.isMap(object)) return 'm';
  if (types.isSet(object)) return 't';
  if (types.isRegExp(object)) return 'x';
  if (types.isNativeError(object)) return 'e';
  if (ArrayBuffer.isView(object) || types.isArrayBuffer(object)) return 'y';
  if (types.isPromise(object)) return 'p';
  if (types.isGeneratorObject(object)) return 'g';
  if (types.isModuleNamespaceObject(object)) return 'M';
  if (object instanceof URL && Object.getPrototypeOf(object) === URL.prototype) return 'u';
  return isStrange(object) ? 'q' : 'o';
}

const isStrange = (object) =>
  types.isBoxedPrimitive(object) || types.isWeakMap(object) || types.isWeakSet(object) || types.isExternal(object) ||
  types.isArgumentsObject(object) || types.isSharedArrayBuffer(object) || types.isMapIterator(object) ||
  types.isSetIterator(object) || object instanceof WeakRef;

const ownPrototype = { a: Array, d: Date, m: Map, t: Set, x: RegExp, o: Object, u: URL };

function bytesOf(object) {
  const view = ArrayBuffer.isView(object) ? object : new Uint8Array(object);
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
}

// Too large to be looked through at every call, only because it might have changed.
const isLarge = (object) => (object.length ?? object.size ?? object.byteLength ?? 0) > 1000;

const nameOf = (object) => NAMES.get(Object.getPrototypeOf(object));

/** What one side knows of the objects that went over. `odd(value, what)` stands in for what is no data. */
class Graph {
  constructor(first, { odd, tells, follow }) {
    this.number = first;
    this.follow = follow; // Called with each promise that is told of.
    this.isScanning = false;
    this.dropped = [];
    this.bodies = new WeakMap();
    this.still = new WeakMap(); // Functions and prototypes that have nothing which could change, as long as they get nothing new.
    this.recent = [];
    this.odd = odd;
    this.tells = tells; // Whether functions and classes may be described: only the code's side has them.
    this.objects = new Map();
    this.numbers = new WeakMap();
    this.last = new Map();
    this.pinned = new Set();
    this.kinds = new Map();
    this.kept = new Map();
    this.prototypes = new WeakSet();
  }

  know(id, object) {
    this.objects.set(id, object);
    this.numbers.set(object, id);
    this.recent.push(id);
    if (this.recent.length > 2 * WINDOW) this.recent = this.recent.slice(-WINDOW);
  }

  forget(ids) {
    for (const id of ids) {
      if (this.objects.has(id)) this.numbers.delete(this.objects.get(id));
      for (const table of [this.objects, this.last, this.kinds, this.kept]) table.delete(id);
    }
  }

  /** What is known now is never dropped: the exports of the code. */
  pin() {
    for (const id of this.objects.keys()) this.pinned.add(id);
  }

  /** The numbers of objects that are too old to be watched any more. */
  old() {
    const extra = this.objects.size - this.pinned.size - KEPT;
    if (extra < 0) return [];
    return [...this.objects.keys()].filter((id) => !this.pinned.has(id)).slice(0, extra + KEPT / 2);
  }

  /** The values, and a description of each object that is new or changed since it was last told. */
  encode(values) {
    const walk = { queue: [], seen: new Set(), told: [] };
    const out = values.map((value) => this.value(value, walk));
    this.drain(walk, OBJECTS);
    walk.isScan = true;
    for (const id of this.recent.slice(-WINDOW).reverse()) {
      if (this.objects.has(id) && !this.pinned.has(id)) this.value(this.objects.get(id), walk);
    }
    this.drain(walk, walk.seen.size + SCAN, true);
    return { values: out, told: walk.told };
  }

  drain(walk, most, stop = false) {
    for (let at = 0; walk.queue.length > 0; at += 1) {
      if (walk.seen.size > most) {
        if (stop) return;
        throw new RangeError('more than 100000 objects');
      }
      const batch = walk.queue;
      walk.queue = [];
      for (const [object, id, shallow] of batch) {
        if (walk.isScan) this.rescan(object, id, walk);
        else this.describe(object, id, shallow, walk);
      }
    }
  }

  /** What can no longer be told, and nobody asked for, is watched no more. */
  rescan(object, id, walk) {
    this.isScanning = true;
    try {
      this.describe(object, id, false, walk);
    } catch {
      this.forget([id]);
      this.dropped.push(id);
    } finally {
      this.isScanning = false;
    }
  }

  value(value, walk, shallow = false) {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : ['n', Object.is(value, -0) ? '-0' : `${value}`];
      case 'undefined':
        return ['u'];
      case 'bigint':
        return ['b', `${value}`];
      case 'symbol':
        return this.symbol(value, walk);
      default:
        return value === null ? null : this.reference(value, walk, shallow);
    }
  }

  symbol(symbol, walk) {
    if (SYMBOLS.has(symbol)) return ['s', SYMBOLS.get(symbol)];
    const key = Symbol.keyFor(symbol);
    if (key !== undefined && !key.startsWith('nodejs.')) return ['S', key];
    return this.tells && key === undefined ? this.reference(symbol, walk, false) : this.odd(symbol, 'a symbol');
  }

  reference(object, walk, shallow) {
    let id = this.numbers.get(object);
    if (id === undefined) {
      const strange = this.reason(object);
      if (strange && !this.tells) return this.odd(object, strange);
      id = this.number;
      this.number += 2;
      this.know(id, object);
      this.kinds.set(id, strange ? 'q' : this.prototypes.has(object) ? 'P' : kindOf(object));
      if (strange) this.bodies.set(object, strange);
    }
    if (!walk.seen.has(id)) {
      walk.seen.add(id);
      walk.queue.push([object, id, shallow]);
    }
    return ['r', id];
  }

  /** Why this object cannot go over as data; empty where it can. */
  reason(object) {
    if (typeof object === 'symbol') return 'a symbol';
    const kind = kindOf(object);
    if (kind === 'q') return types.isProxy(object) ? 'a Proxy' : `a ${Object.prototype.toString.call(object).slice(8, -1)}`;
    if (kind === 'y' && nameOf(object) === undefined) return 'bytes of its own class';
    if (kind === 'a' && object.length > OBJECTS * 10) return 'an array of more than a million places';
    if (this.tells) return '';
    if (kind === 'f') return 'a function';
    if ('pgM'.includes(kind)) return `a ${{ p: 'Promise', g: 'generator', M: 'module' }[kind]}`;
    const own = Object.getPrototypeOf(object);
    if (own !== null && !NAMES.has(own) && !this.numbers.has(own)) return 'an object of a class of its own';
    // Such are `Math` and `Object.prototype`: they are not for the code to change.
    return Reflect.ownKeys(object).some((key) => this.isBuried(object, key, kind)) ? 'an object with hidden properties' : '';
  }

  isBuried(object, key, kind) {
    if ((kind === 'a' && key === 'length') || (kind === 'x' && key === 'lastIndex') || (kind === 'e' && HIDDEN.includes(key))) return false;
    return !Object.getOwnPropertyDescriptor(object, key).enumerable;
  }

  describe(object, id, shallow, walk) {
    const kind = this.kinds.get(id);
    // The other side learns that it is there, and no more.
    if (kind === 'q') return this.tell(id, [id, kind, 0, 0, this.bodies.get(object), [], []], walk);
    if (this.last.has(id) && ((walk.isScan && isLarge(object)) || this.still.get(object) === Reflect.ownKeys(object).length)) return undefined;
    if (!this.tells && 'fPpgM'.includes(kind)) return undefined;
    const record = [id, kind, extent(object), this.heritage(object, kind, walk), null, [], []];
    const put = (value) => this.value(value, walk, shallow);
    record[4] = this.body(object, kind, put, walk);
    record[5] = this.properties(object, kind, put);
    if (this.tells) record[6] = shallow ? [] : this.computed(object, kind, walk);
    else record[6] = this.kept.get(id) ?? [];
    if (kind === 'P' || (kind === 'f' && record[5].length === 0)) this.still.set(object, Reflect.ownKeys(object).length);
    return this.tell(id, record, walk);
  }

  tell(id, record, walk) {
    const text = JSON.stringify(record);
    if (!this.tells && record[1] === 'q') return;
    if (this.last.get(id) === text) return;
    this.last.set(id, text);
    walk.told.push(text);
  }

  heritage(object, kind, walk) {
    if ('fPpgMuyq'.includes(kind)) return 0;
    const prototype = Object.getPrototypeOf(object);
    if (prototype === null) return 1;
    if (kind === 'e' ? ERRORS.some((each) => each.prototype === prototype) : prototype === ownPrototype[kind].prototype) return 0;
    if (NAMES.has(prototype)) return NAMES.get(prototype);
    // Told as data before: both at once it cannot be.
    if (!this.prototypes.has(prototype) && this.last.has(this.numbers.get(prototype))) return 'Object';
    if (this.tells) this.prototypes.add(prototype);
    return this.reference(prototype, walk, false);
  }

  body(object, kind, put, walk) {
    switch (kind) {
      case 'a': {
        const items = [];
        for (let at = 0; at < object.length; at += 1) items.push(at in object ? put(object[at]) : ['h']);
        return items;
      }
      case 'd':
        return put(Date.prototype.getTime.call(object));
      case 'm':
        return [...Map.prototype.entries.call(object)].map(([key, value]) => [put(key), put(value)]);
      case 't':
        return [...Set.prototype.values.call(object)].map(put);
      case 'x':
        return [object.source, object.flags, object.lastIndex];
      case 'y':
        return [nameOf(object), bytesOf(object).toString('base64')];
      case 'u':
        return object.href;
      case 'e':
        return (ERRORS.find((each) => object instanceof each && each !== Error) ?? Error).name;
      case 'f':
        if (!this.bodies.has(object)) this.bodies.set(object, this.functionBody(object, walk));
        return this.bodies.get(object);
      case 'p':
        this.follow(object, this.numbers.get(object));
        return null;
      case 'P':
        return this.prototypeBody(object, walk);
      case 'g':
        return typeof object[Symbol.asyncIterator] === 'function' ? 'async' : 'sync';
      default:
        return null;
    }
  }

  functionBody(object, walk) {
    const prototype = Object.getOwnPropertyDescriptor(object, 'prototype')?.value;
    const parent = Object.getPrototypeOf(object);
    const isClass = /^class\b/.test(Function.prototype.toString.call(object));
    const members = typeof prototype === 'object' && prototype !== null ? Reflect.ownKeys(prototype).length : 0;
    const wide = isClass || members > 1 || (members === 1 && Object.getPrototypeOf(prototype) !== Object.prototype);
    if (!wide || types.isGeneratorFunction(object)) return [String(object.name), Number(object.length) || 0, 0, 0];
    this.prototypes.add(prototype);
    const above = parent === Function.prototype ? 0 : this.reference(parent, walk, false);
    return [String(object.name), Number(object.length) || 0, this.reference(prototype, walk, false), NAMES.has(parent.prototype) ? parent.name : above];
  }

  prototypeBody(object, walk) {
    const maker = Object.getOwnPropertyDescriptor(object, 'constructor')?.value;
    const parent = Object.getPrototypeOf(object);
    let above = parent === null ? 1 : NAMES.get(parent);
    if (above === undefined) {
      this.prototypes.add(parent);
      above = this.reference(parent, walk, false);
    }
    return [typeof maker === 'function' ? this.reference(maker, walk, false) : 0, above];
  }

  properties(object, kind, put) {
    const found = [];
    if ('yupg'.includes(kind)) return found;
    for (const key of Reflect.ownKeys(object)) {
      const place = Object.getOwnPropertyDescriptor(object, key);
      if (!place || !this.isTold(object, key, kind, place)) continue;
      const name = typeof key === 'string' ? key : this.key(key);
      if (name !== null) found.push([name, this.read(object, key, place, put)]);
    }
    return found;
  }

  key(symbol) {
    if (SYMBOLS.has(symbol)) return KEYS.includes(symbol) ? ['s', SYMBOLS.get(symbol)] : null;
    const name = Symbol.keyFor(symbol);
    return name === undefined || name.startsWith('nodejs.') ? null : ['S', name];
  }

  isTold(object, key, kind, place) {
    if (kind === 'a') return place.enumerable && !(typeof key === 'string' && /^(0|[1-9]\d*)$/.test(key));
    if (kind === 'e') return place.enumerable || HIDDEN.includes(key);
    if (kind === 'f') return !FUNCTION_OWN.includes(key);
    if (kind === 'P') return key !== 'constructor' && 'value' in place;
    return place.enumerable;
  }

  read(object, key, place, put) {
    // What newer engines make of an error's stack is a getter too.
    if (!('get' in place) || (key === 'stack' && types.isNativeError(object))) {
      try {
        return put(object[key]);
      } catch {
        return this.odd(object, 'a name without a value');
      }
    }
    if (!this.tells) return this.odd(object, 'an object with a getter');
    try {
      return put(Reflect.get(object, key));
    } catch {
      return this.odd(object, 'a getter that throws');
    }
  }

  /** What the getters of an object's class give just now: read once, here, and told as data. */
  computed(object, kind, walk) {
    const found = [];
    if (!'oamte'.includes(kind)) return found;
    const seen = new Set();
    for (let at = Object.getPrototypeOf(object); at && !NAMES.has(at); at = Object.getPrototypeOf(at)) {
      for (const key of Object.getOwnPropertyNames(at)) {
        const place = Object.getOwnPropertyDescriptor(at, key);
        if (!(place?.get || place?.set) || seen.has(key) || key === '__proto__') continue;
        seen.add(key);
        try {
          found.push([key, this.value(place.get && Reflect.apply(place.get, object, []), walk, true)]);
        } catch {
          found.push([key, this.odd(object, 'a getter that throws')]);
        }
      }
    }
    return found;
  }
}

module.exports = { BY_NAME, BYTES, ERRORS, EXTENT, FRAME, FUNCTION_OWN, Graph, HIDDEN, KEYS, Nonsense, OBJECTS, SYMBOLS, isBuiltIn };
