// Files in place of the code's files: the same paths and the same names, but each call goes to the code's own sandbox.
'use strict';
const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');

const NEAR = path.join(__dirname, 'in_node_near.cjs');
const TEST = path.join(__dirname, 'in_node_test.cjs');
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '/index.js', '/index.mjs', '/index.cjs', '/index.ts'];
const NAMES = 10_000;

/** The files of the code that these texts name, in the order in which they do. */
function mentioned(texts, code) {
  const known = new Set(code);
  const found = new Set();
  for (const [file, text] of texts) {
    for (const [, , name] of text.matchAll(/(['"`])(\.{0,2}\/[^'"`\n]*|\.{1,2})\1/g)) {
      for (const ending of ENDINGS) {
        const whole = path.posix.normalize(path.posix.join(path.posix.dirname(file), name) + ending);
        if (known.has(whole)) found.add(whole);
      }
    }
  }
  return [...found];
}

/** The names that test files import: a file of the code that does not load has none of its own. */
function wanted(texts) {
  const names = new Set();
  for (const [, text] of texts) {
    for (const [, list] of text.matchAll(/\{([^{}]*)\}\s*(?:=|from)/g)) {
      for (const part of list.split(',')) names.add(part.split(/\s+as\s+|:/)[0].trim());
    }
  }
  return [...names].filter((name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default');
}

function isModule(file) {
  if (/\.m[jt]s$/.test(file)) return true;
  if (/\.c[jt]s$/.test(file)) return false;
  for (let folder = path.dirname(path.resolve(file)); ; folder = path.dirname(folder)) {
    const place = path.join(folder, 'package.json');
    if (existsSync(place)) return JSON.parse(readFileSync(place, 'utf8')).type === 'module';
    if (folder === path.dirname(folder)) return false;
  }
}

const near = (isEsm) =>
  isEsm ? `import moot from ${JSON.stringify(pathToFileURL(NEAR).href)};` : `const moot = require(${JSON.stringify(NEAR)});`;

// A module with a `then` would decide what `await import(…)` gives: that name is left out.
function esmText(at, names) {
  const word = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
  const each = names.slice(0, NAMES).filter((name) => typeof name === 'string' && (name.isWellFormed?.() ?? true) && name !== 'then');
  const values = each.map((name, index) => `v${index} = values.get(${JSON.stringify(name)});`).join(' ');
  return [
    near(true),
    each.length > 0 ? `let ${each.map((_, index) => `v${index}`).join(', ')};` : '',
    `const { value } = moot.bound[${at}];`,
    `(value.bind = (values) => { ${values} })(value.values);`,
    `export { ${each.map((name, index) => `v${index} as ${word(name)}`).join(', ')} };`,
  ].join('\n');
}

function commonText(at, names) {
  const each = names.slice(0, NAMES).filter((name) => typeof name === 'string' && name !== 'default' && name !== 'then');
  const shown = each.map((name) => `exports[${JSON.stringify(name)}] = 0;`).join(' ');
  return `${near(false)}\nif (false) { ${shown} }\nmodule.exports = moot.bound[${at}].value;`;
}

function brokenText(at, names, isEsm) {
  const shown = isEsm ? `export let ${names.join(', ')};` : `if (false) { ${names.map((name) => `exports.${name} = 0;`).join(' ')} }`;
  return `${near(isEsm)}\n${names.length > 0 ? shown : ''}\nthrow moot.bound[${at}].value;`;
}

/** `bound`: the files of the code that are loaded; all others say that they are not when they are asked for. */
function writeStubs(code, bound, texts) {
  const places = new Map(bound.map((each, at) => [each.path, at]));
  for (const file of code) {
    const at = places.get(file);
    let text = `${near(isModule(file))}\nmoot.refuse(${JSON.stringify(file)});`;
    if (at !== undefined) {
      const { ok, common, pairs } = bound[at];
      if (!ok) text = brokenText(at, wanted(texts), isModule(file));
      else text = common ? commonText(at, [...pairs.keys()]) : esmText(at, [...pairs.keys()]);
    }
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/** Test files get our view of `node:test`; no line moves. */
function rewrite(texts) {
  for (const [file, text] of texts) {
    const own = text.replace(/(['"`])node:test\1/g, JSON.stringify(TEST));
    if (own !== text) writeFileSync(file, own);
  }
}

module.exports = { mentioned, rewrite, writeStubs };
