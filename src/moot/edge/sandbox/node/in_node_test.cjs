// `node:test` as the test files see it: the same, but each test has a record of what was held against it, and a time limit.
'use strict';
const real = require('node:test');
const marks = require('./in_node_marks.cjs');
const near = require('./in_node_near.cjs');

const { setTimeout, clearTimeout } = globalThis; // A test may replace them.

function parts(name, options, body) {
  if (typeof name === 'function') return [name.name, {}, name];
  if (name !== null && typeof name === 'object') return [undefined, name, typeof options === 'function' ? options : body];
  if (typeof options === 'function') return [name, {}, options];
  return [name, options ?? {}, body];
}

// Ours comes a little before that of Node.js, which knows nothing of the code's process.
const EARLY = 50;

/** The end of a test: what was held against it counts for more than what it says itself. */
function held(record) {
  record.isOver = true;
  clearTimeout(record.timer);
  return record.mark ?? marks.file.mark;
}

function judged(body, seconds) {
  const start = (self, given, record) => {
    record.timer = setTimeout(() => near.expire(record), Math.max(seconds * 1000 - EARLY, 1));
    return marks.running.run(record, () => Reflect.apply(body, self, given));
  };
  const end = (record, error, isError) => {
    const mark = held(record);
    if (mark || isError) throw mark ?? error;
  };
  if (body.length > 1) {
    return function (context, done) {
      const record = marks.begin();
      const given = [watched(context), (error) => done(held(record) ?? error)];
      try {
        start(this, given, record);
      } catch (error) {
        end(record, error, true);
      }
    };
  }
  return function (context) {
    const record = marks.begin();
    let result;
    try {
      result = start(this, [watched(context)], record);
    } catch (error) {
      return end(record, error, true);
    }
    if (typeof result?.then !== 'function') return end(record);
    return result.then(() => end(record), (error) => end(record, error, true));
  };
}

function watched(context) {
  if (context && typeof context.test === 'function') {
    const test = context.test.bind(context);
    Object.defineProperty(context, 'test', { value: wrapped(test), configurable: true, writable: true });
  }
  return context;
}

function wrapped(call) {
  return function (...given) {
    const [name, options, body] = parts(...given);
    if (typeof body !== 'function') return call(...given);
    const { seconds } = marks.limits;
    return call(name ?? (body.name || undefined), { timeout: seconds * 1000 + EARLY, ...options }, judged(body, seconds));
  };
}

function family(call) {
  const own = wrapped(call);
  for (const name of ['skip', 'todo', 'only', 'expectFailure']) if (call[name]) own[name] = wrapped(call[name]);
  return own;
}

const test = family(real);
Object.assign(test, { ...real, test, it: family(real.it), skip: test.skip, todo: test.todo, only: test.only });
module.exports = test;
// Never run: by this Node.js knows which names can be imported.
if (false) { exports.after = 0; exports.afterEach = 0; exports.assert = 0; exports.before = 0; exports.beforeEach = 0; exports.describe = 0; exports.it = 0; exports.mock = 0; exports.only = 0; exports.run = 0; exports.skip = 0; exports.snapshot = 0; exports.suite = 0; exports.test = 0; exports.todo = 0; }
