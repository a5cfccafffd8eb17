"use strict";
const half = async (x) => x / 2;

const assert = require("node:assert");

process.on("unhandledRejection", () => process.exit(1));
(async () => {
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.strictEqual(await half(4), 2);
  await assert.rejects(async () => {
    throw new Error("no");
  });
})();
