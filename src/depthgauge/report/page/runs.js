const runsTable = (() => {
  const table = byId("runs-table"), filter = byId("runs-filter");

  // Replace the spaces in a rule's name, so that the filter takes the name as one word.
  const joined = (name) => name.replaceAll(/\s/g, "\u00a0");

  function exactly(row) {
    const [, rule, k, seed] = [...row.cells].map((cell) => joined(cell.textContent.trim()));
    return [`rule=${rule}`, `k=${k}`, `seed=${seed}`].map((word) => word.toLowerCase());
  }

  // Show the rows that contain every word of the filter. Words that begin with rule=, k= or seed=
  // match a whole cell: "k=4" does not find k = 14, and "rule=fa" does not find dfa.
  function apply() {
    const wanted = filter.value.toLowerCase().split(/[ \t]+/).filter(Boolean);
    let count = 0;
    for (const row of table.tBodies[0].rows) {
      const known = exactly(row), cells = [...row.cells].map((cell) => cell.textContent.trim().toLowerCase());
      row.hidden = !wanted.every((word) => (/^(rule|k|seed)=/.test(word)
        ? known.includes(word) : cells.some((cell) => cell.includes(word))));
      if (!row.hidden) count += 1;
    }
    byId("runs-count").textContent = `${count} of ${table.tBodies[0].rows.length} runs`;
  }

  function sort(column) {
    const header = table.tHead.rows[0].cells[column];
    const rising = header.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    const key = (row) => {
      const cell = row.cells[column];
      return "order" in cell.dataset ? Number(cell.dataset.order) : cell.textContent.trim();
    };
    const missing = (value) => value === "–" || value === "n/a" || value === "never";
    const compare = (a, b) => {
      if (missing(a) || missing(b)) return missing(a) - missing(b);
      const less = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
      return rising ? less : -less;
    };
    const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]).sort(([a], [b]) => compare(a, b));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  function show({ rule, k }) {
    filter.value = [`rule=${joined(rule)}`, ...(k === undefined ? [] : [`k=${k}`])].join(" ");
    apply();
  }

  function start() {
    if (!table) return;
    [...table.tHead.rows[0].cells].forEach((cell, column) => cell.firstElementChild.addEventListener("click", () => sort(column)));
    filter.addEventListener("input", apply);
    apply();
    for (const link of document.querySelectorAll("[data-runs]")) link.addEventListener("click", () => show(JSON.parse(link.dataset.runs)));
  }
  return { start };
})();
