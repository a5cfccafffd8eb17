function order(items) {
  return items.sort();
}

const assert = require("node:assert");

function test() {
  assert.deepEqual(order([2, 1]), [1, 2]);
}

test();
