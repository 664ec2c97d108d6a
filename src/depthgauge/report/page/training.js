const training = (() => {
  const reading = byId("training-reading"), blocks = byId("training-k");
  const firing = (run, epoch) => Object.entries(run.fired).filter(([, at]) => at === epoch)
    .map(([which]) => `<br>${which} first fires`).join("");
  const OWN = { accuracy: { factor: 100, log: false }, train_loss: { factor: 1, log: false } };
  const factsOf = (name) => OWN[name] ?? data.recorded.find((one) => one.quantity === name);

  function mean(rows, log) {
    const most = Math.max(...rows.map((row) => row.length));
    return Array.from({ length: most }, (_, e) => {
      const there = rows.map((row) => row[e]).filter((v) => finite(v) && (!log || v > 0));
      const sum = there.reduce((a, v) => a + (log ? Math.log(v) : v), 0) / there.length;
      return { count: there.length, value: there.length ? (log ? Math.exp(sum) : sum) : null };
    });
  }

  // Where a mark goes whose reading has no place on the axis: the bad end of what is drawn.
  function edgeOf(rows, high) {
    let edge = null;
    for (const value of rows.flat()) {
      if (value !== null && (edge === null || (high ? value > edge : value < edge))) edge = value;
    }
    return edge;
  }

  function chart() {
    const name = reading.value, { factor, log, limit, fires, diagnostic } = factsOf(name);
    const traces = [];
    const clean = (v) => (finite(v) && (!log || v > 0) ? factor * v : null);
    const groups = rules.shown().map((rule) => {
      const runs = rungs
        .filter((run) => run.method === rule.method && run.k === Number(blocks.value) && series.epochs(run.index) > 0);
      return { rule, runs, rows: runs.map((run) => series.scalar(run.index, name).map(clean)) };
    });
    const edge = edgeOf(groups.flatMap(({ rows }) => rows), fires === "above");
    for (const { rule, runs, rows } of groups) {
      if (!rows.length) continue;
      rows.forEach((row, i) => traces.push({
        x: row.map((_, e) => e), y: row, mode: "lines", line: rules.line(rule, { width: 1 }), opacity: 0.35,
        customdata: row.map(() => runs[i].id),
        hovertemplate: row.map((_, e) => `${label(rule.method)}, seed ${runs[i].seed}, epoch %{x}: %{y:.3g}${firing(runs[i], e)}<extra></extra>`),
      }));
      const middle = mean(rows, log);
      traces.push({ x: middle.map((_, e) => e), y: middle.map((m) => m.value), mode: "lines", line: rules.line(rule, { width: 2.8 }),
        hovertemplate: middle.map((m) => `<b>${label(rule.method)}</b>, mean of ${m.count}, epoch %{x}: %{y:.3g}<extra></extra>`) });
      const marks = runs.flatMap((run, i) => Object.entries(run.fired)
        .filter(([which, at]) => at !== null && (diagnostic === undefined || diagnostic === which))
        .map(([which, at]) => ({ x: at, y: rows[i][at] ?? edge, text: which, run: run.id, seed: run.seed })))
        .filter((mark) => mark.y !== null);
      traces.push({ x: marks.map((m) => m.x), y: marks.map((m) => m.y), mode: "markers",
        marker: { symbol: marks.map((m) => data.marks[m.text]), size: 11, line: { width: 2.6, color: rules.colour(rule) } }, customdata: marks.map((m) => m.run),
        hovertemplate: marks.map((m) => `${m.text} first fires: ${label(rule.method)}, seed ${m.seed}, epoch ${m.x}<extra></extra>`) });
    }
    if (!traces.length) return { empty: "No such run has been begun." };
    const lines = [];
    if (limit !== undefined) {
      const floor = line("y", limit, `threshold ${shown(limit)}`);
      if (log) floor.annotation.y = Math.log10(floor.annotation.y);
      lines.push(floor);
    }
    if (name === "accuracy" && data.chance !== null) lines.push(line("y", 100 * data.chance, "chance"));
    return {
      traces,
      layout: {
        xaxis: { title: { text: "epoch" } },
        yaxis: { ...(log ? logAxis(logRange(traces)) : {}), title: { text: reading.selectedOptions[0].textContent + (name === "accuracy" ? ", %" : "") } },
        shapes: lines.map((l) => l.shape), annotations: lines.map((l) => l.annotation),
      },
    };
  }

  function start() {
    if (!reading) return;
    const ks = unique(rungs.map((run) => run.k));
    blocks.append(...ks.map((k) => make("option", { value: String(k) }, String(k))));
    blocks.value = String(ks.at(-1));
    charts.add("training-chart", chart);
    for (const control of [reading, blocks]) control.addEventListener("change", () => charts.draw("training-chart"));
  }
  return { start };
})();
