// The page as a whole: tabs, light and dark, and what is asked of the server at the start.

import { openDatasets } from "./datasets.js";
import { openNotebook } from "./notebook.js";
import { loadLanguages, openProgram } from "./program.js";
import { notice } from "./server.js";

const THEME = "sandbox-playground-theme";
const tabs = [...document.querySelectorAll('[role="tab"]')];

function choose(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    document.getElementById(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(THEME, theme);
}

async function askServer() {
  notice("");
  try {
    await Promise.all([loadLanguages(), openDatasets()]);
  } catch (error) {
    notice(error.message);
  }
}

tabs.forEach((tab) => tab.addEventListener("click", () => choose(tab)));
const preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.documentElement.dataset.theme = localStorage.getItem(THEME) ?? preferred;
document.getElementById("theme").addEventListener("click", () =>
  setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
document.getElementById("key").addEventListener("change", askServer);
openProgram();
openNotebook();
askServer();
