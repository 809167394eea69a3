// The code under test, in a sandbox of its own: loads its files, answers calls from the tests' sandbox.
// Nothing here is trusted by the other side: the code can do as it likes with this process.
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { types } = require('node:util');
const { FRAME, Graph } = require('./in_node_wire.cjs');
const { Reader } = require('./in_node_read.cjs');

const HELLO = Buffer.from('\0\0\0\0moot: hello\0', 'latin1');
const BEAT = path.join(__dirname, 'beat');
const TICK = 25;
const PRINTED = 64 * 1024;
const { parse, stringify } = JSON;
const { apply, construct } = Reflect;
const later = setImmediate;

const link = new net.Socket({ fd: Number(process.env.MOOT_LINK), readable: true, writable: true });
delete process.env.MOOT_LINK;

let printed = '';
for (const name of ['stdout', 'stderr']) watchStream(name);

/** What is printed is told too. A stream is made when it is first used: most code prints nothing. */
function watchStream(name) {
  const { get } = Object.getOwnPropertyDescriptor(process, name);
  let stream = null;
  const make = () => {
    stream = apply(get, process, []);
    const write = stream.write.bind(stream);
    stream.write = (data, ...rest) => {
      printed = (printed + (typeof data === 'string' ? data : Buffer.from(data).toString())).slice(-PRINTED);
      return write(data, ...rest);
    };
    return stream;
  };
  Object.defineProperty(process, name, { configurable: true, enumerable: true, get: () => stream ?? make() });
}

const graph = new Graph(1, { odd: (_, what) => ['q', what], tells: true, follow });
const reader = new Reader(graph, { computed() {} }, true); // What getters give is ours to tell.
const watched = new WeakSet();
const loaded = [];

function send(head, values) {
  let body;
  try {
    body = tell(head, values);
    if (!body) return;
    if (body.length > FRAME) throw new RangeError('more than 32 MiB of data');
  } catch (error) {
    body = Buffer.from(stringify({ ...head, values: [], told: [], tooMuch: String(error?.message) }));
  }
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length);
  link.write(Buffer.concat([size, body]));
}

function tell(head, values) {
  const { values: out, told } = graph.encode([...values, ...loaded]);
  if (head.op === 'changed' && told.length === 0 && !printed) return null;
  const text = stringify({ ...head, values: out.slice(0, values.length), printed }).slice(0, -1);
  printed = '';
  return Buffer.from(`${text},"told":[${told.join()}]}`);
}

/** A promise tells of its end by itself. */
function follow(promise, id) {
  if (watched.has(promise)) return;
  watched.add(promise);
  apply(Promise.prototype.then, promise, [
    (value) => send({ op: 'settled', id, ok: true }, [value]),
    (error) => send({ op: 'settled', id, ok: false }, [error]),
  ]);
}

async function load(file) {
  const whole = path.resolve(file);
  try {
    // moot: ignore[javascript-require] loading the code under test is the purpose, inside the sandbox
    const names = await import(pathToFileURL(whole).href);
    const common = require.cache[whole];
    const value = common ? common.exports : names;
    loaded.push(value);
    return { file, ok: true, common: Boolean(common), value };
  } catch (error) {
    return { file, ok: false, common: false, value: error };
  }
}

async function loadAll(request) {
  const found = [];
  for (const file of request.files) found.push(await load(file));
  const heads = found.map(({ file, ok, common }) => ({ file, ok, common }));
  send({ op: 'reply', n: request.n, ok: true, files: heads }, found.map((each) => each.value));
  graph.pin();
}

function answer(request) {
  const [callee, self, ...given] = request.values.map((value) => reader.value(value));
  let value;
  let ok = true;
  try {
    if (request.how === 'new') value = construct(callee, given);
    else if (request.how === 'set') value = Reflect.set(callee, ...given);
    else if (request.how === 'call') value = apply(callee, self, given);
    else value = step(callee, request.how, given[0]);
  } catch (error) {
    ok = false;
    value = error;
  }
  send({ op: 'reply', n: request.n, ok }, [value]);
}

function step(generator, how, value) {
  const result = generator[how](value);
  return types.isPromise(result) ? result : [Boolean(result.done), result.value];
}

function take(request) {
  if (request.op === 'reset') process.exit(0);
  graph.forget(request.drop ?? []);
  reader.take(request.told ?? []);
  if (request.op === 'load') void loadAll(request);
  else answer(request);
}

let waiting = Buffer.alloc(0);
link.on('data', (data) => {
  waiting = Buffer.concat([waiting, data]);
  while (waiting.length >= 4 && waiting.length >= 4 + waiting.readUInt32BE(0)) {
    const body = waiting.subarray(4, 4 + waiting.readUInt32BE(0));
    waiting = waiting.subarray(4 + body.length);
    try {
      take(parse(body.toString()));
    } catch (error) {
      process.stderr.write(`${error?.stack}\n`);
      process.exit(1);
    }
  }
});
link.on('close', () => process.exit(0));
link.on('error', () => process.exit(0));

for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => send({ op: 'crashed' }, [error]));
}

// The shell that started this process ends it when this stops.
const beat = () => fs.writeFileSync(BEAT, '');
beat();
setInterval(beat, 1000).unref();
// What timers of the code change is told without a call.
setInterval(() => {
  if (graph.pinned.size > 0) send({ op: 'changed' }, []);
}, TICK).unref();

later(() => link.write(HELLO));
