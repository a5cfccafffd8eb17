'use strict';
// Run code, call its handler, send the result: what call.py does, for JavaScript. The order arrives over descriptor 3 and the
// answer goes back over it, both as length-prefixed JSON.

const fs = require('fs');
const path = require('path');
const Module = require('module');
const { pathToFileURL } = require('url');

const CONTROL_FD = 3;
const MAX_BYTES = 1024 * 1024;
const EXITS = { ok: 0, not_loaded: 1, raised: 2, not_serializable: 3 };

function wait() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
}

function readExactly(size) {
  const buffer = Buffer.alloc(size);
  let got = 0;
  while (got < size) {
    try {
      const piece = fs.readSync(CONTROL_FD, buffer, got, size - got, null);
      if (!piece) process.exit(1);
      got += piece;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      wait();
    }
  }
  return buffer;
}

function send(answer) {
  const text = Buffer.from(JSON.stringify(answer));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const data = Buffer.concat([length, text]);
  let sent = 0;
  while (sent < data.length) {
    try {
      sent += fs.writeSync(CONTROL_FD, data, sent);
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

function makeContext(fields) {
  const ends = Date.now() + (fields.remaining_time_in_millis || 0);
  const remaining = () => Math.max(0, ends - Date.now());
  return { ...fields, get_remaining_time_in_millis: remaining, getRemainingTimeInMillis: remaining };
}

// Load a module as if it were in a file of that name, so that require finds its neighbours. A handler that is only declared counts
// as exported.
function loadCommonJs(order, file) {
  const loaded = new Module(file, module);
  loaded.filename = file;
  loaded.paths = Module._nodeModulePaths(path.dirname(file)).concat(order.path);
  const ending = "\n;if (typeof handler !== 'undefined' && !(module.exports && module.exports.handler)) { try { module.exports.handler = handler; } catch { /* frozen */ } }";
  loaded._compile(order.code + ending, file);
  return loaded.exports;
}

async function loadEsModule(order, file) {
  const temporary = path.join(path.dirname(file), `.handler-${process.pid}.mjs`);
  fs.writeFileSync(temporary, order.code);
  try {
    return await import(pathToFileURL(temporary).href);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

async function load(order, file) {
  const modern = /^\s*(export|import)\s/m.test(order.code);
  try {
    return modern ? await loadEsModule(order, file) : loadCommonJs(order, file);
  } catch (error) {
    throw failed(order.script && !(error instanceof SyntaxError) ? 'raised' : 'not_loaded', error);
  }
}

function toJson(value) {
  let text;
  try {
    text = JSON.stringify(value === undefined ? null : value);
    if (text === undefined) throw new TypeError(`a ${typeof value} cannot be serialized as JSON`);
  } catch (error) {
    throw failed('not_serializable', error);
  }
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw failed('not_serializable', new RangeError(`the value is larger than ${MAX_BYTES} bytes as JSON: write it to a file`));
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
    value = await handler(order.event, makeContext(order.context));
  } catch (error) {
    throw failed('raised', error);
  }
  return { how: 'ok', value: toJson(value) };
}

function errorText(error) {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const order = JSON.parse(readExactly(readExactly(4).readUInt32BE()).toString());
perform(order).then(
  (answer) => {
    send(answer);
    process.exitCode = 0;
  },
  (ended) => {
    send({ how: ended.how, error: errorText(ended.cause) });
    process.exitCode = order.script ? 1 : EXITS[ended.how];
  },
).then(() => {
  if (!order.script) process.exit();
});
