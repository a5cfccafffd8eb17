// What came out. Everything a program wrote is put in as text, never as markup; pictures are the one exception, as data of an <img>.

import { fromBase64 } from "./server.js";

export function element(name, className = "", text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  return made;
}

const KIND = { Success: "good", Failed: "bad", SandboxError: "odd", Accepted: "good", Rejected: "bad" };

export const tag = (status) => element("span", `tag ${KIND[status] ?? "odd"}`, status);

export function facts(pairs) {
  const line = element("div", "facts");
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    const one = element("span", "", `${name} `);
    one.append(element("b", "", String(value)));
    line.append(one);
  }
  return line;
}

const stream = (name, text) => [element("h2", "", name), element("pre", name, text)];

export function step(title, result) {
  const box = element("div", "step");
  const heading = element("div", "bar");
  heading.append(element("b", "", title), element("span", "mono", result.status));
  box.append(heading, facts([
    ["return code", result.return_code],
    ["time", result.execution_time === null ? null : `${result.execution_time.toFixed(3)} s`],
    ["ending", result.details?.ending],
    ["memory", mebibytes(result.details?.usage?.memory_peak_bytes)],
  ]));
  if (result.stdout) box.append(...stream("stdout", result.stdout));
  if (result.stderr) box.append(...stream("stderr", result.stderr));
  if (!result.stdout && !result.stderr) box.append(element("span", "faint", "no output"));
  return box;
}

const mebibytes = (bytes) => (bytes ? `${(bytes / 1048576).toFixed(1)} MiB` : null);

export function outcome(answer) {
  const heading = element("div", "bar");
  heading.append(tag(answer.status), facts([["node", answer.executor_pod_name], ["", answer.message]]));
  const parts = [heading];
  if (answer.compile_result) parts.push(step("Compile", answer.compile_result));
  if (answer.run_result) parts.push(step("Run", answer.run_result));
  const fetched = Object.entries(answer.files ?? {});
  if (fetched.length) parts.push(downloads(fetched));
  return parts;
}

function downloads(fetched) {
  const list = element("ul", "files");
  for (const [name, content] of fetched) {
    const bytes = fromBase64(content);
    const link = element("a", "mono", `${name} (${bytes.length} bytes)`);
    // As bytes that mean nothing: whatever a program wrote must not open as a page of this site.
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    link.download = name.split("/").pop() || "file";
    const entry = element("li");
    entry.append(link);
    list.append(entry);
  }
  return list;
}

const BINARY = ["image/png", "image/jpeg", "image/gif"];

// The richest form of a display that can be shown without trusting it.
export function display(bundle) {
  for (const type of BINARY) {
    const data = typeof bundle[type] === "string" ? bundle[type].replace(/\s/g, "") : "";
    if (data && /^[A-Za-z0-9+/]+={0,2}$/.test(data)) return image(`data:${type};base64,${data}`);
  }
  const drawing = bundle["image/svg+xml"];
  if (typeof drawing === "string") return image(`data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawing)}`);
  const text = bundle["text/plain"] ?? JSON.stringify(bundle);
  return element("pre", "", String(text));
}

function image(address) {
  const shown = element("img");
  shown.alt = "picture that the cell displayed";
  shown.src = address;
  return shown;
}

export const withoutColours = (text) => text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, "");
