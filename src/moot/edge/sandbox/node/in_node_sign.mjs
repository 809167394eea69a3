// Signs what test processes in another sandbox tell of: the key is never where the code runs.
import { spawn } from 'node:child_process';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, unlinkSync, writeSync } from 'node:fs';
import net from 'node:net';

const REPORT = 3;
const LINE = 4 * 1024 * 1024;
const specPath = new URL('spec.json', import.meta.url);
const spec = JSON.parse(readFileSync(specPath, 'utf8'));
unlinkSync(specPath);

const mac = (key, body) => createHmac('sha256', key).update(body).digest('hex');

function sign(event) {
  const body = Buffer.from(JSON.stringify(event));
  const line = Buffer.concat([Buffer.from(`${mac(spec.key, body)} `), body, Buffer.from('\n')]);
  for (let written = 0; written < line.length; ) written += writeSync(REPORT, line, written);
}

let at = -1;
let key = null; // Of the process that runs now; none before it greets and after it has ended.
let failed = false;
let problem = '';

function error(file, detail) {
  failed = true;
  sign({ event: 'found', tests: [file] });
  sign({ event: 'done', test: file, status: 'error', detail });
}

function close() {
  if (key !== null) error(spec.tests[at], 'the process ended before its tests did');
  key = null;
}

function greet(socket) {
  close();
  at += 1;
  if (at >= spec.tests.length) problem = 'the code under test wrote to the test report';
  key = randomBytes(32).toString('hex');
  socket.write(`${key}\n`);
}

function take(line, socket) {
  if (line === 'hello') return greet(socket);
  const body = line.slice(65);
  const expected = Buffer.from(mac(key ?? '', body));
  const given = Buffer.from(line.slice(0, 64));
  if (key === null || given.length !== expected.length || !timingSafeEqual(given, expected)) {
    problem = 'the code under test wrote to the test report';
    return undefined;
  }
  const event = JSON.parse(body);
  if (event.event === 'end') {
    key = null;
    return undefined;
  }
  if (event.event === 'done') failed ||= event.status !== 'passed' && event.status !== 'skipped';
  return sign(event);
}

function finish() {
  close();
  for (const file of spec.tests.slice(at + 1)) error(file, 'the process of this file could not be started');
  if (problem) sign({ event: 'problem', text: problem });
  sign({ event: 'finished' });
  process.exit(failed ? 1 : 0);
}

function listen(socket) {
  let waiting = '';
  socket.setEncoding('utf8');
  socket.on('data', (data) => {
    const lines = (waiting + data).split('\n');
    waiting = lines.pop();
    if (waiting.length > LINE) problem = 'the code under test wrote to the test report';
    for (const line of lines) take(line, socket);
    if (problem) finish();
  });
  socket.on('error', finish);
  socket.on('close', finish);
}

if (spec.typescript && !process.features.typescript) {
  sign({ event: 'problem', text: `Node.js ${process.version} does not run TypeScript; 22.18 or newer does` });
  sign({ event: 'finished' });
  process.exit(0);
} else if (process.env.MOOT_LINK) {
  listen(new net.Socket({ fd: Number(process.env.MOOT_LINK), readable: true, writable: true }));
} else {
  // One sandbox for both, where two cannot be linked.
  const [shell, ...words] = spec.command;
  listen(spawn(shell, words, { stdio: ['ignore', 2, 2, 'pipe'], env: { ...process.env, MOOT_LINK: '3' } }).stdio[3]);
}
