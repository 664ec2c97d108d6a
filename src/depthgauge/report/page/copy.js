// Copy a text to the clipboard; return whether that worked.
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { value: text }), focused = document.activeElement;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return copied;
  }
}

const copying = {
  start() {
    for (const button of document.querySelectorAll("[data-copy]")) {
      button.addEventListener("click", async () => {
        button.dataset.says ??= button.textContent;
        const copied = await copyText(byId(button.dataset.copy).textContent);
        button.textContent = copied ? "Copied ✓" : "Not copied ✗";
        setTimeout(() => { button.textContent = button.dataset.says; }, 4000);
      });
    }
  },
};
