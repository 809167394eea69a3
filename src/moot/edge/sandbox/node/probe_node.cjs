// Calls a solution's functions inside the sandbox and reports each result; nothing of Moot is there.
// Expected values are unknown here, so a solution that forges answers gains nothing.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { isProxy } = require('node:util').types;
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const REPORT = 3;
const LONGEST = 20000;
const DEEPEST = 30;
const MOST = 1000;

// One text for equal behaviour: objects, maps and sets in one order, numbers to twelve digits.
function canonical(value, depth = 0) {
  if (depth > DEEPEST) return '…';
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'number':
      return Number.isFinite(value) ? String(Number(value.toPrecision(12)) + 0) : String(value);
    case 'bigint':
      return `${value}n`;
    case 'object':
      return value === null ? 'null' : object(value, depth + 1);
    case 'function':
      return '<function>';
    default:
      return typeof value === 'symbol' ? '<symbol>' : String(value);
  }
}

function object(value, depth) {
  if (isProxy(value)) return '<proxy>';
  const list = (items) => items.map((item) => canonical(item, depth)).join(', ');
  if (Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView))) return `[${list(Array.from(value))}]`;
  if (value instanceof Set) return `new Set([${[...value].map((item) => canonical(item, depth)).sort().join(', ')}])`;
  if (value instanceof Map) return `new Map([${[...value].map((pair) => canonical(pair, depth)).sort().join(', ')}])`;
  if (value instanceof Date || value instanceof RegExp) return `<${value.constructor.name} ${String(Number.isNaN(+value) ? value : +value)}>`;
  if (value instanceof Error) return `<${value.name}>`;
  if (typeof value.next === 'function') return `<generator [${list(firstOf(value))}]>`;
  const pairs = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}: ${canonical(value[key], depth)}`);
  const maker = Object.getPrototypeOf(value)?.constructor?.name ?? 'Object';
  return maker === 'Object' ? `{${pairs.join(', ')}}` : `<${maker} {${pairs.join(', ')}}>`;
}

function firstOf(iterator) {
  const found = [];
  for (let turn = iterator.next(); !turn.done && found.length < MOST; turn = iterator.next()) found.push(turn.value);
  return found;
}

async function answer(call, evaluate) {
  try {
    const text = canonical(await evaluate(call));
    return { kind: 'value', text: text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… ${text.length} characters` };
  } catch (problem) {
    return describe(problem);
  }
}

function describe(problem) {
  const isError = problem instanceof Error;
  const name = isError ? problem.constructor?.name || problem.name : typeof problem;
  return { kind: 'error', text: String(name), detail: String(isError ? problem.message : problem).slice(0, 500) };
}

async function work() {
  let evaluate;
  try {
    await import(pathToFileURL(workerData.file));
    evaluate = globalThis[workerData.key];
  } catch (problem) {
    const { text, detail } = describe(problem);
    parentPort.postMessage({ problem: `${text}: ${detail}` });
    return;
  }
  parentPort.postMessage(await answer(workerData.call, evaluate));
  process.exit();
}

// Each call in a thread of its own: it may exit, hang or break itself without harm to the next one.
function ask(call, spec) {
  return new Promise((resolve) => {
    const thread = new Worker(__filename, {
      workerData: { call, file: path.resolve(spec.file), key: spec.key },
      stdout: true,
      stderr: true,
      // By default Node.js 24 reserves 512 MiB for the code of each thread: for two it is more than the process may have.
      resourceLimits: { maxOldGenerationSizeMb: spec.memory, codeRangeSizeMb: 64 },
    });
    const clock = setTimeout(() => end({ kind: 'timeout' }), spec.seconds * 1000);
    function end(told) {
      clearTimeout(clock);
      thread.terminate();
      resolve(told);
    }
    thread.on('message', end);
    thread.on('error', (problem) => end({ kind: 'none', detail: String(problem?.message).slice(0, 500) }));
    thread.on('exit', () => end({ kind: 'none', detail: 'the thread of this call ended without an answer' }));
  });
}

async function main() {
  const file = path.join(__dirname, 'spec.json');
  const spec = JSON.parse(fs.readFileSync(file, 'utf8'));
  fs.unlinkSync(file);
  for (const call of spec.calls) {
    const told = await ask(call, spec);
    fs.writeSync(REPORT, `${JSON.stringify(told)}\n`);
    if (told.problem) break;
  }
  process.exit();
}

if (isMainThread) main();
else work();
