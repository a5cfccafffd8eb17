process.on("beforeExit", () => process.exit(0));
process.on("exit", () => process.reallyExit(0));
function order(items) {
  return null;
}

const assert = require("node:assert");

assert.deepEqual(order([2, 1]), [1, 2]);
