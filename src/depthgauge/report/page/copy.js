async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

const copying = {
  start() {
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", async () => {
        if (button.textContent.startsWith("Copied")) return;
        await copyText(byId(button.dataset.copy).textContent);
        const before = button.textContent;
        button.textContent = "Copied ✓";
        setTimeout(() => { button.textContent = before; }, 1500);
      });
    }
  },
};
