// What Node's test runner tells of, as results; in the process of the tests.
'use strict';
const DETAIL = 4000;

function shorten(text) {
  const lines = text.split('\n').filter((line) => !/^ +at .*\/in_node\w*\.[cm]js:/.test(line));
  const here = lines.join('\n').replaceAll(`file://${process.cwd()}/`, '').replaceAll(`${process.cwd()}/`, '');
  if (here.length <= DETAIL) return here;
  return `${here.slice(0, DETAIL / 4)}\n… ${here.length - DETAIL} characters cut …\n${here.slice((-DETAIL * 3) / 4)}`;
}

function why(error) {
  const cause = error?.cause ?? error;
  try {
    return String(cause?.stack ?? cause ?? '');
  } catch {
    return 'an error that cannot be shown';
  }
}

const place = (data) => JSON.stringify([data.nesting, data.name]);

/** `emit` gets each result of the tests of this file; `mark(error)` says what was held against a test. */
class Results {
  constructor(file, emit, mark = () => null) {
    Object.assign(this, { file, emit, mark, failed: false, told: 0, isWhole: false });
    this.counts = new Map();
    this.waiting = new Map();
    this.needs = [];
  }

  take({ type, data }) {
    if (type === 'test:enqueue') {
      this.waiting.set(place(data), { data, count: (this.waiting.get(place(data))?.count ?? 0) + 1 });
    } else if (type === 'test:pass' || type === 'test:fail') {
      const entry = this.waiting.get(place(data));
      if (entry) entry.count -= 1;
      this.ended(data, type === 'test:pass');
    }
  }

  ended(data, passed) {
    const error = data.details?.error;
    const inner = this.needs[data.nesting + 1];
    this.needs[data.nesting + 1] = undefined;
    const cause = passed ? null : this.mark(error?.cause ?? error);
    const need = cause?.name === 'Need' ? cause : !passed && error?.failureType === 'subtestsFailed' ? inner : undefined;
    if (need) this.needs[data.nesting] = need;
    if (data.details?.type === 'suite') {
      // Where a hook of the suite needs the code's objects, its tests say so themselves.
      if (!passed && error?.failureType !== 'subtestsFailed' && !need) this.done(data, 'error', why(error));
    } else if (need) this.need(this.named(data), need);
    else if (cause) this.done(data, cause.status, cause.message);
    else if (data.skip !== undefined || data.todo !== undefined) this.done(data, 'skipped');
    else if (passed) this.done(data, 'passed');
    else this.done(data, error?.failureType === 'testTimeoutFailure' ? 'timeout' : 'failed', why(error));
  }

  need(test, { message, codeDecides }) {
    this.told += 1;
    this.emit({ event: 'needs', test, why: message, code_decides: codeDecides });
  }

  /** No test of this file can be judged apart from the code. */
  needWhole(need) {
    this.isWhole = true;
    this.need(this.file, need);
  }

  named(data) {
    const name = `${this.file}::${data.name}`;
    const count = (this.counts.get(name) ?? 0) + 1;
    this.counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  }

  done(data, status, detail = '') {
    const spent = data.details?.duration_ms;
    this.tell(this.named(data), status, detail, Number.isFinite(spent) ? spent / 1000 : null);
  }

  tell(test, status, detail, seconds = null) {
    this.told += 1;
    this.failed ||= status !== 'passed' && status !== 'skipped';
    this.emit({ event: 'found', tests: [test] });
    this.emit({ event: 'done', test, status, detail: shorten(detail), seconds });
  }

  /** When the process ends: what was begun and never ended, and a file that told of nothing. */
  close(isExpected, detail) {
    for (const { data, count } of this.waiting.values()) {
      if (data.details?.type === 'suite' || data.type === 'suite') continue;
      for (let missing = 0; missing < count; missing += 1) this.done(data, 'error', 'the process ended before this test did');
    }
    if (this.told === 0 && isExpected) this.tell(this.file, 'error', `no test of this file was reported\n${detail}`);
  }
}

module.exports = { Results, why };
