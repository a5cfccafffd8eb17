'use strict';
// Run code, call its handler, tell the end: what call.py does, for JavaScript. The order comes over descriptor 3 and the
// answer goes back over it, each as JSON behind its length.

const fs = require('fs');
const path = require('path');
const Module = require('module');
const { pathToFileURL } = require('url');

const LINE = 3;
const MOST_BYTES = 1024 * 1024;
const EXITS = { ok: 0, not_loaded: 1, raised: 2, not_serializable: 3 };

function wait() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function readExactly(size) {
  const buffer = Buffer.alloc(size);
  let got = 0;
  while (got < size) {
    try {
      const piece = fs.readSync(LINE, buffer, got, size - got, null);
      if (!piece) process.exit(1);
      got += piece;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait();
    }
  }
  return buffer;
}

function tell(answer) {
  const text = Buffer.from(JSON.stringify(answer));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const data = Buffer.concat([length, text]);
  let sent = 0;
  while (sent < data.length) {
    try {
      sent += fs.writeSync(LINE, data, sent);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait();
    }
  }
}

class Ended extends Error {
  constructor(how, cause) {
    super(how);
    this.how = how;
    this.cause = cause;
  }
}

function failed(how, error) {
  process.stderr.write(`${error && error.stack ? error.stack : error}\n`);
  return new Ended(how, error);
}

function contextOf(fields) {
  const ends = Date.now() + (fields.remaining_time_in_millis || 0);
  const remaining = () => Math.max(0, ends - Date.now());
  return { ...fields, get_remaining_time_in_millis: remaining, getRemainingTimeInMillis: remaining };
}

// A module as it would be in a file of that name, so that require finds its neighbours. A function that is only declared counts
// as well as one that is exported.
function asCommon(order, file) {
  const found = new Module(file, module);
  found.filename = file;
  found.paths = Module._nodeModulePaths(path.dirname(file)).concat(order.path);
  const ending = "\n;if (typeof handler !== 'undefined' && !(module.exports && module.exports.handler)) { try { module.exports.handler = handler; } catch { /* frozen */ } }";
  found._compile(order.code + ending, file);
  return found.exports;
}

async function asModern(order, file) {
  const place = path.join(path.dirname(file), `.handler-${process.pid}.mjs`);
  fs.writeFileSync(place, order.code);
  try {
    return await import(pathToFileURL(place).href);
  } finally {
    fs.rmSync(place, { force: true });
  }
}

async function load(order, file) {
  const modern = /^\s*(export|import)\s/m.test(order.code);
  try {
    return modern ? await asModern(order, file) : asCommon(order, file);
  } catch (error) {
    throw failed(order.script && !(error instanceof SyntaxError) ? 'raised' : 'not_loaded', error);
  }
}

function textOf(value) {
  let text;
  try {
    text = JSON.stringify(value === undefined ? null : value);
    if (text === undefined) throw new TypeError(`a ${typeof value} has no form in JSON`);
  } catch (error) {
    throw failed('not_serializable', error);
  }
  if (Buffer.byteLength(text) > MOST_BYTES) {
    throw failed('not_serializable', new RangeError(`the value is larger than ${MOST_BYTES} bytes as JSON: write it into a file`));
  }
  return text;
}

async function perform(order) {
  const file = path.join(process.cwd(), order.name);
  process.argv.splice(1, process.argv.length, file, ...order.args);
  const exported = await load(order, file);
  const handler = exported && (exported.handler || (exported.default && exported.default.handler));
  if (order.call === 'no' || (order.call === 'found' && typeof handler !== 'function')) return { how: 'ok' };
  if (typeof handler !== 'function') {
    throw failed('not_loaded', new Error('the code has no function `handler`; define handler(event) or handler(event, context)'));
  }
  let value;
  try {
    value = await handler(order.event, contextOf(order.context));
  } catch (error) {
    throw failed('raised', error);
  }
  return { how: 'ok', value: textOf(value) };
}

function said(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const order = JSON.parse(readExactly(readExactly(4).readUInt32BE()).toString());
perform(order).then(
  (answer) => {
    tell(answer);
    process.exitCode = 0;
  },
  (ended) => {
    tell({ how: ended.how, error: said(ended.cause) });
    process.exitCode = order.script ? 1 : EXITS[ended.how];
  },
).then(() => {
  if (!order.script) process.exit();
});
