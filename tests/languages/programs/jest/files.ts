import { readFileSync, writeFileSync } from "fs";

test("copies", () => {
  writeFileSync("output.txt", readFileSync("input.txt"));
});
