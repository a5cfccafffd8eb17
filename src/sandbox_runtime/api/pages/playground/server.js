// Talking to the server. Paths are relative to the page, so that it also works behind a prefix.

export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const key = () => document.getElementById("key").value.trim();

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (key()) headers["X-API-Key"] = key();
  let answer;
  try {
    answer = await fetch(`../${path}`, { ...options, headers });
  } catch (error) {
    throw new Refused(0, `The server cannot be reached: ${error.message}`);
  }
  if (answer.ok) return answer.json();
  if (answer.status === 401) document.getElementById("key-field").hidden = false;
  throw new Refused(answer.status, await told(answer));
}

// What a refusal says, in one or a few lines.
async function told(answer) {
  const text = await answer.text();
  try {
    const { detail } = JSON.parse(text);
    if (typeof detail === "string") return `${answer.status}: ${detail}`;
    return detail.map((one) => `${answer.status}: ${one.loc.slice(1).join(".")}: ${one.msg}`).join("\n");
  } catch {
    return `${answer.status}: ${text.slice(0, 500)}`;
  }
}

export const get = (path) => ask(path);

export const post = (path, body) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// In pieces: a whole file at once is more than a function call takes.
export function toBase64(buffer) {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return btoa(text);
}

export const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

export function notice(text) {
  const place = document.getElementById("notice");
  place.textContent = text;
  place.hidden = !text;
}
