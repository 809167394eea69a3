// What the other side sent, as objects of this side. Whatever has not the exact shape is nonsense, and is refused.
'use strict';
const { BY_NAME, BYTES, ERRORS, EXTENT, FUNCTION_OWN, HIDDEN, KEYS, Nonsense, OBJECTS, SYMBOLS } = require('./in_node_wire.cjs');

const WELL_KNOWN = new Map([...SYMBOLS].map(([symbol, name]) => [name, symbol]));
const NUMBERS = new Map([['NaN', NaN], ['Infinity', Infinity], ['-Infinity', -Infinity], ['-0', -0]]);
const OPEN = 'oadmtxeyufPpgMq';
const WITH_PROTOTYPE = 'oadmtxe';
const STANDARD = { o: Object, a: Array, d: Date, m: Map, t: Set, x: RegExp };

function refuse(what) {
  throw new Nonsense(`the code's process sent nonsense: ${what}`);
}

const list = (value, what, length) => {
  if (!Array.isArray(value) || (length !== undefined && value.length !== length)) refuse(what);
  return value;
};
const text = (value, what) => (typeof value === 'string' ? value : refuse(what));

/** `make`: how this side makes what only it knows: functions (f), promises (p), generators (g), modules (M), odd values (odd). */
class Reader {
  constructor(graph, make, isFar = false) {
    this.isFar = isFar; // Whether this is the code's side, which believes what the tests' side says.
    this.graph = graph;
    this.make = make;
  }

  take(told) {
    if (list(told, 'no list of objects').length > OBJECTS) refuse('too many objects');
    const fresh = new Set();
    for (const record of told) this.shell(record, fresh);
    for (const record of told) this.fill(record, fresh.has(record[0]));
    for (const record of told) this.close(record);
  }

  shell(record, fresh) {
    const [id, kind, extent, , body, properties, computed] = list(record, 'no object', 7);
    if (!Number.isSafeInteger(id) || id < 1) refuse('an object without a number');
    if (text(kind, 'no kind').length !== 1 || !OPEN.includes(kind)) refuse('a kind of object that there is not');
    if (![0, 1, 2, 3].includes(extent)) refuse('an object that is neither open nor closed');
    list(properties, 'no properties');
    list(computed, 'no properties');
    if (this.graph.kinds.has(id)) {
      if (this.graph.kinds.get(id) !== kind) refuse('an object that became another');
      return;
    }
    // Each side numbers its own objects: the other one cannot make one up.
    if (id % 2 === this.graph.number % 2) refuse('an object that was never sent');
    else {
      this.graph.know(id, this.empty(kind, body, id));
      this.graph.kinds.set(id, kind);
      if (kind === 'P') this.graph.prototypes.add(this.graph.objects.get(id));
      fresh.add(id);
    }
  }

  empty(kind, body, id) {
    switch (kind) {
      case 'o':
      case 'P':
        return {};
      case 'a':
        return [];
      case 'd':
        return new Date(NaN);
      case 'm':
        return new Map();
      case 't':
        return new Set();
      case 'x':
        return this.pattern(list(body, 'no pattern', 3));
      case 'e':
        return this.error(body);
      case 'y':
        return this.bytes(list(body, 'no bytes', 2));
      case 'u':
        return this.address(text(body, 'no address'));
      default:
        return this.make[kind]?.(id, body) ?? refuse('an object that only the code has');
    }
  }

  pattern([source, flags]) {
    try {
      return new RegExp(text(source, 'no pattern'), text(flags, 'no pattern'));
    } catch {
      return refuse('no pattern');
    }
  }

  address(href) {
    try {
      return new URL(href);
    } catch {
      return refuse('no address');
    }
  }

  error(name) {
    const kind = ERRORS.find((each) => each.name === name) ?? refuse('no error');
    return kind === AggregateError ? new AggregateError([]) : new kind();
  }

  bytes([name, data]) {
    const kind = BYTES.find((each) => each.name === name) ?? refuse('no bytes');
    const bytes = Buffer.from(text(data, 'no bytes'), 'base64');
    if (kind === Buffer) return Buffer.from(bytes);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    if (kind === ArrayBuffer) return buffer;
    if (buffer.byteLength % (kind.BYTES_PER_ELEMENT ?? 1)) refuse('bytes that are cut off');
    return new kind(buffer);
  }

  fill([id, kind, , heritage, body, properties, computed], fresh) {
    if (kind === 'q') return;
    const object = this.graph.objects.get(id);
    if (Object.isFrozen(object) && !fresh) return;
    if (WITH_PROTOTYPE.includes(kind)) this.inherit(object, kind, heritage, fresh);
    this.content(object, kind, body, fresh);
    if (kind === 'M') this.make.names(id, object, properties.map((each) => this.pair(each)));
    else if (!'yu'.includes(kind)) this.properties(object, kind, properties.map((each) => this.pair(each)));
    if (computed.length > 0 && id % 2 === this.graph.number % 2 && !this.isFar) refuse('a getter that was never sent');
    if (computed.length > 0) this.make.computed(object, computed.map((each) => this.pair(each)));
    this.graph.kept.set(id, computed);
  }

