// Which test is running, and what was held against it: a test that caught our error is not a test that passed.
'use strict';
const { AsyncLocalStorage } = require('node:async_hooks');

/** The test needs the code's objects themselves; it is run again, in one process with the code. */
class Need extends Error {
  constructor(why, codeDecides = false) {
    super(why);
    this.name = 'Need';
    this.codeDecides = codeDecides;
  }
}

/** The code did what no test can be judged by; the test fails, whatever it makes of that. */
class Foul extends Error {
  constructor(why, status = 'failed') {
    super(why);
    this.name = 'Foul';
    this.status = status;
  }
}

const running = new AsyncLocalStorage();
const file = { mark: null, deadline: Infinity, isOver: false, made: new Set() };
const limits = { seconds: 20 };

const current = () => running.getStore() ?? file;

function begin() {
  return { mark: null, deadline: performance.now() + limits.seconds * 1000, isOver: false, made: new Set() };
}

/** Marks the running test; outside of tests, the whole file. A foul is never taken back by a need. */
function mark(what) {
  const record = current();
  if (!(record.mark instanceof Foul)) record.mark = what;
  return what;
}

const need = (why, codeDecides) => mark(new Need(why, codeDecides));
const foul = (why, status) => mark(new Foul(why, status));

module.exports = { Foul, Need, begin, current, file, foul, limits, need, running };
