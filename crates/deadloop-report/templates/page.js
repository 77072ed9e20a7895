// Sorting by click and the theme's toggle. The page is whole without this.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : systemDark.matches);
  const label = () => { button.textContent = isDark() ? "light" : "dark"; };
  try { const kept = localStorage.getItem("deadloop-theme"); if (kept) root.dataset.theme = kept; } catch { /* a file page may have no storage */ }
  button.hidden = false;
  label();
  systemDark.addEventListener("change", label);
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("deadloop-theme", root.dataset.theme); } catch { /* as above */ }
    label();
  });

  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.s === undefined ? cell.firstChild?.textContent ?? "" : Number(cell.dataset.s);
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    if (typeof a === "number") return -1;
    if (typeof b === "number") return 1;
    return a.localeCompare(b);
  };
  for (const head of document.querySelectorAll("thead th")) {
    head.tabIndex = 0;
    head.title = "sort";
    const sort = () => {
      const body = head.closest("table").tBodies[0];
      const column = head.cellIndex;
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].map((row, at) => [key(row, column), at, row]);
      rows.sort((a, b) => (up ? order(a[0], b[0]) : order(b[0], a[0])) || a[1] - b[1]);
      body.append(...rows.map((row) => row[2]));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  }
})();
