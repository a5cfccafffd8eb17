import { readFileSync, writeFileSync } from "fs";

writeFileSync("output.txt", readFileSync("input.txt"));
