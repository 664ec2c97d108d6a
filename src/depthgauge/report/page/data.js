const data = JSON.parse(document.getElementById("data").textContent);
for (const { read } of data.rules.flatMap((rule) => rule.networks)) {
  for (const name of Object.keys(read)) if (read[name] === "Infinity") read[name] = Infinity;
}
// Runs in which the last k blocks all follow their rule; the others belong to the ladder alone.
const rungs = data.runs.map((run, index) => ({ ...run, index })).filter((run) => run.follows);
const byId = (id) => document.getElementById(id);
const runOf = new Map(data.runs.map((run, index) => [run.id, { ...run, index }]));

// Everything is held in one array of 32-bit floats: see series.py for where what is.
const series = (() => {
  const { scalars, start, epochs, layers, values } = data.series;
  const letters = atob(values), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  const numbers = new Float32Array(bytes.buffer);
  const width = (run) => scalars.length + 2 * layers[run];
  const row = (run, epoch) => start[run] + epoch * width(run);
  return {
    epochs: (run) => epochs[run],
    scalar: (run, name) => {
      const column = scalars.indexOf(name);
      return Array.from({ length: epochs[run] }, (_, e) => numbers[row(run, e) + column]);
    },
    norms: (run, epoch) => {
      const from = row(run, epoch) + scalars.length;
      const read = (offset) => Array.from(numbers.subarray(from + offset, from + offset + layers[run]));
      return { h: read(0), g: read(layers[run]) };
    },
  };
})();

const unique = (values) => [...new Set(values)].sort((a, b) => a - b);
const finite = (value) => value !== null && Number.isFinite(value);

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function shown(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : String(Number(value.toPrecision(digits)));
}

const percent = (value) => (finite(value) ? (100 * value).toFixed(1) : "–");
