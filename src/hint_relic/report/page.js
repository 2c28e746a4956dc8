"use strict";
// Switch between kinds of weights, filter, sort. Without this script everything is still shown.

const root = document.documentElement;
const control = (id) => document.getElementById(id);
const items = [...document.querySelectorAll("[data-words]")];

function weights() {
  return root.dataset.weights;
}

// --- filters: an element stays if it fits all that is asked for -----------------------------------

function wanted(item, asked) {
  const words = item.dataset.words, tokens = item.dataset.tokens.split(" ");
  return asked.search.every((word) => words.includes(word))
    && (!asked.group || item.dataset.group === asked.group)
    && (!asked.variant || !item.dataset.variant || item.dataset.variant === asked.variant)
    && (!asked.token || tokens.includes(asked.token));
}

function filter() {
  const show = control("show").value;
  const asked = {
    search: control("search").value.toLowerCase().split(/\s+/),
    group: control("group").value,
    variant: control("variant").value,
    token: show && (show === "done" || show === "gap" ? `state:${show}` : `${weights()}:${show}`),
  };
  for (const item of items) item.hidden = !wanted(item, asked);
  const count = (selector) => {
    const all = document.querySelectorAll(selector);
    return `${[...all].filter((item) => !item.hidden).length} of ${all.length}`;
  };
  control("status").textContent =
    `Shown: ${count("#table-all tbody tr")} algorithms of the large table, ${count("details.cell")} cells.`;
}

// --- sorting: up, down, and back to the order of the paper ----------------------------------------

function key(row, column) {
  const cell = row.cells[column];
  if (cell.dataset.number !== undefined) return Number(cell.dataset.number);
  const order = control("order").value;
  const ours = cell.querySelector(`[data-w="${weights()}"]`);
  const value = order === "paper" ? cell.dataset.paper : ours && ours.dataset[order];
  if (value !== undefined && value !== null) return Number(value);
  const plain = !cell.querySelector("[data-w], .gap") && cell.dataset.paper === undefined;
  return plain && cell.textContent !== "–" ? cell.textContent.toLowerCase() : null;
}

function arrange(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const column = heads.findIndex((head) => head.ariaSort !== "none");
  const rows = [...body.rows].sort((a, b) => a.dataset.place - b.dataset.place);
  if (column >= 0) {
    const sign = heads[column].ariaSort === "ascending" ? 1 : -1;
    const keys = new Map(rows.map((row) => [row, key(row, column)]));
    rows.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (x === null || y === null) return (x === null) - (y === null); // gaps stay at the end
      return sign * (typeof x === "string" || typeof y === "string"
        ? String(x).localeCompare(String(y)) : x - y);
    });
  }
  table.classList.toggle("sorted", column >= 0);
  body.append(...rows);
}

function sort(head) {
  const numeric = head.cellIndex > 0;
  const turns = numeric ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];
  const next = turns[(turns.indexOf(head.ariaSort) + 1) % 3];
  for (const other of head.parentNode.cells) other.ariaSort = "none";
  head.ariaSort = next;
  arrange(head.closest("table"));
}

const sortable = [...document.querySelectorAll("section > .scroll > table")];
for (const table of sortable) {
  [...table.tBodies[0].rows].forEach((row, place) => { row.dataset.place = place; });
  for (const head of table.tHead.rows[0].cells) {
    head.querySelector("button").addEventListener("click", () => sort(head));
  }
}

// --- the controls ---------------------------------------------------------------------------------

for (const radio of document.querySelectorAll("input[name=weights]")) {
  radio.addEventListener("change", () => {
    root.dataset.weights = radio.value;
    filter();
    sortable.forEach(arrange);
  });
}
for (const id of ["search", "group", "variant", "show"]) control(id).addEventListener("input", filter);
control("order").addEventListener("input", () => sortable.forEach(arrange));
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());

// A link to a cell opens it, also where a filter hid it; all are open on paper.
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target || target.localName !== "details") return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", open);
addEventListener("beforeprint", () => {
  for (const cell of document.querySelectorAll("details.cell")) cell.open = true;
});

root.dataset.weights = document.querySelector("input[name=weights]:checked").value;
filter();
open();
