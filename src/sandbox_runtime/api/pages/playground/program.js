// The tab for programs: POST /run_code.

import { editor } from "./editor.js";
import { element, outcome } from "./results.js";
import { get, notice, post, toBase64 } from "./server.js";

const HELLO = {
  python: "print('hello')\n",
  bash: "echo hello\n",
  cpp: "#include <iostream>\n\nint main() {\n    std::cout << \"hello\\n\";\n}\n",
  c: "#include <stdio.h>\n\nint main(void) {\n    puts(\"hello\");\n}\n",
  nodejs: "console.log('hello');\n",
  typescript: "const word: string = 'hello';\nconsole.log(word);\n",
  go: "package main\n\nimport \"fmt\"\n\nfunc main() {\n    fmt.Println(\"hello\")\n}\n",
  java: "public class Main {\n    public static void main(String[] args) {\n        System.out.println(\"hello\");\n    }\n}\n",
  rust: "fn main() {\n    println!(\"hello\");\n}\n",
  php: "<?php\necho \"hello\\n\";\n",
  ruby: "puts 'hello'\n",
  sql: "select 'hello';\n",
};

// A new server checks its languages while it already serves.
const ASK_AGAIN_MS = 3000;

const at = (id) => document.getElementById(id);
const uploads = new Map();

export function openProgram() {
  const code = editor(at("code"), { label: "Code", run: () => run(code) });
  code.value = HELLO.python;
  at("run").addEventListener("click", () => run(code));
  at("upload").addEventListener("change", addFiles);
  at("language").addEventListener("change", () => {
    tellLanguage();
    if (!code.value.trim() || Object.values(HELLO).includes(code.value)) code.value = HELLO[at("language").value] ?? "";
  });
  code.focus();
}

let known = [];

export async function loadLanguages() {
  const answer = await get("languages");
  known = Array.isArray(answer) ? answer : answer.languages;
  const chosen = at("language").value || "python";
  const works = known.filter((language) => language.enabled);
  const pending = known.filter((language) => !language.enabled && language.pending);
  const others = known.filter((language) => !language.enabled && !language.pending);
  at("language").replaceChildren(group("Ready", works), group("Being checked", pending), group("Not available here", others));
  at("language").value = chosen;
  tellLanguage();
  if (pending.length) setTimeout(() => loadLanguages().catch((error) => notice(error.message)), ASK_AGAIN_MS);
}

function group(title, languages) {
  const made = document.createElement("optgroup");
  made.label = title;
  made.hidden = !languages.length;
  made.append(...languages.map((language) => new Option(language.title ? `${language.title} (${language.name})` : language.name, language.name)));
  return made;
}

function tellLanguage() {
  const language = known.find((one) => one.name === at("language").value);
  at("language-note").textContent = language ? (language.enabled ? language.version : language.reason) || "" : "";
}

async function addFiles(event) {
  for (const file of event.target.files) uploads.set(file.name, toBase64(await file.arrayBuffer()));
  event.target.value = "";
  showFiles();
}

function showFiles() {
  at("files").replaceChildren(...[...uploads.keys()].map((name) => {
    const entry = element("li", "mono", name);
    const away = element("button", "", "×");
    away.setAttribute("aria-label", `Remove ${name}`);
    away.addEventListener("click", () => { uploads.delete(name); showFiles(); });
    entry.append(away);
    return entry;
  }));
}

async function run(code) {
  if (at("run").disabled) return;
  at("run").disabled = true;
  notice("");
  at("program-result").replaceChildren(element("span", "faint", "running…"));
  try {
    at("program-result").replaceChildren(...outcome(await post("run_code", request(code))));
  } catch (error) {
    at("program-result").replaceChildren();
    notice(error.message);
  } finally {
    at("run").disabled = false;
  }
}

const request = (code) => ({
  code: code.value,
  language: at("language").value,
  compile_timeout: Number(at("compile-timeout").value),
  run_timeout: Number(at("run-timeout").value),
  memory_limit_MB: Number(at("memory").value),
  stdin: at("stdin").value || null,
  files: Object.fromEntries(uploads),
  fetch_files: at("fetch").value.split(",").map((name) => name.trim()).filter(Boolean),
});
