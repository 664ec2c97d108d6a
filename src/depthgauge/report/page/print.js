// Open the folded tables for printing; texts to copy stay folded.
const printing = {
  start() {
    let opened = [];
    window.addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("main details:not([open])")].filter((fold) => !fold.closest(".pasted"));
      for (const fold of opened) fold.open = true;
    });
    window.addEventListener("afterprint", () => { for (const fold of opened) fold.open = false; });
  },
};
