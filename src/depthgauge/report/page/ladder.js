const MOST_LABELS = 8, LETTER = 8;

// A rule's name beside the end of its line, moved up as far as it would cover another.
function endLabels(ends, top, letters) {
  let last = -Infinity;
  return [...ends].sort((a, b) => a.y - b.y).map(({ rule, k, y }) => {
    last = Math.max(y, last + top / 24);
    return {
      x: [k], y: [last], mode: "text", text: [`  ${short(rule.method, letters)}`], textposition: "middle right",
      hoverinfo: "skip", cliponaxis: false,
    };
  });
}

// Where a rule stands with all its blocks frozen: what depth adds is above it.
const frozenLine = (rule, { mean }, blocks) => ({
  type: "line", x0: 0, x1: blocks, y0: 100 * mean, y1: 100 * mean, layer: "below", opacity: 0.7,
  line: { color: rules.colour(rule), dash: "dot", width: 1.3 },
});

function ladderChart() {
  const traces = [], ends = [], frozen = [];
  for (const rule of rules.shown()) {
    if (["shallow", "wide_block"].includes(rule.control)) continue;
    const rungs = rule.ladder.filter((rung) => rung.mean !== null && (data.blocks === null || rung.blocks === data.blocks));
    if (!rungs.length) continue;
    const seeds = rungs.flatMap((rung) => rung.seeds.map(([seed, accuracy, run]) => ({ k: rung.k, seed, accuracy, run })));
    const spread = rungs.some((rung) => rung.low !== null);
    traces.push({
      x: seeds.map((s) => s.k), y: seeds.map((s) => 100 * s.accuracy), mode: "markers",
      marker: rules.marker(rule, { size: 5, opacity: 0.45 }), customdata: seeds.map((s) => s.run),
      hovertemplate: seeds.map((s) => `${label(rule.method)}, k = ${s.k}, seed ${s.seed}: ${percent(s.accuracy)} %<extra></extra>`),
    });
    traces.push({
      x: rungs.map((r) => r.k), y: rungs.map((r) => 100 * r.mean), mode: "lines+markers",
      line: rules.line(rule), marker: rules.marker(rule), name: label(rule.method),
      error_y: spread ? {
        type: "data", symmetric: false, thickness: 1.4, width: 5, color: rules.colour(rule),
        array: rungs.map((r) => (r.high === null ? 0 : 100 * (r.high - r.mean))),
        arrayminus: rungs.map((r) => (r.low === null ? 0 : 100 * (r.mean - r.low))),
      } : undefined,
      hovertemplate: rungs.map((r) => {
        const interval = r.low === null ? (r.seeds.length > 1 ? "too few seeds" : "one seed") : `95 % [${percent(r.low)}, ${percent(r.high)}], ${r.seeds.length} seeds`;
        return `<b>${label(rule.method)}</b>, k = ${r.k}<br>${percent(r.mean)} %, ${interval}<extra></extra>`;
      }),
    });
    const twins = rule.twins.filter((rung) => rung.mean !== null);
    if (twins.length) traces.push({
      x: twins.map((r) => r.k), y: twins.map((r) => 100 * r.mean), mode: "markers",
      marker: { ...rules.marker(rule), symbol: `${rule.look.symbol}-open`, line: { width: 1.6 } },
      customdata: twins.map((r) => r.seeds[0]?.[2]),
      hovertemplate: twins.map((r) => `<b>${label(rule.method)}</b>, k = ${r.k}, added on noise<br>${percent(r.mean)} %, ${r.seeds.length} seeds<extra></extra>`),
    });
    ends.push({ rule, k: rungs.at(-1).k, y: 100 * rungs.at(-1).mean });
    if (rungs[0].k === 0 && rungs.length > 1) frozen.push([rule, rungs[0]]);
  }
  if (!traces.length) return { empty: "None of the chosen runs is done." };
  const top = 1.08 * Math.max(...traces.flatMap((t) => t.y), ...Object.values(data.floors).map((floor) => 100 * floor));
  const letters = Math.min(narrow.matches ? 9 : 26, Math.max(...ends.map(({ rule }) => rule.method.length)));
  const labelled = ends.length <= MOST_LABELS;
  if (labelled) traces.push(...endLabels(ends, top, letters));
  const blocks = data.blocks ?? Math.max(...traces.flatMap((t) => t.x));
  const lines = [];
  if (data.chance !== null) lines.push(line("y", 100 * data.chance, `chance ${percent(data.chance)} %`, { x: 0, xanchor: "left" }));
  // Names stand on the right, where chance has none.
  for (const [name, accuracy] of Object.entries(data.floors)) {
    lines.push(line("y", 100 * accuracy, `${name} ${percent(accuracy)} %`));
  }
  const last = data.blocks === null ? "" : ` of ${blocks}`;
  return {
    traces,
    layout: {
      margin: { l: 10, r: 24 + (labelled ? LETTER * letters : 0), t: 14, b: 10 },
      xaxis: { title: { text: narrow.matches ? `k: trained blocks${last}` : `k: trained blocks, counted from the last${last}` }, dtick: 1, range: [-0.25, blocks + 0.25] },
      yaxis: { title: { text: "accuracy, %" }, range: [0, top] },
      shapes: [...frozen.map(([rule, rung]) => frozenLine(rule, rung, blocks)), ...lines.map((l) => l.shape)],
      annotations: lines.map((l) => l.annotation),
    },
  };
}
