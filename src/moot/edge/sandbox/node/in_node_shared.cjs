// What a test may share with the code besides calls: files, timers, globals. Such a test cannot be judged apart from it.
'use strict';
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const path = require('node:path');
const { fileURLToPath } = require('node:url');
const { need } = require('./in_node_marks.cjs');

const { existsSync } = fs;
const stubs = new Set();
const MODULES = 'child_process cluster dgram http http2 https inspector net tls vm worker_threads'.split(' ');
const READING = /^(readFile|readdir|stat|lstat|access|exists|open|opendir|createReadStream|readlink|readv?)(Sync)?$/;
const CHANGING = /^(append|chmod|chown|copy|cp|create|fchmod|fchown|ftruncate|futimes|lchown|link|lutimes|mkd|rename|rm|symlink|truncate|unlink|utimes|watch|write)/;
const SIGNS = [
  [new RegExp(`['"\`](?:node:)?(${MODULES.join('|')})(?:/\\w+)?['"\`]`), (name) => `the test uses ${name}, and may share it with the code`],
  [/\bprocess\s*\.\s*(env|argv|exitCode|chdir|stdout|stderr|stdin|on|once|emit|umask)\b/, (name) => `the test shares process.${name} with the code`],
  [/\b(require\.cache|globalThis|global\.\w+|mock\.module|\.prototype\s*(?:\.\s*\w+|\[[^\]]*\])\s*=(?!=))/, (what) => `the test shares ${what} with the code`],
  [/\.[cm]?[jt]s\?/, () => 'the test loads the code more than once'],
];

/** Why no test of this file can be judged apart from the code, by its text; empty where that is not known. */
function reasonInText(text) {
  for (const [sign, tell] of SIGNS) {
    const found = sign.exec(text);
    if (found) return tell(found[1]);
  }
  if (/\bfetch\s*\(/.test(text) && /localhost|127\.0\.0\.1/.test(text)) return 'the test shares a server with the code';
  return '';
}

/** What the test does with files: those that came with it may be read, all else would have to be shared. */
function watchFiles(code) {
  for (const place of code) stubs.add(place);
  for (const table of [fs, fs.promises]) {
    for (const [name, real] of Object.entries(table)) {
      if (typeof real !== 'function' || /^[A-Z_]/.test(name)) continue;
      if (CHANGING.test(name)) table[name] = barred(name);
      else if (READING.test(name)) table[name] = reading(name, real);
    }
  }
  syncBuiltinESMExports();
}

const barred = (name) => () => {
  throw need(`the test uses fs.${name}, and may share files with the code`);
};

// `assert.ok` opens the test file for its message.
const isWriting = (name, how) => /^open(Sync)?$/.test(name) && how !== 'r' && typeof how !== 'function' && (how ?? 0) !== 0;

const reading = (name, real) =>
  function (...given) {
    if (isWriting(name, given[1])) barred(name)();
    if (isMissing(given[0])) throw need(`the test looks for a file that is not its own (fs.${name})`);
    return Reflect.apply(real, this, given);
  };

function isMissing(place) {
  if (typeof place !== 'string' && !Buffer.isBuffer(place) && !(place instanceof URL)) return false;
  const whole = path.resolve(String(place instanceof URL ? fileURLToPath(place) : place));
  // Node's own loader reads files by the same function.
  if (stubs.has(whole)) return !/node:internal\/modules/.test(new Error().stack.split('\n').slice(2, 6).join());
  return !existsSync(whole);
}

const valued = (table) => Reflect.ownKeys(table).filter((key) => 'value' in Object.getOwnPropertyDescriptor(table, key));
const TIMERS = 'setTimeout setInterval setImmediate clearTimeout clearInterval fetch performance queueMicrotask'.split(' ');
const TABLES = Object.entries({ console, Math, JSON, Date, Object, Array, Promise, Number, String })
  .map(([name, table]) => [name, table, valued(table)])
  .concat([['globalThis', globalThis, [...valued(globalThis), ...TIMERS.filter((key) => key in globalThis)]]])
  .concat([['process', process, ['cwd', 'exit', 'hrtime', 'nextTick', 'memoryUsage']]])
  .map(([name, table, keys]) => [name, table, keys, keys.map((key) => table[key])]);
const SHORT = { Date: ['now'], Math: ['random'], console: ['log', 'error', 'warn', 'info'], globalThis: ['Date', ...TIMERS], process: ['cwd', 'exit'] };
const globals = Reflect.ownKeys(globalThis).length;
let tables = TABLES;

/** All globals are looked at where a text assigns something to one, or has the means to; else those that tests replace. */
function studyGlobals(texts) {
  const assigns = /\b(Date|Math|JSON|console|process|performance|Object|Array|Promise|Number|String|set\w+|clear\w+)\b[\w.[\]'"]*\s*=(?![=>])/;
  const means = /\bmock\b|defineProperty|Reflect\s*\.|Object\s*\.\s*assign|\beval\b|\bFunction\b|(?:from|require\s*\()\s*['"](?!node:|\.)/;
  if (texts.some((text) => assigns.test(text) || means.test(text))) return;
  tables = TABLES.filter(([name]) => name in SHORT).map(([name, table]) => {
    const keys = SHORT[name].filter((key) => key in table);
    return [name, table, keys, keys.map((key) => table[key])];
  });
}

/** Which global the test has replaced by now; empty where it has replaced none. */
function reasonToShare() {
  for (const [name, table, keys, values] of tables) {
    for (let at = 0; at < keys.length; at += 1) {
      if (!Object.is(table[keys[at]], values[at])) return `the test replaces ${name}.${String(keys[at])}`;
    }
  }
  return tables === TABLES && Reflect.ownKeys(globalThis).length !== globals ? 'the test has globals of its own' : '';
}

module.exports = { reasonInText, reasonToShare, studyGlobals, watchFiles };
