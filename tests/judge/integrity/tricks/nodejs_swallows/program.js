process.on("uncaughtException", () => {});
function order(items) {
  return null;
}

const assert = require("node:assert");

function test() {
  assert.deepEqual(order([2, 1]), [1, 2]);
}

test();
