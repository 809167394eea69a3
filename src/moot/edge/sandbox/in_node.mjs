// Run JavaScript tests inside the sandbox and sign what happened; each test file is a process of its own, this is not one of them.
import { createHmac } from 'node:crypto';
import { readFileSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';

const REPORT = 3;
const DETAIL = 4000;
const specPath = new URL('spec.json', import.meta.url);
const spec = JSON.parse(readFileSync(specPath, 'utf8'));
unlinkSync(specPath);

function sign(event) {
  const body = Buffer.from(JSON.stringify(event));
  const signature = createHmac('sha256', spec.key).update(body).digest('hex');
  const line = Buffer.concat([Buffer.from(`${signature} `), body, Buffer.from('\n')]);
  for (let written = 0; written < line.length; ) written += writeSync(REPORT, line, written);
}

const shorten = (text) => {
  const here = text.replaceAll(`${process.cwd()}/`, '');
  if (here.length <= DETAIL) return here;
  return `${here.slice(0, DETAIL / 4)}\n… ${here.length - DETAIL} characters cut …\n${here.slice((-DETAIL * 3) / 4)}`;
};

const why = (error) => {
  const cause = error?.cause ?? error;
  return String(cause?.stack ?? cause ?? '');
};

const names = new Map();
function named(data) {
  const file = path.relative(process.cwd(), data.file ?? '');
  const name = `${file}::${data.name}`;
  const count = (names.get(name) ?? 0) + 1;
  names.set(name, count);
  return count === 1 ? name : `${name} #${count}`;
}

const place = (data) => JSON.stringify([data.file, data.line, data.column, data.nesting, data.name]);
const waiting = new Map();
const printed = new Map();
let failed = false;

function done(data, status, detail = '') {
  const test = named(data);
  failed ||= status !== 'passed' && status !== 'skipped';
  sign({ event: 'found', tests: [test] });
  const spent = data.details?.duration_ms;
  const seconds = Number.isFinite(spent) ? spent / 1000 : null;
  sign({ event: 'done', test, status, detail: shorten(detail), seconds });
}

function ended(data, passed) {
  const error = data.details?.error;
  if (data.name === data.file) {
    // Only a file that told of no test of its own is reported by name; that it ended well proves nothing.
    const expected = !passed || readFileSync(data.file, 'utf8').includes('node:test');
    if (expected) done(data, 'error', `no test of this file was reported\n${printed.get(data.file) ?? ''}`);
  } else if (data.details?.type === 'suite') {
    if (!passed && error?.failureType !== 'subtestsFailed') done(data, 'error', why(error));
  } else if (data.skip !== undefined || data.todo !== undefined) {
    done(data, 'skipped');
  } else {
    done(data, passed ? 'passed' : 'failed', passed ? '' : why(error));
  }
}

function take({ type, data }) {
  if (type === 'test:enqueue' && data.name !== data.file) {
    waiting.set(place(data), { data, count: (waiting.get(place(data))?.count ?? 0) + 1 });
  } else if (type === 'test:pass' || type === 'test:fail') {
    const entry = waiting.get(place(data));
    if (entry) entry.count -= 1;
    ended(data, type === 'test:pass');
  } else if (type === 'test:stderr' || type === 'test:stdout') {
    printed.set(data.file, ((printed.get(data.file) ?? '') + data.message).slice(-DETAIL));
  }
}

if (spec.typescript && !process.features.typescript) {
  sign({ event: 'problem', text: `Node.js ${process.version} does not run TypeScript; 22.18 or newer does` });
} else {
  const files = spec.tests.map((file) => path.resolve(file));
  if (files.length) for await (const event of run({ files, concurrency: 1 })) take(event);
  for (const { data, count } of waiting.values()) {
    for (let missing = 0; missing < count; missing += 1) done(data, 'error', 'the process ended before this test did');
  }
}
sign({ event: 'finished' });
process.exit(failed ? 1 : 0);
