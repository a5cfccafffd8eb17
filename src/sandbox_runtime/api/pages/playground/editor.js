// A text area with line numbers, in which Tab indents and Ctrl+Enter runs.

const INDENT = "    ";

export function editor(place, { label, run, grows = false }) {
  const numbers = document.createElement("div");
  numbers.className = "numbers";
  numbers.setAttribute("aria-hidden", "true");
  const area = document.createElement("textarea");
  area.setAttribute("aria-label", label);
  Object.assign(area, { spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off" });
  place.replaceChildren(numbers, area);

  const count = () => {
    const lines = area.value.split("\n").length;
    numbers.textContent = Array.from({ length: lines }, (_, line) => line + 1).join("\n");
    if (grows) area.rows = Math.max(2, lines);
  };
  area.addEventListener("input", count);
  area.addEventListener("scroll", () => { numbers.scrollTop = area.scrollTop; });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    } else if (event.key === "Tab" && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      event.shiftKey ? outdent(area) : indent(area);
      count();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      insert(area, `\n${leading(area)}`);
      count();
    } else if (event.key === "Escape") {
      area.blur(); // so that Tab leads on for those who have no mouse
    }
  });
  count();
  return {
    get value() { return area.value; },
    set value(text) { area.value = text; count(); },
    focus: () => area.focus(),
  };
}

// The old command, because it alone can be undone.
const insert = (area, text) => document.execCommand("insertText", false, text);

const lineStart = (area) => area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;

const leading = (area) => area.value.slice(lineStart(area), area.selectionStart).match(/^[ \t]*/)[0];

function indent(area) {
  if (area.selectionStart === area.selectionEnd) return insert(area, INDENT);
  eachLine(area, (line) => INDENT + line);
}

const outdent = (area) => eachLine(area, (line) => line.replace(/^( {1,4}|\t)/, ""));

function eachLine(area, change) {
  const from = lineStart(area);
  const lines = area.value.slice(from, area.selectionEnd).split("\n");
  area.setRangeText(lines.map(change).join("\n"), from, area.selectionEnd, "select");
}
