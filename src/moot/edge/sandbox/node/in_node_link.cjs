// The tests' end of the socket to the code's sandbox: frames out, frames in, and how long to wait for them.
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const { FRAME, Nonsense } = require('./in_node_wire.cjs');

const HELLO = Buffer.from('\0\0\0\0moot: hello\0', 'latin1');
const CHUNK = 256 * 1024;
const { readSync, writeSync } = fs;

class Link {
  /** `take` is called with each frame, `hello` when a process of the code has begun, `stray` when
   * what comes is no frame, `gone` when there will be no other process. `isAstray`: where the next frame begins is not known, so all is passed over until a process greets. */
  constructor(number, { take, hello, stray, gone }) {
    Object.assign(this, { number, take, hello, stray, gone, isGone: false, isAstray: true });
    this.waiting = [];
    this.size = 0;
    this.chunk = Buffer.alloc(CHUNK);
    this.cell = new Int32Array(new SharedArrayBuffer(4));
    // This makes the socket non-blocking, so that a wait can end; frames that come while no call waits arrive here.
    this.socket = new net.Socket({ fd: number, readable: true, writable: false });
    this.socket.on('data', (data) => this.feed(data));
    this.socket.on('error', () => this.end());
    this.socket.on('close', () => this.end());
    this.socket.unref();
  }

  end() {
    if (this.isGone) return;
    this.isGone = true;
    this.gone();
  }

  /** Whether somebody waits for a frame that comes by itself. */
  listen(isAwaited) {
    if (isAwaited) this.socket.ref();
    else this.socket.unref();
  }

  rest(turn) {
    Atomics.wait(this.cell, 0, 0, turn < 20 ? 0.02 : turn < 200 ? 0.1 : 1);
  }

  /** False where the other side did not read it in time. */
  send(head, told, deadline) {
    const body = Buffer.from(`${JSON.stringify(head).slice(0, -1)},"told":[${told.join()}]}`);
    if (body.length > FRAME) throw new Nonsense('the test hands over more than 32 MiB');
    const size = Buffer.alloc(4);
    size.writeUInt32BE(body.length);
    const data = Buffer.concat([size, body]);
    for (let at = 0, turn = 0; at < data.length; ) {
      if (this.isGone || performance.now() > deadline) return false;
      try {
        at += writeSync(this.number, data, at);
        turn = 0;
      } catch (error) {
        if (error.code !== 'EAGAIN') return this.end(), false;
        this.rest((turn += 1));
      }
    }
    return true;
  }

  /** Reads until `isDone`; false where that does not come about in time. */
  wait(isDone, deadline) {
    for (let turn = 0; !isDone(); ) {
      if (this.isGone || performance.now() > deadline) return false;
      try {
        const size = readSync(this.number, this.chunk, 0, CHUNK, null);
        if (size === 0) return this.end(), false;
        this.feed(Buffer.from(this.chunk.subarray(0, size)));
        turn = 0;
      } catch (error) {
        if (error instanceof Nonsense) throw error;
        if (error.code !== 'EAGAIN') return this.end(), false;
        this.rest((turn += 1));
      }
    }
    return true;
  }

  feed(data) {
    this.waiting.push(data);
    this.size += data.length;
    while (this.next());
  }

  next() {
    if (this.isAstray) return this.restart();
    if (this.size < 4) return false;
    const first = this.waiting[0].length >= 4 ? this.waiting[0] : this.join();
    const length = first.readUInt32BE(0);
    if (length > FRAME) {
      this.isAstray = true;
      this.stray();
      return this.size > 0 && this.next();
    }
    if (length === 0 || this.size < 4 + length) return this.restart();
    const all = this.join();
    this.keep(all.subarray(4 + length));
    this.take(all.subarray(4, 4 + length).toString());
    return this.size >= 4;
  }

  /** A process that ended within a frame leaves it cut off; the greeting of the next one is where frames begin again. */
  restart() {
    // Only the end can be new: look no further back than a greeting that came in two parts.
    const recent = this.waiting.length > 2 ? Buffer.concat(this.waiting.slice(-2)) : this.join();
    if (recent.indexOf(HELLO) < 0) {
      if (this.size > 2 * FRAME) this.keep(recent.subarray(-HELLO.length));
      return false;
    }
    const all = this.join();
    this.keep(all.subarray(all.indexOf(HELLO) + HELLO.length));
    this.isAstray = false;
    this.hello();
    return this.size >= 4;
  }

  join() {
    if (this.waiting.length !== 1) this.waiting = [Buffer.concat(this.waiting)];
    return this.waiting[0];
  }

  keep(rest) {
    this.waiting = rest.length > 0 ? [rest] : [];
    this.size = rest.length;
  }
}

module.exports = { Link };