  pair(each) {
    const [key, value] = list(each, 'no property', 2);
    if (typeof key === 'string') return [key, this.value(value)];
    const [tag, name] = list(key, 'no name', 2);
    const symbol = tag === 's' || tag === 'S' ? this.symbol(tag, name) : refuse('no name');
    if (tag === 's' && !KEYS.includes(symbol)) refuse('a name that changes what the object is');
    return [symbol, this.value(value)];
  }

  symbol(tag, name) {
    if (tag === 'S' && !text(name, 'no symbol').startsWith('nodejs.')) return Symbol.for(name);
    return WELL_KNOWN.get(name) ?? refuse('no symbol');
  }

  inherit(object, kind, heritage, fresh) {
    if (!fresh) return;
    let prototype = kind === 'e' ? Object.getPrototypeOf(object) : STANDARD[kind].prototype;
    if (heritage === 1) prototype = null;
    else if (typeof heritage === 'string') prototype = (BY_NAME.get(heritage) ?? refuse('no class')).prototype;
    else if (heritage !== 0) prototype = this.reference(heritage, 'P');
    if (prototype !== Object.getPrototypeOf(object)) Object.setPrototypeOf(object, prototype);
  }

  reference(value, kind) {
    const [tag, id] = list(value, 'no reference', 2);
    if (tag !== 'r' || !this.graph.objects.has(id) || this.graph.kinds.get(id) !== kind) refuse('no class');
    return this.graph.objects.get(id);
  }

  content(object, kind, body, fresh) {
    switch (kind) {
      case 'a':
        return this.items(object, list(body, 'no items'));
      case 'd': {
        const time = this.value(body);
        if (typeof time !== 'number') refuse('no time');
        return Date.prototype.setTime.call(object, time);
      }
      case 'm':
        Map.prototype.clear.call(object);
        for (const each of list(body, 'no entries')) {
          const [key, value] = list(each, 'no entry', 2);
          Map.prototype.set.call(object, this.value(key), this.value(value));
        }
        return undefined;
      case 't':
        Set.prototype.clear.call(object);
        for (const each of list(body, 'no items')) Set.prototype.add.call(object, this.value(each));
        return undefined;
      case 'x':
        if (object.source !== body[0] || object.flags !== body[1] || !Number.isInteger(body[2])) refuse('no pattern');
        object.lastIndex = body[2];
        return undefined;
      case 'y':
        return fresh ? undefined : this.overwrite(object, this.bytes(list(body, 'no bytes', 2)));
      case 'f':
      case 'P':
        return this.make.wire(object, kind, body, (value, of) => this.reference(value, of));
      default:
        return undefined;
    }
  }

  overwrite(object, bytes) {
    if (object.byteLength !== bytes.byteLength) refuse('bytes of another length');
    const raw = (each) => new Uint8Array(each.buffer ?? each, each.byteOffset ?? 0, each.byteLength);
    raw(object).set(raw(bytes));
  }

  items(array, body) {
    array.length = body.length;
    body.forEach((item, at) => {
      if (Array.isArray(item) && item.length === 1 && item[0] === 'h') delete array[at];
      else put(array, at, this.value(item), true);
    });
  }

  properties(object, kind, pairs) {
    const named = new Map(pairs);
    if (kind === 'f' && FUNCTION_OWN.some((key) => named.has(key))) refuse('a function that would be another');
    for (const key of Reflect.ownKeys(object)) {
      const place = Object.getOwnPropertyDescriptor(object, key);
      const told = kind === 'e' && HIDDEN.includes(key) ? true : place.enumerable && !(kind === 'a' && /^\d+$/.test(String(key)));
      if (told && !named.has(key) && place.configurable && 'oamte'.includes(kind)) delete object[key];
    }
    for (const [key, value] of pairs) {
      const shown = kind === 'P' || (kind === 'e' && HIDDEN.includes(key)) || (kind === 'f' && typeof value === 'function');
      put(object, key, value, !shown);
    }
  }

  close(record) {
    const [id, kind, extent] = record;
    const object = this.graph.objects.get(id);
    this.graph.last.set(id, JSON.stringify(record));
    if (extent > 0 && kind !== 'q' && !ArrayBuffer.isView(object)) EXTENT[extent](object);
  }

  value(value) {
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return value;
    const [tag, what] = list(value, 'no value');
    if (value.length > 2) refuse('no value');
    switch (tag) {
      case 'u':
        return undefined;
      case 'n':
        return NUMBERS.has(what) ? NUMBERS.get(what) : refuse('no number');
      case 'b':
        return /^-?\d{1,100000}$/.test(text(what, 'no number')) ? BigInt(what) : refuse('no number');
      case 's':
      case 'S':
        return this.symbol(tag, what);
      case 'r':
        return this.graph.objects.has(what) ? this.graph.objects.get(what) : refuse('an object that was never sent');
      case 'q':
        return this.make.odd(text(what, 'no word'));
      default:
        return refuse('no value');
    }
  }
}

function put(object, key, value, enumerable) {
  const place = Object.getOwnPropertyDescriptor(object, key);
  if (place && 'value' in place) {
    if (!Object.is(place.value, value) && place.writable) Object.defineProperty(object, key, { value });
  } else if (place) {
    if (!Object.is(object[key], value)) Reflect.set(object, key, value);
  } else if (Object.isExtensible(object)) {
    Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true });
  }
}

module.exports = { Reader };
