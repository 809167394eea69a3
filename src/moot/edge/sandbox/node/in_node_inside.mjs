// One test file in one process with the code: for tests that need the code's objects themselves. Code made for it can fool them.
import assert from 'node:assert';
import { createHmac } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import nodeTest from 'node:test';
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
import { Results } from './in_node_events.cjs';
import sink from './in_node_sink.cjs';

const LINK = Number(process.env.MOOT_LINK);
const file = process.argv.pop();
const { apply } = Reflect;
const { stringify } = JSON;
// moot: ignore[javascript-written-key] only the methods of the prototype are taken; nothing is signed with this key
const { update, digest } = createHmac('sha256', 'x').constructor.prototype;
const cell = new Int32Array(new SharedArrayBuffer(4));
const wait = Atomics.wait;
delete process.env.MOOT_LINK;

function patiently(act) {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait(cell, 0, 0, 1);
    }
  }
}

function write(line) {
  const data = Buffer.from(line);
  for (let at = 0; at < data.length; ) {
    const from = at;
    at += patiently(() => writeSync(LINK, data, from));
  }
}

function readKey() {
  write('hello\n');
  const data = Buffer.alloc(65);
  for (let at = 0; at < data.length; ) {
    const from = at;
    const size = patiently(() => readSync(LINK, data, from, data.length - from, null));
    if (size === 0) process.exit(2);
    at += size;
  }
  return data.toString('latin1', 0, 64);
}

const key = readKey();

// By hand, of texts and numbers only: what the code may have done to classes has no say in it.
function emit(event) {
  let body = '';
  for (const name in event) {
    const value = event[name];
    const text = typeof value === 'object' && value !== null ? `[${stringify(`${value[0]}`)}]` : stringify(value);
    body += `${body ? ',' : '{'}${stringify(name)}:${text}`;
  }
  body += '}';
  const hash = createHmac('sha256', key);
  apply(update, hash, [body]);
  write(`${apply(digest, hash, ['hex'])} ${body}\n`);
}

const results = new Results(file, emit);
const own = readFileSync(file, 'utf8');
let trouble = '';
process.on('exit', () => {
  results.close(trouble || own.includes('node:test'), trouble);
  emit({ event: 'end' });
});
sink.connect((event) => results.take(event));

// The functions that tests judge by are not for the code to replace.
for (const table of [assert, assert.strict, assert.AssertionError, assert.AssertionError.prototype, nodeTest, Results.prototype]) {
  Object.freeze(table);
}
const { cache } = createRequire(import.meta.url);
for (const place of Object.keys(cache ?? {})) delete cache[place];

try {
  await import(pathToFileURL(path.resolve(file)).href);
} catch (error) {
  trouble = String(error?.stack ?? error);
}
