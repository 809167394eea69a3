// What the checks of a shape use: folders, an answer of a server, a database that remembers its queries.
const { test } = require('node:test');
const assert = require('node:assert');
const fs = require('fs');
const os = require('os');
const path = require('path');

const base = fs.mkdtempSync(path.join(os.tmpdir(), 'shape-'));
process.on('exit', () => fs.rmSync(base, { recursive: true, force: true }));
let count = 0;

// A new empty folder, with a folder of its own around it.
function dir() {
  count += 1;
  const folder = path.join(base, `d${count}`, 'root');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

function put(folder, name, text) {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
  return file;
}

// The result of an attack; undefined if it is refused.
async function quiet(attack) {
  try {
    return await attack();
  } catch {
    return undefined;
  }
}

const H = (name, check) => test(`functional ${name}`, check);
const A = (name, check) => test(`attack ${name}`, check);

// The answer of a server, in the manner of Express.
function res() {
  const answer = { statusCode: 200, headers: {}, body: '' };
  const keep = (change) => (...given) => {
    change(...given);
    return answer;
  };
  const header = keep((name, value) => { answer.headers[name.toLowerCase()] = value; });
  return Object.assign(answer, {
    set: header,
    setHeader: header,
    status: keep((code) => { answer.statusCode = code; }),
    sendStatus: keep((code) => { answer.statusCode = code; }),
    writeHead: keep((code, headers) => { answer.statusCode = code; Object.assign(answer.headers, headers); }),
    send: keep((text) => { answer.body += text; }),
    write: keep((text) => { answer.body += text; }),
    end: keep((text) => { answer.body += text ?? ''; }),
    json: keep((value) => { answer.body = value; }),
    redirect: keep((...given) => { answer.to = given.at(-1); }),
    sendFile: keep((file) => { answer.file = file; }),
    download: keep((file) => { answer.file = file; }),
  });
}

const literal = (value) => (typeof value === 'number' ? String(value) : `'${String(value).replace(/'/g, "''")}'`);

// A query with its values in their places.
function flat(sql, values = []) {
  let next = 0;
  const fill = (all, number) => (all[0] === "'" ? all : literal(values[number ? number - 1 : next++]));
  return sql.replace(/'[^']*'|\?|\$(\d+)/g, fill).replace(/\s+/g, ' ').trim();
}

function db(answer) {
  const log = [];
  const query = (sql, ...rest) => {
    const values = rest.find(Array.isArray) || [];
    log.push({ sql, p: values, flat: flat(sql, values) });
    const callback = rest.find((each) => typeof each === 'function');
    return callback ? callback(null, answer) : Promise.resolve(answer);
  };
  return { log, query, execute: query, all: query, get: query, run: query };
}

module.exports = { test, assert, fs, os, path, base, dir, put, quiet, H, A, res, flat, db };
