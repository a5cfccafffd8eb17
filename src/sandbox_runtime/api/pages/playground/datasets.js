// The tab for judged datasets. Hidden where the server has no judge.

import { editor } from "./editor.js";
import { element, outcome, tag } from "./results.js";
import { get, notice, post, Refused } from "./server.js";

const at = (id) => document.getElementById(id);
let completion = null;

export async function openDatasets() {
  let ids;
  try {
    ids = await get("list_datasets");
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return;
    throw error;
  }
  at("tab-datasets").hidden = false;
  at("dataset").replaceChildren(...ids.map((id) => new Option(id, id)));
  if (completion) return;
  completion = editor(at("completion"), { label: "Completion", run: submit });
  at("dataset").addEventListener("change", () => guarded(loadIds));
  at("dataset-id").addEventListener("change", () => guarded(loadPrompt));
  at("submit").addEventListener("click", submit);
  at("tab-datasets").addEventListener("click", () => guarded(loadIds), { once: true });
}

async function guarded(work) {
  notice("");
  try {
    await work();
  } catch (error) {
    notice(error.message);
  }
}

function config() {
  try {
    return JSON.parse(at("config").value || "{}");
  } catch (error) {
    throw new Error(`The config is no JSON: ${error.message}`);
  }
}

// The value of an option is text; ids may be numbers.
const chosenId = () => JSON.parse(at("dataset-id").value);

async function loadIds() {
  const ids = await post("list_ids", { dataset: at("dataset").value, config: config() });
  at("dataset-id").replaceChildren(...ids.map((id) => new Option(String(id), JSON.stringify(id))));
  if (ids.length) await loadPrompt();
}

async function loadPrompt() {
  const found = await post("get_prompt_by_id", { dataset: at("dataset").value, id: chosenId(), config: config() });
  const text = typeof found.prompt === "string" ? found.prompt : found.prompt.map((one) => `${one.role}: ${one.content}`).join("\n\n");
  at("prompt").textContent = text;
}

async function submit() {
  if (at("submit").disabled) return;
  at("submit").disabled = true;
  at("dataset-result").replaceChildren(element("span", "faint", "judging…"));
  await guarded(async () => {
    const body = { dataset: at("dataset").value, id: chosenId(), completion: completion.value, config: config() };
    at("dataset-result").replaceChildren(...verdict(await post("submit", body)));
  });
  at("submit").disabled = false;
}

function verdict(result) {
  const parts = [tag(result.accepted ? "Accepted" : "Rejected"), ...reasons(result.extra ?? {})];
  for (const [title, text] of [["Extracted", result.extracted_code], ["Full", result.full_code], ["Test", result.test_code]]) {
    if (!text) continue;
    const whole = element("details");
    whole.append(element("summary", "", `${title} code`), element("pre", "", text));
    parts.push(whole);
  }
  result.tests.forEach((test, number) => {
    const whole = element("details");
    whole.open = !test.passed;
    whole.append(element("summary", "", `Test ${number + 1}: ${test.passed ? "passed" : "failed"}`));
    if (test.test_info) whole.append(element("pre", "", JSON.stringify(test.test_info, null, 2)));
    whole.append(...outcome(test.exec_info));
    parts.push(whole);
  });
  return parts;
}

// Why it is so, where the server says it.
function reasons(extra) {
  const said = [extra.reason?.replaceAll("_", " "), extra.message, ...(extra.tamper ?? [])];
  return said.filter(Boolean).map((text) => element("p", "faint", text));
}
