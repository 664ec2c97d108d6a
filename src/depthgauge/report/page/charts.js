// Every chart is a specification with data from Python. This script embeds the charts one by one,
// passes the reader's choices to them, and opens the run that belongs to a clicked mark.
const charts = (() => {
  const waiting = new Set(Object.keys(data.charts).filter(byId));
  const plots = [...waiting].map(byId);
  let alone = "", busy = 0;

  const column = (values) => (Array.isArray(values) ? values : values.runs.flatMap(([value, count]) => Array(count).fill(value)));

  function rowsOf(name) {
    const fields = Object.entries(data.rows[name]).map(([field, values]) => [field, column(values)]);
    return fields[0][1].map((_, row) => Object.fromEntries(fields.map(([field, values]) => [field, values[row]])));
  }

  // Return the reader's choices for a chart: those of its section, and the rule shown alone.
  function chosenFor(plot) {
    const controls = plot.closest("section").querySelectorAll("[data-choice]");
    const value = (control) => (control.value === "all" ? "all" : Number(control.value));
    return { alone, ...Object.fromEntries([...controls].map((control) => [control.dataset.choice, value(control)])) };
  }

  async function update(plot) {
    if (!plot.chart) return;
    const chosen = chosenFor(plot);
    for (const { name } of data.charts[plot.id].spec.params) if (name in chosen) plot.chart.signal(name, chosen[name]);
    await plot.chart.runAsync();
  }

  async function embed(plot) {
    const { spec, rows } = data.charts[plot.id];
    const datasets = Object.fromEntries(rows.map((name) => [name, rowsOf(name)]));
    const settings = { mode: "vega-lite", renderer: "svg", ast: true, actions: false, tooltip: { disableDefaultStyle: true } };
    plot.chart = (await vegaEmbed(plot, { ...spec, datasets }, settings)).view;
    plot.chart.addEventListener("click", (_, item) => { if (item?.datum?.run) openRun(item.datum.run); });
    await update(plot);
  }

  // Charts in sight are drawn first; the others follow one by one while the browser is idle.
  const isInSight = (plot) => {
    const { top, bottom } = plot.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  };
  const idle = () => new Promise((go) => (window.requestIdleCallback ? requestIdleCallback(go, { timeout: 20 }) : setTimeout(go, 1)));

  async function drawWaiting() {
    busy += 1;
    while (waiting.size) {
      const next = [...waiting].map(byId).find(isInSight) ?? byId([...waiting][0]);
      waiting.delete(next.id);
      await embed(next);
      await idle();
    }
    finished();
  }

  function finished() {
    busy -= 1;
    if (busy) return;
    document.documentElement.dataset.drawn = "yes";
    performance.mark("drawn");
  }

  async function updateAll(some) {
    busy += 1;
    delete document.documentElement.dataset.drawn;
    await Promise.all(some.map(update));
    finished();
  }

  function isolate(rule) {
    alone = alone === rule ? "" : rule;
    for (const button of document.querySelectorAll(".legend button")) {
      button.setAttribute("aria-pressed", String(button.dataset.rule === alone));
    }
    updateAll(plots);
  }

  function choose(control) {
    if (control.nextElementSibling?.tagName === "OUTPUT") control.nextElementSibling.value = `${control.value} of ${control.max}`;
    updateAll(plots.filter((plot) => control.closest("section").contains(plot)));
  }

  return {
    start() {
      for (const button of document.querySelectorAll(".legend button")) button.addEventListener("click", () => isolate(button.dataset.rule));
      for (const control of document.querySelectorAll("[data-choice]")) control.addEventListener("input", () => choose(control));
      return drawWaiting();
    },
  };
})();
