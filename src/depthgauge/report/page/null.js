const nulls = (() => {
  const seed = byId("null-seed"), panels = byId("null-panels");
  const drawnFor = () => data.rules.flatMap((rule) => rule.networks
    .filter((network) => network.null && network.seed === Number(seed.value)).map((network) => ({ rule, network })));
  let ids = [];

  function bars(values, observed) {
    const all = [...values, observed].filter(finite);
    const least = Math.min(...all), most = Math.max(...all), room = 0.04 * (most - least);
    const low = least - room, high = most + room, count = 30, width = (high - low || 1e-6) / count;
    const counts = new Array(count).fill(0);
    for (const value of values) counts[Math.min(count - 1, Math.floor((value - low) / width))] += 1;
    return { x: counts.map((_, i) => low + (i + 0.5) * width), y: counts, width };
  }

  function chart({ rule, network }) {
    const found = network.null, { x, y, width } = bars(found.fresh, found.observed);
    if (!found.fresh.length) return { empty: "Γ is not defined here." };
    const mark = line("x", found.observed, `training feedback ${shown(found.observed)}`);
    mark.shape.line = { color: theme.colour("--ink"), width: 2.5, dash: "solid" };
    mark.annotation.font = { size: 12, color: theme.colour("--ink") };
    const share = (found.observed - x[0]) / (x.at(-1) - x[0]);
    mark.annotation.xanchor = share > 0.7 ? "right" : share < 0.3 ? "left" : "center";
    return {
      traces: [{ type: "bar", x, y, width, marker: { color: rules.colour(rule), opacity: 0.75 },
        hovertemplate: "%{y} draws near %{x:.3f}<extra></extra>" }],
      layout: { margin: { l: 10, r: 14, t: 24, b: 10 }, xaxis: { title: { text: "Γ over the blocks" } },
        yaxis: { title: { text: "fresh draws" } },
        ...(finite(found.observed) ? { shapes: [mark.shape], annotations: [mark.annotation] } : {}) },
    };
  }

  // A p-value cannot be less than one over one more than the draws.
  function caption(rule, found) {
    const least = found.p_upper * (found.fresh.length + 1) < 1.5;
    const layers = found.words.map((word, layer) => `${layer ? `block ${layer - 1}` : "embed"} ${word}`).join(", ");
    const p = finite(found.p_upper) ? `p ${least ? "≤" : "="} ${shown(found.p_upper, 2)}` : "no p-value";
    return `${rule.method}: ${found.word} (${p}, ${found.fresh.length} draws); ${layers}`;
  }

  function update() {
    for (const id of ids) charts.remove(id);
    const wanted = drawnFor();
    ids = wanted.map((_, index) => `null-chart-${index}`);
    panels.replaceChildren(...wanted.map(({ rule, network }, index) => make(
      "figure", { className: "chart" },
      make("figcaption", {}, `${caption(rule, network.null)} `, make("button", { type: "button", className: "save",
        "data-save": ids[index], "aria-label": `Save as SVG: null of ${rule.method}` }, "SVG")),
      make("div", { id: ids[index], className: "plot", role: "img", style: "height:240px",
        "aria-label": `Histogram of ${network.null.fresh.length} fresh draws for ${rule.method}; the training feedback has ${shown(network.null.observed)}` }),
    )));
    wanted.forEach((entry, index) => charts.add(ids[index], () => chart(entry)));
  }

  function start() {
    if (!panels) return;
    const seeds = unique(data.rules.flatMap((rule) => rule.networks.filter((n) => n.null).map((n) => n.seed)));
    byId("null-empty").hidden = seeds.length > 0;
    byId("null-controls").hidden = seeds.length === 0;
    if (!seeds.length) return;
    seed.append(...seeds.map((one) => make("option", { value: String(one) }, String(one))));
    update();
    seed.addEventListener("change", update);
  }
  return { start };
})();
