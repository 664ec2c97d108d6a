const theme = (() => {
  const listeners = [];
  const wished = window.matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  function apply(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
    for (const listener of listeners) listener();
  }
  button.addEventListener("click", () => apply(!theme.dark));
  wished.addEventListener("change", () => apply(wished.matches));
  apply(wished.matches);
  let wasDark = false;
  window.addEventListener("beforeprint", () => {
    wasDark = theme.dark;
    if (wasDark) apply(false);
  });
  window.addEventListener("afterprint", () => { if (wasDark) apply(true); });
  return {
    get dark() { return document.documentElement.dataset.theme === "dark"; },
    colour: (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim(),
    onChange: (listener) => listeners.push(listener),
  };
})();
