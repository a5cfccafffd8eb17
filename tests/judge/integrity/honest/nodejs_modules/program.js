import assert from "node:assert/strict";

const half = (x) => x / 2;

assert.equal(half(4), 2);
assert.deepEqual({ a: [half(2)] }, { a: [1] });
