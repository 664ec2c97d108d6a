// Text for the chart library, which would otherwise read tags and templates in it.
const label = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  .replaceAll("%{", "%\u200b{");
const narrow = window.matchMedia("(max-width: 600px)");
const short = (text, most = narrow.matches ? 14 : 26) => label(text.length > most ? `${text.slice(0, most - 1)}…` : text);

const charts = (() => {
  const PAPER = 660;
  const drawn = new Map();
  let onPaper = false;
  const settings = { displayModeBar: false, responsive: true, doubleClick: false, showTips: false };

  function layout(own) {
    const axis = {
      gridcolor: theme.colour("--line"), linecolor: theme.colour("--line"), zeroline: false,
      automargin: true, fixedrange: true, exponentformat: "power", minexponent: 4,
    };
    const whole = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
      font: { color: theme.colour("--ink"), family: getComputedStyle(document.body).fontFamily, size: 13 },
      margin: { l: 10, r: 14, t: 10, b: 10 }, hovermode: "closest", dragmode: false,
      hoverlabel: { align: "left" }, shapes: [], annotations: [],
      ...(onPaper ? { width: PAPER, autosize: false } : { autosize: true }),
      ...own,
    };
    whole.xaxis = { ...axis, ...own.xaxis };
    whole.yaxis = { ...axis, ...own.yaxis };
    return whole;
  }

  function draw(id) {
    const div = byId(id);
    const { traces, layout: own, empty, height } = drawn.get(id)();
    if (empty) {
      Plotly.purge(div);
      delete div.dataset.listens;
      div.replaceChildren(make("p", { className: "empty" }, empty));
      return;
    }
    if (div.querySelector(".empty")) div.replaceChildren();
    if (height) div.style.height = `${height}px`;
    Plotly.react(div, traces, layout(own), settings).then(() => {
      if (div.dataset.listens) return;
      div.dataset.listens = "yes";
      div.on("plotly_click", (event) => {
        const run = event.points[0]?.customdata;
        if (run) openRun(run);
      });
    });
  }

  // Charts in sight come first; the others are drawn one by one when nothing else happens, or soon.
  const waiting = new Set();
  const inSight = (div) => {
    const { top, bottom } = div.getBoundingClientRect();
    return bottom > 0 && top < window.innerHeight;
  };
  const whenIdle = (next) => (window.requestIdleCallback ? requestIdleCallback(next, { timeout: 20 }) : setTimeout(next, 1));

  function drawNext() {
    const [id] = waiting;
    if (id === undefined) {
      document.documentElement.dataset.drawn = "yes";
      performance.mark("drawn");
      return;
    }
    waiting.delete(id);
    try {
      draw(id);
    } finally {
      whenIdle(drawNext);
    }
  }

  function drawSoon(ids) {
    const idle = waiting.size === 0;
    delete document.documentElement.dataset.drawn;
    for (const id of ids) {
      if (inSight(byId(id))) draw(id);
      else waiting.add(id);
    }
    if (idle) whenIdle(drawNext);
  }

  window.addEventListener("beforeprint", () => {
    onPaper = true;
    for (const id of drawn.keys()) draw(id);
    waiting.clear();
  });
  window.addEventListener("afterprint", () => {
    onPaper = false;
    drawSoon([...drawn.keys()]);
  });

  return {
    add(id, describe) {
      if (!byId(id)) return;
      drawn.set(id, describe);
      drawSoon([id]);
    },
    draw: (...ids) => drawSoon(ids),
    drawAll: () => drawSoon([...drawn.keys()]),
    remove(id) {
      drawn.delete(id);
      waiting.delete(id);
    },
  };
})();

// Powers of ten alone where there are several, and no more of them than there is room for.
const logAxis = ([low, high]) => ({ type: "log", ...(high - low > 1.5 ? { dtick: Math.ceil((high - low) / (narrow.matches ? 5 : 9)) } : {}) });

function logRange(traces) {
  let low = Infinity, high = -Infinity;
  for (const { y } of traces) {
    for (const value of y) {
      if (!finite(value) || value <= 0) continue;
      low = Math.min(low, Math.log10(value));
      high = Math.max(high, Math.log10(value));
    }
  }
  const room = 0.06 * (high - low || 1);
  return [low - room, high + room];
}

const line = (axis, value, text, side = {}) => ({
  shape: {
    type: "line", [axis + "0"]: value, [axis + "1"]: value,
    ...(axis === "x" ? { yref: "paper", y0: 0, y1: 1 } : { xref: "paper", x0: 0, x1: 1 }),
    line: { color: theme.colour("--soft"), dash: "dot", width: 1.5 },
  },
  annotation: {
    text: label(text), showarrow: false, font: { size: 11, color: theme.colour("--soft") },
    ...(axis === "x"
      ? { x: value, yref: "paper", y: 1, yanchor: "bottom", xanchor: "center" }
      : { y: value, xref: "paper", x: 1, xanchor: "right", yanchor: "bottom" }),
    ...side,
  },
});
