// Run JavaScript tests inside the sandbox and sign what happened. The code under test is not here: calls to it go over a socket.
'use strict';
const { createHmac } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { Results } = require('./in_node_events.cjs');
const marks = require('./in_node_marks.cjs');
const { study } = require('./in_node_methods.cjs');
const near = require('./in_node_near.cjs');
const { reasonInText, studyGlobals, watchFiles } = require('./in_node_shared.cjs');
const sink = require('./in_node_sink.cjs');
const { mentioned, rewrite, writeStubs } = require('./in_node_stubs.cjs');

const REPORT = 3;
const { readFileSync, unlinkSync, writeSync } = fs; // Before the tests' view of them is changed.
const FILE = process.env.MOOT_FILE;
const RESET = Buffer.from('\0\0\0\x0e{"op":"reset"}');

function readSpec() {
  if (FILE !== undefined) return JSON.parse(readFileSync(0, 'utf8'));
  const place = path.join(__dirname, 'spec.json');
  const text = readFileSync(place, 'utf8');
  unlinkSync(place);
  return JSON.parse(text);
}

const spec = readSpec();

function sign(event) {
  const body = Buffer.from(JSON.stringify(event));
  const signature = createHmac('sha256', spec.key).update(body).digest('hex');
  const line = Buffer.concat([Buffer.from(`${signature} `), body, Buffer.from('\n')]);
  for (let written = 0; written < line.length; ) written += writeSync(REPORT, line, written);
}

/** What was held against a test that failed by this error; where a hook needs the code's objects, all tests do. */
function heldAgainst(error) {
  if (error instanceof marks.Need || error instanceof marks.Foul) return error;
  return marks.file.mark;
}

/** All tests of one file, in this process; what is left to say is said when it ends. */
async function runFile(file, isLast) {
  const results = new Results(file, sign, heldAgainst);
  const texts = spec.given.map((each) => [each, readFileSync(each, 'utf8')]);
  const own = texts.find(([each]) => each === file)[1];
  let trouble = '';
  process.on('exit', () => {
    if (!results.isWhole) results.close(trouble || own.includes('node:test') || own.includes('in_node_test'), trouble);
    const late = marks.file.mark instanceof marks.Foul && !results.failed ? marks.file.mark : null;
    if (late) results.tell(file, 'error', late.message);
    if (isLast) sign({ event: 'finished' });
    process.exitCode = results.failed ? 1 : 0;
  });
  const others = texts.filter(([each]) => each === file || !spec.tests.includes(each));
  const shared = others.map(([, text]) => reasonInText(text)).find(Boolean);
  if (shared && spec.code.length > 0) return results.needWhole({ message: shared, codeDecides: false });
  sink.connect((event) => results.take(event));
  try {
    await load(file, others);
  } catch (error) {
    const mark = marks.file.mark ?? error;
    if (mark instanceof marks.Need) results.needWhole(mark);
    else trouble = String(mark?.stack ?? mark);
  }
  return undefined;
}

async function load(file, texts) {
  marks.limits.seconds = spec.seconds;
  rewrite(texts);
  if (spec.code.length > 0) {
    const named = mentioned(texts, spec.code);
    if (named.length > 0) near.open(named);
    writeStubs(spec.code, near.bound, texts);
    study(texts.map(([, text]) => text));
    studyGlobals(texts.map(([, text]) => text));
    watchFiles(spec.code.map((each) => path.resolve(each)));
  }
  await import(pathToFileURL(path.resolve(file)).href);
}

/** The code's process ends, and another one begins. Where there is none any more, the next file says so. */
function reset(link) {
  try {
    writeSync(link, RESET);
    // moot: ignore[javascript-swallowed-error] the next file reports that the process is gone
  } catch {}
}

/** Each file in a process of its own, as Node's runner does it, and with a new process of the code. */
function runFiles(files) {
  const { spawnSync } = require('node:child_process');
  const link = Number(process.env.MOOT_LINK);
  let failed = false;
  for (const file of files) {
    const done = spawnSync(process.execPath, [...process.execArgv, __filename], {
      env: { ...process.env, MOOT_FILE: file, ...(link ? { MOOT_LINK: '4' } : {}) },
      input: JSON.stringify(spec),
      stdio: ['pipe', 2, 2, REPORT, ...(link ? [link] : [])],
    });
    failed ||= done.status !== 0;
    if (done.status !== 0 && done.status !== 1) sign({ event: 'problem', text: `the process of ${file} ended with ${done.signal ?? done.status}` });
    if (link) reset(link);
  }
  sign({ event: 'finished' });
  process.exitCode = failed ? 1 : 0;
}

if (FILE !== undefined) {
  delete process.env.MOOT_FILE;
  void runFile(FILE, false);
} else if (spec.typescript && !process.features.typescript) {
  sign({ event: 'problem', text: `Node.js ${process.version} does not run TypeScript; 22.18 or newer does` });
  sign({ event: 'finished' });
} else if (spec.tests.length === 1) {
  void runFile(spec.tests[0], true);
} else {
  runFiles(spec.tests);
}
