// The tab for notebooks: POST /run_jupyter.

import { editor } from "./editor.js";
import { display, element, facts, tag, withoutColours } from "./results.js";
import { notice, post } from "./server.js";

const FIRST = "import math\nprint('hello')\nmath.pi\n";

const at = (id) => document.getElementById(id);
const cells = [];

export function openNotebook() {
  at("add-cell").addEventListener("click", () => addCell("").focus());
  at("run-cells").addEventListener("click", run);
  addCell(FIRST);
}

function addCell(text) {
  const whole = element("div", "cell");
  const head = element("div", "bar");
  const away = element("button", "", "Remove");
  const place = element("div", "editor");
  const out = element("div", "out");
  head.append(element("span", "faint", `Cell ${cells.length + 1}`), element("span", "gap"), away);
  whole.append(head, place, out);
  at("cells").append(whole);
  const code = editor(place, { label: `Cell ${cells.length + 1}`, run, grows: true });
  code.value = text;
  const cell = { whole, code, out };
  away.addEventListener("click", () => { cells.splice(cells.indexOf(cell), 1); whole.remove(); });
  cells.push(cell);
  return code;
}

async function run() {
  if (at("run-cells").disabled) return;
  at("run-cells").disabled = true;
  notice("");
  at("notebook-result").textContent = "running…";
  const asked = [...cells];
  try {
    show(asked, await post("run_jupyter", request(asked)));
  } catch (error) {
    at("notebook-result").replaceChildren();
    notice(error.message);
  } finally {
    at("run-cells").disabled = false;
  }
}

const request = (asked) => ({
  cells: asked.map((cell) => cell.code.value),
  total_timeout: Number(at("total-timeout").value),
  cell_timeout: Number(at("cell-timeout").value),
});

function show(asked, answer) {
  const time = answer.driver?.execution_time;
  const told = facts([["time", time ? `${time.toFixed(3)} s` : null], ["node", answer.executor_pod_name], ["", answer.message]]);
  at("notebook-result").replaceChildren(tag(answer.status), told);
  asked.forEach((cell, number) => cell.out.replaceChildren(...parts(answer.cells[number])));
}

function parts(result) {
  if (!result) return [];
  const made = [];
  if (result.stdout) made.push(element("pre", "stdout", result.stdout));
  if (result.stderr) made.push(element("pre", "stderr", result.stderr));
  made.push(...result.display.map(display));
  for (const error of result.error) {
    const trace = (error.traceback ?? []).join("\n") || `${error.ename}: ${error.evalue}`;
    made.push(element("pre", "error", withoutColours(trace)));
  }
  return made;
}
