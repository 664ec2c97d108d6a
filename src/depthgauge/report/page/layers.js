const layers = (() => {
  const seed = byId("layers-seed"), blocks = byId("layers-k"), epoch = byId("layers-epoch");
  const options = (values) => values.map((value) => make("option", { value: String(value) }, String(value)));
  const place = (layer) => (layer ? `block ${layer - 1}` : "embed");
  const ofBlocks = (which) => which === "lesion" || which === "rewind";  // in points, without the embedding
  const chosen = () => rungs
    .filter((run) => run.k === Number(blocks.value) && run.seed === Number(seed.value) && series.epochs(run.index) > 0);

  function normChart(which) {
    const traces = [];
    for (const rule of rules.shown()) {
      for (const run of chosen().filter((r) => r.method === rule.method)) {
        const at = Math.min(Number(epoch.value), series.epochs(run.index) - 1);
        const y = series.norms(run.index, at)[which].map((v) => (finite(v) && v > 0 ? v : null));
        traces.push({
          x: y.map((_, layer) => place(layer)), y, mode: "lines+markers", line: rules.line(rule), marker: rules.marker(rule, { size: 7 }),
          customdata: y.map(() => run.id),
          hovertemplate: y.map((v, layer) => `<b>${label(rule.method)}</b>, epoch ${at}, ${place(layer)}<br>${shown(v)}<extra></extra>`),
        });
      }
    }
    if (!traces.length) return { empty: "No such run has been begun." };
    const range = rangeOverEpochs(which);
    return { traces, layout: { yaxis: { ...logAxis(range), range } } };
  }

  // The same for every epoch, so that epochs can be compared.
  function rangeOverEpochs(which) {
    const all = chosen().flatMap((run) => Array.from({ length: series.epochs(run.index) },
      (_, e) => series.norms(run.index, e)[which]).flat());
    const [low, high] = logRange([{ y: all }]);
    return high - low > 1 ? [low, high] : [(low + high - 1) / 2, (low + high + 1) / 2];
  }

  function creditChart(which) {
    const traces = [];
    const full = data.runs.length === 0 || Number(blocks.value) === data.blocks;
    for (const rule of full ? rules.shown() : []) {
      for (const network of rule.networks.filter((n) => n.seed === Number(seed.value) && n[which]?.length)) {
        const y = network[which].map((v) => (ofBlocks(which) && v !== null ? 100 * v : v));
        const x = y.map((_, layer) => place(ofBlocks(which) ? layer + 1 : layer));
        if (which === "alignment" && network.null && rules.shown().length <= 4) {
          const edge = (side) => network.null.mean.map((m, i) => (m === null ? null : m + side * 2 * network.null.spread[i]));
          traces.push({ x: [...x, ...[...x].reverse()], y: [...edge(1), ...edge(-1).reverse()], fill: "toself", mode: "none",
            fillcolor: rules.colour(rule), opacity: 0.16, hoverinfo: "skip", line: { width: 0 } });
        }
        traces.push({
          x, y, mode: "lines+markers", line: rules.line(rule), marker: rules.marker(rule, { size: 7 }),
          customdata: x.map(() => network.run),
          hovertemplate: y.map((v, i) => {
            const null_ = which === "alignment" && network.null ? `<br>null ${shown(network.null.mean[i])} ± ${shown(network.null.spread[i])}` : "";
            return `<b>${label(rule.method)}</b>, ${x[i]}<br>${shown(v)}${null_}<extra></extra>`;
          }),
        });
      }
    }
    if (!traces.length) return { empty: full ? "Not read: depthgauge audit reads it." : "Read only off networks with all blocks trained." };
    const zero = line("y", 0, "");
    return { traces, layout: { yaxis: { range: bounds(traces) }, shapes: [zero.shape] } };
  }

  function bounds(traces) {
    const all = traces.flatMap((t) => t.y).filter(finite);
    const low = Math.min(0, ...all), high = Math.max(0.1, ...all);
    return [low - 0.06 * (high - low), high + 0.06 * (high - low)];
  }

  function update() {
    const most = Math.max(0, ...chosen().map((run) => series.epochs(run.index) - 1));
    const atEnd = Number(epoch.value) >= Number(epoch.max);
    epoch.max = String(most);
    if (atEnd) epoch.value = String(most);
    show();
  }

  function show() {
    byId("layers-epoch-shown").textContent = `${epoch.value} of ${epoch.max}`;
    charts.draw("layers-h", "layers-g", "layers-gamma", "layers-rho", "layers-lesion", "layers-rewind");
  }

  function start() {
    if (!seed) return;
    const networks = data.rules.flatMap((rule) => rule.networks);
    seed.append(...options(unique([...data.runs, ...networks].map((one) => one.seed))));
    const ks = unique(rungs.map((run) => run.k));
    blocks.append(...options(ks.length ? ks : [data.blocks ?? 0]));
    blocks.value = String(ks.length ? ks.at(-1) : data.blocks ?? 0);
    epoch.max = "0";
    charts.add("layers-h", () => normChart("h"));
    charts.add("layers-g", () => normChart("g"));
    charts.add("layers-gamma", () => creditChart("alignment"));
    charts.add("layers-rho", () => creditChart("perturbation"));
    charts.add("layers-lesion", () => creditChart("lesion"));
    charts.add("layers-rewind", () => creditChart("rewind"));
    update();
    seed.addEventListener("change", update);
    blocks.addEventListener("change", update);
    epoch.addEventListener("input", show);
  }
  return { start };
})();
