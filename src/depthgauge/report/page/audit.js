// Why a network has no place on an axis.
function fate(network, value) {
  if (network.diverged) return "diverged";
  if (value === Infinity) return "at ∞";
  return value === 0 ? "zero" : "not read";
}

// One diagnostic: `panel` has its quantity, limit, bad side and axis.
function panelChart(panel) {
  const read = (network) => network.read[panel.quantity] ?? null;
  const usable = (value) => finite(value) && (!panel.log || value > 0);
  const middle = (rule) => {
    const values = rule.networks.map(read).filter(usable);
    return values.length ? values.reduce((a, b) => a + (panel.log ? Math.log(b) : b), 0) / values.length : null;
  };
  const worst = panel.fires === "above" ? 1 : -1;
  const sorted = rules.shown().filter((rule) => rule.networks.length)
    .map((rule) => ({ rule, at: middle(rule) }))
    .sort((a, b) => worst * ((b.at ?? worst * Infinity) - (a.at ?? worst * Infinity)));
  const unread = (network) => !usable(read(network)) && fate(network, read(network)) === "not read";
  if (sorted.every(({ rule }) => rule.networks.every(unread))) {
    const audited = data.rules.some((rule) => rule.networks.some((network) => network.readings.length));
    return { empty: audited ? "Not measured." : "Not read: depthgauge audit reads it." };
  }
  const threshold = panel.limit;
  const position = (value) => (panel.log ? Math.log10(value) : value);
  const traces = [], lost = [];
  sorted.forEach(({ rule }, row) => {
    const interval = rule.diagnostics[panel.diagnostic]?.intervals?.[panel.quantity];
    if (interval && interval.n > 1 && [interval.low, interval.high].every(usable)) {
      traces.push({ x: [interval.low, interval.high].map((v) => panel.factor * v), y: [row, row], mode: "lines",
        line: { color: rules.colour(rule), width: 7 }, opacity: 0.3, hoverinfo: "skip" });
    }
    const seen = rule.networks.filter((n) => usable(read(n)));
    traces.push({
      x: seen.map((n) => panel.factor * read(n)), y: seen.map(() => row), mode: "markers",
      marker: rules.marker(rule), customdata: seen.map((n) => n.run),
      hovertemplate: seen.map((n) => `<b>${label(rule.method)}</b>, seed ${n.seed}<br>${shown(panel.factor * read(n))} ${panel.unit}<extra></extra>`),
    });
    const fates = rule.networks.filter((n) => !usable(read(n))).map((n) => fate(n, read(n)));
    const words = [...new Set(fates)].map((why) => `${fates.filter((one) => one === why).length} ${why}`);
    if (words.length) {
      const harmless = fates.every((why) => why === "not read");
      lost.push({ xref: "paper", x: panel.fires === "above" ? 1 : 0, xanchor: panel.fires === "above" ? "right" : "left",
        y: row, yanchor: "bottom", yshift: 4, showarrow: false, text: words.join(", "), font: { size: 11, color: theme.colour(harmless ? "--soft" : "--bad") } });
    }
  });
  const all = [threshold, ...traces.flatMap((t) => t.x)].map(position);
  const low = Math.min(...all), high = Math.max(...all), room = 0.08 * (high - low || 1);
  const range = [low - room, high + room];
  const drawn = line("x", threshold, `${panel.word} ${panel.fires} ${shown(threshold)}`);
  const at = panel.log ? position(threshold) : threshold;
  drawn.annotation.x = at;
  drawn.annotation.xanchor = (at - range[0]) / (range[1] - range[0]) > 0.6 ? "right" : "left";
  return {
    traces,
    height: 78 + 34 * sorted.length,
    layout: {
      margin: { l: 10, r: 14, t: 22, b: 10 },
      xaxis: { ...(panel.log ? logAxis(range) : {}), range, tickangle: 0, nticks: narrow.matches ? 5 : 0, title: { text: panel.unit } },
      yaxis: { tickvals: sorted.map((_, i) => i), ticktext: sorted.map(({ rule }) => short(rule.method)),
        range: [-0.6, sorted.length - 0.4], showgrid: false },
      shapes: [drawn.shape, {
        type: "rect", yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 0 },
        fillcolor: theme.colour("--bad-back"), opacity: 0.55,
        x0: panel.fires === "above" ? threshold : (panel.log ? 10 ** range[0] : range[0]),
        x1: panel.fires === "above" ? (panel.log ? 10 ** range[1] : range[1]) : threshold,
      }],
      annotations: [drawn.annotation, ...lost],
    },
  };
}
