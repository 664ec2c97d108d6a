// Save a chart as SVG as it is shown, with the page's background and colours.
async function saveChart(plot) {
  if (!plot.chart) return;
  const colours = getComputedStyle(document.documentElement);
  const paper = '<rect width="100%" height="100%" fill="var(--paper)"/>';
  const drawing = (await plot.chart.toSVG()).replace(/>/, `>${paper}`)
    .replaceAll(/var\((--[\w-]+)\)/g, (_, name) => colours.getPropertyValue(name).trim());
  const address = URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" }));
  make("a", { href: address, download: `${document.title.split(" · ")[0]}-${plot.id}.svg` }).click();
  URL.revokeObjectURL(address);
}

const saving = {
  start() {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-save]");
      if (button) saveChart(byId(button.dataset.save));
    });
  },
};
