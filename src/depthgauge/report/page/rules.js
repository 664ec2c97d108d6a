// One rule can be seen alone: the choice holds for every chart that shows several.
const rules = (() => {
  let alone = null;
  const SIGNS = {
    circle: "M0-5A5 5 0 1 1 0 5A5 5 0 1 1 0-5Z", square: "M-4.5-4.5H4.5V4.5H-4.5Z",
    diamond: "M0-6L6 0L0 6L-6 0Z", "triangle-up": "M0-5L5.5 4.5H-5.5Z",
    "triangle-down": "M0 5L5.5-4.5H-5.5Z", cross: "M-2-6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    x: "M-5-2.5L-2.5-5L0-2.5L2.5-5L5-2.5L2.5 0L5 2.5L2.5 5L0 2.5L-2.5 5L-5 2.5L-2.5 0Z",
  };
  const colour = (rule) => (theme.dark ? rule.look.dark : rule.look.light);

  function sign(rule) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    for (const [name, value] of Object.entries({ width: 16, height: 16, viewBox: "-8 -8 16 16", "aria-hidden": "true" }))
      svg.setAttribute(name, value);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", SIGNS[rule.look.symbol]);
    path.setAttribute("fill", colour(rule));
    svg.append(path);
    return svg;
  }

  function legends() {
    for (const group of document.querySelectorAll(".legend")) {
      const kept = group.contains(document.activeElement) ? document.activeElement.dataset.rule : null;
      group.replaceChildren(...data.rules.map((rule) => make(
        "button",
        { type: "button", "data-rule": rule.method, "aria-pressed": String(alone === rule.method),
          onclick: () => isolate(rule.method) },
        sign(rule), rule.method,
      )));
      if (kept !== null) [...group.children].find((b) => b.dataset.rule === kept)?.focus();
    }
  }

  function isolate(method) {
    alone = alone === method ? null : method;
    legends();
    charts.drawAll();
  }

  return {
    shown: () => data.rules.filter((rule) => alone === null || rule.method === alone),
    colour, legends,
    line: (rule, more = {}) => ({ color: colour(rule), dash: rule.look.dash, width: 2.2, ...more }),
    marker: (rule, more = {}) => ({ color: colour(rule), symbol: rule.look.symbol, size: 9, ...more }),
  };
})();
