// A chart as it is shown, on the page's own background.
async function saveChart(id) {
  const div = byId(id);
  if (!div.data) return;
  const layout = { ...div.layout, paper_bgcolor: theme.colour("--paper") };
  const size = { format: "svg", width: div.clientWidth, height: div.clientHeight };
  const address = await Plotly.toImage({ data: div.data, layout }, size);
  make("a", { href: address, download: `${document.title.split(" · ")[0]}-${id}.svg` }).click();
}

const saving = {
  start() {
    document.addEventListener("click", (event) => {
      const button = event.target.closest("[data-save]");
      if (button) saveChart(button.dataset.save);
    });
  },
};
