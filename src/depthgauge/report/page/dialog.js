function flat(value, prefix = "") {
  if (value === null || typeof value !== "object") return [[prefix, value === null ? "–" : String(value)]];
  if (Array.isArray(value)) return [[prefix, value.map((v) => (typeof v === "object" ? JSON.stringify(v) : String(v))).join(", ")]];
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, prefix ? `${prefix}.${name}` : name));
}

function pairs(title, rows) {
  if (!rows.length) return [];
  const body = make("tbody", {}, ...rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value))));
  return [make("h3", {}, title), make("div", { className: "wide" }, make("table", {}, body))];
}

function openRun(id) {
  const run = data.runs[id];
  if (!run) return;
  const readings = (data.readings[id] ?? []).map((reading) => [
    reading.name,
    `${reading.value === null ? "not finite" : shown(reading.value, 4)}${reading.per_layer.length ? ` (by layer: ${reading.per_layer.map((v) => shown(v)).join(", ")})` : ""}; ${reading.unit}; ${reading.convention}; ${reading.measured_on}${reading.note ? `; ${reading.note}` : ""}`,
  ]);
  const accuracy = run.accuracy === null ? "–" : `${(100 * run.accuracy).toFixed(1)} %`;
  const became = [["folder", `runs/${id}`], ["state", run.state], [run.config.recipe.score || "accuracy", accuracy],
    ["epochs recorded", String(run.epochs)], ...(run.reason ? [["reason", run.reason]] : [])];
  byId("run-title").textContent = `${run.rule}, k = ${run.rung}, seed ${run.seed}`;
  byId("run-body").replaceChildren(
    ...pairs("Result", became), ...pairs("Readings", readings),
    ...pairs("Configuration", flat(run.config)), ...pairs("Provenance", flat(run.provenance)),
  );
  const dialog = byId("run-dialog");
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

const dialogs = (() => {
  function fromAddress() {
    if (location.hash.startsWith("#run-")) openRun(location.hash.slice("#run-".length));
  }
  return {
    start() {
      const dialog = byId("run-dialog");
      byId("run-close").addEventListener("click", () => dialog.close());
      dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
      document.addEventListener("click", (event) => {
        const link = event.target.closest("[data-run]");
        if (!link) return;
        event.preventDefault();
        openRun(link.dataset.run);
      });
      window.addEventListener("hashchange", fromAddress);
      fromAddress();
    },
  };
})();
