const theme = (() => {
  const wished = window.matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  const isDark = () => document.documentElement.dataset.theme === "dark";
  function apply(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "Light" : "Dark";
  }
  let wasDark = false;
  return {
    start() {
      button.addEventListener("click", () => apply(!isDark()));
      wished.addEventListener("change", () => apply(wished.matches));
      window.addEventListener("beforeprint", () => { wasDark = isDark(); apply(false); });
      window.addEventListener("afterprint", () => apply(wasDark));
      apply(wished.matches);
    },
  };
})();
