function order(items) {
  process.on("SIGTERM", () => process.reallyExit(0));
  process.kill(process.pid, "SIGTERM");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  setTimeout(() => {}, 1000);
  throw process.on("uncaughtException", () => {});
}

const assert = require("node:assert");

assert.deepEqual(order([2, 1]), [1, 2]);
