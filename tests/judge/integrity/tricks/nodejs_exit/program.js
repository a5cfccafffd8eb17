function order(items) {
  process.exit(0);
}

const assert = require("node:assert");

function test() {
  assert.deepEqual(order([2, 1]), [1, 2]);
}

test();
